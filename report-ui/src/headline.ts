// What a report says in one line. What was not judged is no pass, and is counted. Pure.
import * as format from './format';
import type { Report, Run, Window } from './model';
import { causesOf, hasCallSite } from './causes';

const WORST = ['failed', 'inconclusive', 'unconfirmed', 'pass'];

export const byWorst = (a: { verdict: string }, b: { verdict: string }): number =>
  WORST.indexOf(a.verdict) - WORST.indexOf(b.verdict);

export function worstVerdict(runs: Run[]): string {
  return WORST.find((verdict) => runs.some((run) => run.verdict === verdict)) ?? 'pass';
}

export function endOf(run: Run): string {
  if (run.program.signal) return `the program was killed by signal ${run.program.signal}`;
  if (run.program.exit_code) return `the program exited with ${run.program.exit_code}`;
  return '';
}

const JUDGED = new Set(['pass', 'over_budget', 'unconfirmed']);

// A program without GoogleTest is judged as a whole; a test binary that ran no test was not.
const isPlainProgram = (report: Report): boolean => report.tests.length === 0 && report.runs.some((run) => run.tracing.boundaries === 'none');

const wasJudged = (report: Report): boolean =>
  report.windows.some((window) => window.result !== 'skipped' && JUDGED.has(window.verdict)
    && (window.kind === 'test' || isPlainProgram(report) || window.verdict === 'over_budget'));

// The verdict that the page is coloured by: where nothing was judged, it is neither red nor green.
export function shownVerdict(report: Report): string {
  const verdict = worstVerdict(report.runs);
  if (verdict !== 'failed') return wasJudged(report) ? verdict : 'not_judged';
  const isToldOnly = report.runs.every((run) => run.verdict !== 'failed' || (run.mode === 'warn_only' && endOf(run) === ''));
  return isToldOnly ? 'over_budget' : verdict;
}

function countsOf(windows: Window[]): string[] {
  const kinds = new Map<string, number>();
  for (const { kind } of windows) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return [...kinds].map(([kind, count]) => format.count(count, kind));
}

// "; 3 were skipped and 1 was not judged".
function restOf(report: Report): string {
  const isOf = (...verdicts: string[]) => report.tests.filter((test) => verdicts.includes(test.verdict)).length;
  const were = (count: number, what: string) => (count === 0 ? [] : [`${format.grouped(count)} ${count === 1 ? 'was' : 'were'} ${what}`]);
  const unconfirmed = isOf('unconfirmed');
  const rest = [...(unconfirmed === 0 ? [] : [`${format.grouped(unconfirmed)} could not be confirmed`]), ...were(isOf('skipped'), 'skipped'), ...were(isOf('inconclusive', 'not_gated'), 'not judged')];
  return rest.length === 0 ? '' : `; ${format.list(rest)}`;
}

function overText(report: Report): string {
  const over = report.windows.filter((window) => window.verdict === 'over_budget');
  if (over.length === 0) return 'The run fails, and no test is over budget';
  const tests = over.filter((window) => window.kind === 'test');
  const others = over.filter((window) => window.kind !== 'test');
  if (over.length === 1 && tests.length === 0) return `The ${over[0].kind} ${over[0].name} is over budget`;
  const first = tests.length === 0 ? [] : [`${format.grouped(tests.length)} of ${format.count(report.tests.length, 'test')}`];
  return `${format.list([...first, ...countsOf(others)])} ${over.length === 1 ? 'is' : 'are'} over budget`;
}

function nothingJudged(report: Report): string {
  const total = report.tests.length;
  const reason = report.runs.flatMap((run) => run.reasons)[0];
  if (reason) return `Nothing was judged: ${reason}`;
  if (total === 0) return 'Nothing was judged: no test ran';
  const skipped = report.tests.filter((test) => test.verdict === 'skipped' || test.result === 'skipped').length;
  if (skipped === total) return total === 1 ? 'Nothing was judged: the one test was skipped' : `Nothing was judged: all ${format.count(total, 'test')} were skipped`;
  return `Nothing was judged${restOf(report)}`;
}

export function headline(report: Report): string {
  const verdict = shownVerdict(report);
  const rest = restOf(report);
  if (verdict === 'not_judged') return nothingJudged(report);
  if (verdict === 'failed' || verdict === 'over_budget') return overText(report) + rest;
  if (verdict === 'inconclusive') return `Not everything was measured${rest}`;
  if (verdict === 'unconfirmed') return `Not everything that is retained could be confirmed${rest}`;
  const total = report.tests.length;
  const passed = report.tests.filter((test) => test.verdict === 'pass').length;
  if (total === 0) return report.runs.length === 1 ? 'The program is within budget; it has no tests' : 'Nothing is over budget';
  if (passed < total) return `${format.grouped(passed)} of ${format.count(total, 'test')} ${passed === 1 ? 'is' : 'are'} within budget${rest}`;
  return total === 1 ? 'The one test is within budget' : `All ${format.count(total, 'test')} are within budget`;
}

// "160 tests fail from 5 call sites".
export function causesLine(report: Report): string {
  const causes = causesOf(report);
  const windows = new Set(causes.flatMap((cause) => cause.windows));
  const places = format.list(countsOf([...windows]));
  const noun = causes.every(hasCallSite) ? 'call site' : 'cause';
  return `${places} ${windows.size === 1 ? 'fails' : 'fail'} from ${format.count(causes.length, noun)}`;
}
