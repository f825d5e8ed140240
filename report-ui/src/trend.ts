// This run against a baseline: what has changed for the tests that both ran. Pure.
import type { Report, Run, Window } from './model';

export interface Change {
  now: Window;
  before: Window | null;
  bytes: number; // outstanding, now minus before
}

export interface ComponentChange {
  bytes: number; // of the tests that were measured both times
  compared: number; // how many these are
  newlyOver: number;
  fixed: number;
}

export interface Trend {
  newlyOver: Change[];
  fixed: Change[];
  known: Change[]; // over budget before; what is left passes, for the baseline has it
  untold: Change[]; // over budget before, and not measured or not judged now
  more: Change[];
  less: Change[];
  components: Map<string, ComponentChange>; // by name
  added: number;
  gone: number;
}

const binaryName = (run: Run): string => run.binary.slice(run.binary.lastIndexOf('/') + 1);

const isWorse = (one: Window, other: Window): boolean => {
  const isOver = one.verdict === 'over_budget';
  if (isOver !== (other.verdict === 'over_budget')) return isOver;
  return one.outstanding.bytes > other.outstanding.bytes;
};

const isTold = (window: Window): boolean => !['inconclusive', 'not_gated', 'skipped'].includes(window.verdict);
const hasKnown = (window: Window): boolean =>
  window.known.blocks > 0 || window.knownViolations.length > 0 || window.freeErrors.length > 0;

// Windows by binary, kind and name: of those that ran several times, the worst.
class Windows {
  private readonly worst = new Map<string, Window>();
  private readonly binaries: Set<string>;

  constructor(runs: Run[]) {
    this.binaries = new Set(runs.map(binaryName));
    for (const run of runs) for (const window of run.windows) this.add(binaryName(run), window);
  }

  private add(binary: string, window: Window): void {
    // By the name alone, too: where no run is of a binary, it has been renamed.
    for (const key of [Windows.keyOf(binary, window), Windows.keyOf('', window)]) {
      const known = this.worst.get(key);
      if (!known || isWorse(window, known)) this.worst.set(key, window);
    }
  }

  private static keyOf(binary: string, window: Window): string {
    return `${binary}\n${window.kind}\n${window.name}`;
  }

  find(run: Run, window: Window): Window | null {
    const binary = this.binaries.has(binaryName(run)) ? binaryName(run) : '';
    return this.worst.get(Windows.keyOf(binary, window)) ?? null;
  }
}

const worstOfReport = new WeakMap<Report, Windows>();

export function baselineOf(report: Report, window: Window): Window | null {
  let before = worstOfReport.get(report);
  if (!before) worstOfReport.set(report, (before = new Windows(report.baseline)));
  return before.find(report.runs[window.run], window);
}

// The tests of `runs`, the worst of each, in their order.
function testsOf(runs: Run[]): Set<Window> {
  const windows = new Windows(runs);
  const tests = new Set<Window>();
  for (const run of runs) {
    for (const window of run.windows) if (window.kind === 'test') tests.add(windows.find(run, window)!);
  }
  return tests;
}

function listOf(trend: Trend, { now, before, bytes }: Change): Change[] | null {
  const isOver = now.verdict === 'over_budget';
  const wasOver = before?.verdict === 'over_budget';
  if (isOver && !wasOver) return trend.newlyOver;
  if (wasOver && !isOver) {
    if (now.verdict !== 'pass') return trend.untold;
    return hasKnown(now) ? trend.known : trend.fixed;
  }
  if (before === null || !isTold(now) || !isTold(before) || bytes === 0) return null;
  return bytes > 0 ? trend.more : trend.less;
}

function addToComponent(trend: Trend, change: Change, list: Change[] | null): void {
  const { now, before, bytes } = change;
  let sum = trend.components.get(now.component);
  if (!sum) trend.components.set(now.component, (sum = { bytes: 0, compared: 0, newlyOver: 0, fixed: 0 }));
  if (before !== null && isTold(now) && isTold(before)) {
    sum.bytes += bytes;
    sum.compared += 1;
  }
  if (list === trend.newlyOver) sum.newlyOver += 1;
  if (list === trend.fixed) sum.fixed += 1;
}

export function trendOf(report: Report): Trend | null {
  if (report.baseline.length === 0) return null;
  const trend: Trend = {
    newlyOver: [], fixed: [], known: [], untold: [], more: [], less: [], components: new Map(), added: 0, gone: 0,
  };
  const met = new Set<Window>();
  for (const now of testsOf(report.runs)) {
    const before = baselineOf(report, now);
    if (before === null) trend.added += 1;
    else met.add(before);
    const change: Change = { now, before, bytes: now.outstanding.bytes - (before?.outstanding.bytes ?? 0) };
    const list = listOf(trend, change);
    list?.push(change);
    addToComponent(trend, change, list);
  }
  for (const before of testsOf(report.baseline)) if (!met.has(before)) trend.gone += 1;
  for (const changes of [trend.newlyOver, trend.fixed, trend.known, trend.untold, trend.more, trend.less]) {
    changes.sort((a, b) => Math.abs(b.bytes) - Math.abs(a.bytes));
  }
  return trend;
}
