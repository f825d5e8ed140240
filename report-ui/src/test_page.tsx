// A window's own page: what was measured against which limits, and each finding.
import { useMemo, useState } from 'preact/hooks';
import { Entries } from './entries';
import { FindingCard } from './finding_card';
import * as format from './format';
import { counts, type Report, type Violation, type Window } from './model';
import { CausesOfWindow } from './causes_view';
import { hasRunsToTellApart, programsOf, testCount } from './programs';
import { MadeBySection } from './made_by';
import { Fact, Position, Section, VerdictMark, testLink } from './parts';
import { link, type Route } from './route';
import { baselineOf } from './trend';

const STEP = 25;

export function findWindow(report: Report, route: Route): Window | undefined {
  const name = route.get('test');
  const kind = route.get('kind') || 'test';
  const run = Number(route.get('run') || 0) - 1;
  const iteration = Number(route.get('iteration') || 1);
  const named = report.windows.filter((window) => window.name === name && window.kind === kind);
  return named.find((window) => (run < 0 || window.run === run) && window.iteration === iteration) ?? named[0];
}

function Limits({ violations, title, id }: { violations: Violation[]; title: string; id: string }) {
  if (violations.length === 0) return null;
  return (
    <Section title={title} id={id}>
      <div class="scroll-x" tabIndex={0} role="region" aria-labelledby={id}>
        <table class="plain">
          <thead><tr><th scope="col">Metric</th><th scope="col" class="number">Measured</th><th scope="col" class="number">Limit</th>
            <th scope="col">Set by</th><th scope="col">Reason</th></tr></thead>
          <tbody>
            {violations.map((violation, index) => (
              <tr key={index}>
                <th scope="row">{format.metricName(violation.metric)}</th>
                <td class="number bad">{format.metricValue(violation.metric, violation.actual)}</td>
                <td class="number">{violation.file ? format.metricValue(violation.metric, violation.limit) : <span class="dim">–</span>}</td>
                <td>
                  {violation.file
                    ? <code>{violation.file}{violation.line ? `:${violation.line}` : ''}</code>
                    : <span class="dim">no budget file: nothing lost or growing passes</span>}
                  {violation.component && <span class="dim"> · {violation.component}</span>}
                </td>
                <td>{violation.reason ?? <span class="dim">–</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function Numbers({ window, before }: { window: Window; before: Window | null }) {
  const change = (now: number, then: number | undefined) =>
    then === undefined || then === now ? '' : `, baseline ${format.bytes(then)}`;
  const fact = (name: string, of: 'outstanding' | 'lost' | 'retained' | 'allowed' | 'known' | 'framework' | 'allocated') => (
    <Fact name={name} note={format.count(window[of].blocks, 'block') + change(window[of].bytes, before?.[of].bytes)}>
      {format.bytes(window[of].bytes)}
    </Fact>
  );
  return (
    <dl class="tiles">
      {fact('Outstanding', 'outstanding')}
      {fact('Lost', 'lost')}
      {fact('Retained', 'retained')}
      {fact('Allowed', 'allowed')}
      {window.known.blocks !== 0 && fact('Known', 'known')}
      <Fact name="Growth" note={format.signedCount(window.growth.blocks, 'block')}>{format.signedBytes(window.growth.bytes)}</Fact>
      {fact('Framework’s own', 'framework')}
      {fact('Allocated', 'allocated')}
      {window.temporary && <Fact name="Temporary" note={format.count(window.temporary.blocks, 'block')}>{format.bytes(window.temporary.bytes)}</Fact>}
      <Fact name="Peak live">{format.bytes(window.peak)}</Fact>
      {window.begin !== null && window.end !== null && <Fact name="Time" note={`from ${format.seconds(window.begin)}`}>{format.seconds(window.end - window.begin)}</Fact>}
      {window.others.map(([name, value]) => <Fact key={name} name={format.words(name)}>{format.metricValue(name, value)}</Fact>)}
    </dl>
  );
}

function Findings({ report, window }: { report: Report; window: Window }) {
  const [most, setMost] = useState(STEP);
  const findings = useMemo(() => {
    const isCounted = (disposition: string, rule: string) => (rule === '' && counts(disposition) ? 0 : rule === '' ? 1 : 2);
    return window.findings.map((row) => report.finding(row))
      .sort((a, b) => isCounted(a.disposition, a.rule) - isCounted(b.disposition, b.rule) || b.bytes - a.bytes);
  }, [window]);
  // The same lines need not be read twice.
  const withSource = useMemo(() => {
    const seen = new Set<string>();
    return findings.map((finding) => {
      const frame = report.stack(finding.stack)[finding.userFrame];
      const place = `${frame?.file}:${frame?.line}`;
      return seen.size !== seen.add(place).size;
    });
  }, [findings]);
  const counted = findings.filter((finding) => finding.rule === '' && counts(finding.disposition)).length;
  if (findings.length === 0) return <p class="quiet">Nothing that it allocated was left.</p>;
  const left = findings.length - most;
  return (
    <Section title="Findings" id="findings" aside={`${format.grouped(counted)} of ${format.grouped(findings.length)} ${counted === 1 ? 'counts' : 'count'}`}>
      {findings.slice(0, most).map((finding, index) => (
        <FindingCard key={index} report={report} finding={finding} window={window} withSource={withSource[index]} />
      ))}
      {left > 0 && (
        <button type="button" class="button wide" onClick={() => setMost(most + 4 * STEP)}>Show {format.grouped(Math.min(left, 4 * STEP))} of {format.count(left, 'more finding')}</button>
      )}
    </Section>
  );
}

function Neighbours({ report, window }: { report: Report; window: Window }) {
  const tests = report.tests;
  const at = tests.indexOf(window);
  if (at < 0) return null;
  return (
    <nav class="neighbours" aria-label="Neighbouring tests">
      {at > 0 && <a class="button" rel="prev" href={testLink(tests[at - 1])} title={tests[at - 1].name}>← previous</a>}
      {at + 1 < tests.length && <a class="button" rel="next" href={testLink(tests[at + 1])} title={tests[at + 1].name}>next →</a>}
    </nav>
  );
}

export function TestPage({ report, route }: { report: Report; route: Route }) {
  const window = findWindow(report, route);
  if (!window) {
    return (
      <div class="page">
        <h1 tabIndex={-1} id="page-title">No such test</h1>
        <p class="quiet">This report has no {route.get('kind') || 'test'} named {route.get('test')}. <a href="#view=tests">All tests</a></p>
      </div>
    );
  }
  const before = baselineOf(report, window);
  const program = programsOf(report).find((one) => one.binary === report.runs[window.run].binary)!;
  const timelineTest = report.runs[window.run].windows.filter((one) => one.kind === 'test').indexOf(window) + 1;
  return (
    <div class="page test" key={window.id}>
      <nav class="crumbs" aria-label="Breadcrumbs">
        <a href="#view=tests">Tests</a>
        {window.suite && <> <span aria-hidden="true">/</span> <a href={link({ view: 'tests', suite: window.suite })}>{window.suite}</a></>}
      </nav>
      <header class={`hero v-${window.verdict}`}>
        <p class="hero-verdict">
          <VerdictMark verdict={window.verdict} />
          {window.result && <span class="dim"> GoogleTest: {format.words(window.result)}</span>}
          {before && before.verdict !== window.verdict && <span class="dim"> baseline: {format.words(before.verdict)}</span>}
        </p>
        <h1 tabIndex={-1} id="page-title">
          {window.kind !== 'test' && <span class="kind">{window.kind} </span>}
          {window.suite && <span class="suite">{window.suite}.<wbr /></span>}{window.test}
          {window.iteration > 1 && <span class="dim"> #{window.iteration}</span>}
        </h1>
        <p class="hero-why">
          {window.sourceFile && <Position file={window.sourceFile} line={window.sourceLine} />}
          {window.component && <span>component <a href={link({ view: 'tests', component: window.component })}>{window.component}</a></span>}
          {window.owner && <span>owner {window.owner}</span>}
          {report.runs.length > 1 && <span>{hasRunsToTellApart(report) && `run ${window.run + 1}, `}<a href={link({ view: 'tests', program: program.index + 1 })} title={program.binary}>{format.fileName(program.binary)}</a></span>}
          {timelineTest > 0 && testCount(report.runs[window.run]) > 1 && <a href={link({ view: 'timeline', run: window.run === 0 ? '' : window.run + 1, from: timelineTest, to: timelineTest })}>on the timeline</a>}
        </p>
        {(window.kind === 'suite' || window.kind === 'program') && report.runs[window.run].windows.some((one) => one.kind === 'test') && (
          <p class="reason">What its tests left is told with them and not counted here.</p>
        )}
        {window.reason && <p class="reason">{window.reason}</p>}
        <Neighbours report={report} window={window} />
      </header>
      <CausesOfWindow report={report} window={window} />
      <Numbers window={window} before={before} />
      <Limits violations={window.violations} title="The limits it is over" id="limits" />
      <MadeBySection report={report} window={window} />
      <Limits violations={window.knownViolations} title="Over, but not by more than in the baseline" id="known-limits" />
      <Entries report={report} remedy={window.remedy} />
      {window.reachProblem && <p class="notice-line">What is lost could not be told: {window.reachProblem}</p>}
      {window.leftBehind.length > 0 && (
        <Section title="Left behind" id="left-behind"><ul class="lines">{window.leftBehind.map((line, index) => <li key={index}>{line}</li>)}</ul></Section>
      )}
      {window.freeErrors.length > 0 && (
        <Section title="Freeing errors" id="free-errors" aside={format.grouped(window.freeErrors.length)}>
          {window.freeErrors.map((error, index) => (
            <div key={index} class="free-error">
              <p class="bad">{error.text}</p>
              <FindingCard report={report} finding={error.freedAt} window={window} title="Freed at" />
              {error.madeAt.stack !== 0 && <FindingCard report={report} finding={error.madeAt} window={window} title="Allocated at" />}
            </div>
          ))}
        </Section>
      )}
      <Findings report={report} window={window} />
    </div>
  );
}
