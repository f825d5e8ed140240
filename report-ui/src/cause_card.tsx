// One cause: what it leaves in all tests, which tests those are, the stack once, and what to do.
import { useState } from 'preact/hooks';
import { hasCallSite, worstFindings, type Cause } from './causes';
import { Entries } from './entries';
import { FindingCard, growthStep } from './finding_card';
import * as format from './format';
import type { Amount, Finding, Report, Violation, Window } from './model';
import { MadeByCard, madeByOf } from './made_by';
import { Cut, Kind, Position, TestAnchor } from './parts';
import { link } from './route';

const NAMED = 3;
const STEP = 200;

export const causeLink = (cause: Pick<Cause, 'number'>): string => link({ cause: cause.number + 1 });

// "net::Pool::Grow" at its line; of a limit that no call site explains, what it limits.
export function CauseName({ report, cause }: { report: Report; cause: Cause }) {
  const error = cause.worst.freeErrors[cause.part.freeErrors[0]];
  const violations = cause.part.violations.map((at) => cause.worst.violations[at]);
  const made = madeByOf(cause.worst, violations);
  const finding = error?.freedAt ?? worstFindings(report, cause)[0] ?? (made[0]?.isMain ? made[0].sites[0] : undefined);
  if (!finding) {
    return <span class="function">{[...new Set(violations.map((one) => format.quantity(one.metric)))].join(', ')} of <Cut name={cause.worst.name} /></span>;
  }
  const frames = report.stack(finding.stack);
  const frame = frames[finding.userFrame] ?? frames[0];
  if (!frame) return <span class="function">no call stack was recorded</span>;
  return (
    <>
      <span class="function"><Cut name={format.functionName(frame.func) || `${format.fileName(frame.module)}+${frame.offset}`} /></span>{' '}
      <Position file={frame.file} line={frame.line} />
    </>
  );
}

// What was measured; the limit where a budget file sets one.
export function LimitText({ violation }: { violation: Violation }) {
  return (
    <>
      <b>{format.quantity(violation.metric)}</b>{' '}{format.metricValue(violation.metric, violation.actual)}
      {violation.file && <span class="dim"> of {format.metricValue(violation.metric, violation.limit)}</span>}
    </>
  );
}

function Numbers({ cause, findings }: { cause: Cause; findings: Finding[] }) {
  const { amount, lost, growing, mapped } = cause;
  const told = [lost, growing, mapped.growing, mapped.held];
  const held = told.reduce((left, one) => ({ bytes: left.bytes - one.bytes, blocks: left.blocks - one.blocks }), amount);
  const text = (one: Amount, noun = 'block') => `${format.bytes(one.bytes)} in ${format.count(one.blocks, noun)}`;
  const steps = [...new Set(findings.map(growthStep).filter(Boolean))];
  const step = steps.length > 0 && <span class="dim"> ({steps[0]})</span>;
  return (
    <p class="cause-numbers">
      {lost.blocks > 0 && <span><Kind kind="lost" /> <b>{text(lost)}</b>{cause.ledTo.blocks > 0 && <span class="dim"> ({text(cause.ledTo)} of other tests could be reached only through the rest)</span>}</span>}
      {growing.blocks > 0 && <span><Kind kind="growing" /> <b>{text(growing)}</b>{step}</span>}
      {mapped.growing.blocks > 0 && <span><Kind kind="growing" /> <b>{text(mapped.growing, 'mapping')}</b>{growing.blocks === 0 && step}</span>}
      {held.blocks > 0 && <span><Kind kind="held" /> <b>{text(held)}</b></span>}
      {mapped.held.blocks > 0 && <span><Kind kind="held" /> <b>{text(mapped.held, 'mapping')}</b></span>}
      {!hasCallSite(cause) && cause.part.violations.map((at) => <span key={at}><LimitText violation={cause.worst.violations[at]} /></span>)}
      {cause.part.freeErrors.map((at) => <span key={at} class="bad">{cause.worst.freeErrors[at].text}</span>)}
    </p>
  );
}

export function placesText(windows: Window[]): string {
  return format.count(windows.length, windows.every((window) => window.kind === 'test') ? 'test' : 'place');
}

function Tests({ cause, isWhole }: { cause: Cause; isWhole: boolean }) {
  const { windows } = cause;
  const [most, setMost] = useState(isWhole ? STEP : NAMED);
  const left = windows.length - most;
  return (
    <div class="cause-tests">
      <span class="label">fails {placesText(windows)}</span>
      <ul>{windows.slice(0, most).map((window) => <li key={window.id}><TestAnchor window={window} /></li>)}</ul>
      {left > 0 && (
        <button type="button" class="link" onClick={() => setMost(most + STEP)}>
          {left <= STEP ? `all ${format.grouped(windows.length)}` : `${format.grouped(STEP)} more of ${format.grouped(left)}`}
        </button>
      )}
    </div>
  );
}

function BudgetLines({ cause }: { cause: Cause }) {
  if (cause.limits.length === 0) return null;
  return (
    <ul class="budget-lines" aria-label="Limits that it exceeds">
      {cause.limits.map((violation, index) => (
        <li key={index}>
          <code>{violation.file}{violation.line ? `:${violation.line}` : ''}</code>{' '}
          <LimitText violation={violation} />
          {violation.reason && <span class="dim"> · {violation.reason}</span>}
        </li>
      ))}
    </ul>
  );
}

function Remedy({ report, cause, findings }: { report: Report; cause: Cause; findings: Finding[] }) {
  const { worst, part } = cause;
  const errors = part.freeErrors.map((at) => worst.freeErrors[at]);
  const made = madeByOf(worst, part.violations.map((at) => worst.violations[at]));
  return (
    <>
      {errors.slice(0, 1).map((error, index) => (
        <div key={index}>
          <FindingCard report={report} finding={error.freedAt} window={worst} title="Freed at" />
          {error.madeAt.stack !== 0 && <FindingCard report={report} finding={error.madeAt} window={worst} title="Allocated at" />}
        </div>
      ))}
      {findings.slice(0, 1).map((finding, index) => (
        <FindingCard key={index} report={report} finding={finding} window={worst} title={`In ${format.shortened(worst.name, 60)}:`} />
      ))}
      <Entries report={report} remedy={cause.remedy} />
      {made.map((one) => <MadeByCard key={one.quantity} report={report} made={one} most={3} />)}
      {!hasCallSite(cause) && worst.leftBehind.length > 0 && <ul class="lines">{worst.leftBehind.map((line, index) => <li key={index}>{line}</li>)}</ul>}
      {cause.stacks > 1 && <p class="more">{format.count(cause.stacks, 'call stack')} lead to this line. The largest is shown.</p>}
    </>
  );
}

export function CauseCard({ report, cause, rank, isOpen = false, isWhole = false }: {
  report: Report; cause: Cause; rank: number; isOpen?: boolean; isWhole?: boolean;
}) {
  const findings = worstFindings(report, cause);
  const hasMore = hasCallSite(cause) || cause.worst.leftBehind.length > 0 || cause.worst.madeBy.length > 0;
  return (
    <article class="cause" aria-label={`Cause ${rank}`}>
      {!isWhole && <h3><a href={causeLink(cause)}><span class="rank">{rank}</span><CauseName report={report} cause={cause} /></a></h3>}
      <Numbers cause={cause} findings={findings} />
      <Tests cause={cause} isWhole={isWhole} />
      <BudgetLines cause={cause} />
      {hasMore && (isWhole ? <Remedy report={report} cause={cause} findings={findings} /> : (
        <details open={isOpen}>
          <summary>Call stack, source and remedy</summary>
          <Remedy report={report} cause={cause} findings={findings} />
        </details>
      ))}
    </article>
  );
}
