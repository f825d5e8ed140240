// What made a test exceed a limit on what it does: who allocated it, the largest call sites first.
import * as format from './format';
import type { MadeBy, Report, Violation, Window } from './model';
import { Section } from './parts';
import { Source } from './source_excerpt';
import { StackList } from './stack_list';

const WORDS: Record<string, string> = {
  allocated: 'Allocated', temporary: 'Allocated for a moment only', peak: 'Live at its peak',
};

const isOf = (violation: Violation, { quantity }: MadeBy): boolean =>
  violation.metric === `${quantity}_bytes` || violation.metric === `${quantity}_blocks`;

export const madeByOf = (window: Window, violations: Violation[]): MadeBy[] =>
  window.madeBy.filter((made) => violations.some((violation) => isOf(violation, made)));

export function MadeByCard({ report, made, most }: { report: Report; made: MadeBy; most: number }) {
  if (made.problem) return <p class="quiet">Who allocated it is not known: {made.problem}.</p>;
  const rest = made.sites.slice(most).reduce(
    (sum, site) => ({ sites: sum.sites + 1, bytes: sum.bytes + site.bytes, blocks: sum.blocks + site.blocks }),
    { sites: made.otherSites, bytes: made.other.bytes, blocks: made.other.blocks });
  return (
    <div class="made-by">
      <p class="more">{WORDS[made.quantity] ?? made.quantity} when the test was repeated alone: {format.amount(made.amount)}</p>
      {made.sites.slice(0, most).map((site, index) => {
        const frames = report.stack(site.stack);
        const frame = frames[site.userFrame];
        return (
          <article key={index} class="finding counted">
            <header><h3><span class="amount">{format.amount(site)}</span></h3></header>
            <div class="finding-body">
              <StackList frames={frames} userFrame={site.userFrame} end={site.stackEnd} />
              {frame && <Source tables={report} file={frame.file} line={frame.line} />}
            </div>
          </article>
        );
      })}
      {rest.sites > 0 && <p class="more">{format.amount(rest)} by {format.count(rest.sites, 'more call site')}</p>}
      {made.framework.blocks > 0 && <p class="more">{format.amount(made.framework)} by GoogleTest itself</p>}
    </div>
  );
}

export function MadeBySection({ report, window }: { report: Report; window: Window }) {
  const over = madeByOf(window, window.violations);
  if (over.length === 0) return null;
  return (
    <Section title="Who allocated it" id="made-by">
      {over.map((made) => <MadeByCard key={made.quantity} report={report} made={made} most={5} />)}
    </Section>
  );
}
