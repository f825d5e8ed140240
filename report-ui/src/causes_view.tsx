// The causes on the overview, and the page of one.
import { useState } from 'preact/hooks';
import { CauseCard, CauseName, causeLink, placesText } from './cause_card';
import { causesOf } from './causes';
import * as format from './format';
import { causesLine } from './headline';
import type { Report, Window } from './model';
import { Section } from './parts';
import type { Route } from './route';

const STEP = 10;

export function Causes({ report }: { report: Report }) {
  const causes = causesOf(report);
  const [most, setMost] = useState(STEP);
  if (causes.length === 0) return null;
  const left = causes.length - most;
  return (
    <Section title={causesLine(report)} id="causes">
      {causes.slice(0, most).map((cause, index) => (
        <CauseCard key={cause.number} report={report} cause={cause} rank={index + 1} isOpen={index === 0} />
      ))}
      {left > 0 && (
        <button type="button" class="button wide" onClick={() => setMost(most + 5 * STEP)}>
          Show {format.grouped(Math.min(left, 5 * STEP))} of {format.count(left, 'more cause')}
        </button>
      )}
    </Section>
  );
}

// What a test fails for, each leading to the other tests that do.
export function CausesOfWindow({ report, window }: { report: Report; window: Window }) {
  const numbers = new Set(window.causes.map((part) => part.number));
  const causes = causesOf(report).filter((cause) => numbers.has(cause.number));
  if (causes.length === 0) return null;
  return (
    <Section title="What it fails for" id="causes">
      <ul class="cause-links">
        {causes.map((cause) => (
          <li key={cause.number}>
            <a href={causeLink(cause)}><CauseName report={report} cause={cause} /></a>
            <span class="dim"> {cause.windows.length > 1 ? `fails ${placesText(cause.windows)}` : 'only this one'}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function CausePage({ report, route }: { report: Report; route: Route }) {
  const causes = causesOf(report);
  const at = causes.findIndex((cause) => cause.number + 1 === Number(route.get('cause')));
  if (at < 0) {
    return (
      <div class="page">
        <h1 tabIndex={-1} id="page-title">No such cause</h1>
        <p class="quiet">This report has {format.count(causes.length, 'cause')}. <a href="#">Overview</a></p>
      </div>
    );
  }
  return (
    <div class="page cause-page" key={causes[at].number}>
      <nav class="crumbs" aria-label="Breadcrumbs"><a href="#">Overview</a> <span aria-hidden="true">/</span> cause {at + 1} of {format.grouped(causes.length)}</nav>
      <h1 tabIndex={-1} id="page-title"><CauseName report={report} cause={causes[at]} /></h1>
      <section class="panel" aria-label="Cause"><CauseCard report={report} cause={causes[at]} rank={at + 1} isWhole /></section>
    </div>
  );
}
