// The report as the page works with it, read from the JSON that html_writer.cpp writes. What that
// has is in fields.ts, which is made from the runner's own tables.

import { CAUSE, FINDING, TOP_ALLOCATOR, type BytesAndBlocks, type Row, type RunFields, type WindowFields } from './fields';
import { Tables, type RawTables } from './tables';

export interface Amount {
  bytes: number;
  blocks: number;
}

// A skipped test has nothing to judge: it is no pass.
export const VERDICTS = ['over_budget', 'inconclusive', 'unconfirmed', 'pass', 'skipped', 'not_gated'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Violation {
  metric: string;
  actual: number;
  limit: number;
  file: string | null;
  line: number | null;
  reason: string | null;
  component: string | null;
}

export interface Finding {
  bytes: number;
  blocks: number;
  kind: string;
  disposition: string;
  reach: string;
  stack: number; // a node
  userFrame: number; // -1: none
  rule: string;
  holder: string;
  explanation: string;
  component: string;
  allowance: string;
  thread: string;
  stackEnd: string; // '': outermost
  series: number[]; // net blocks of each repetition
  seriesBytes: number[]; // net bytes, where they grow and the blocks do not
  growth: string; // "retained, grows by 1 block each time"; '': it does not grow
  baseline: string; // 'known' or 'new' against the run's own baseline; '': there is none
  contents: string; // what a lost block begins with, in hexadecimal digits; '': not shown
  ledTo: Row[]; // what only its blocks led to: a part of its amount
}

export interface FreeError {
  text: string;
  freedAt: Finding;
  madeAt: Finding;
}

// What made a test exceed a limit on what it does, by call site: found out by repeating it, recorded.
export interface MadeBy {
  quantity: string; // "allocated", "temporary" or "peak"
  problem: string; // why it is not known
  amount: Amount;
  framework: Amount; // of it: GoogleTest's own
  isWithinLimits: boolean; // without that
  otherSites: number;
  other: Amount;
  isMain: boolean; // the first of the sites did most of it
  sites: Finding[]; // the largest first
}

// What of a window belongs to one cause, as the runner has found it out: indices.
export interface CausePart {
  number: number; // the cause's, in the whole report
  findings: number[];
  mappings: number[];
  freeErrors: number[];
  violations: number[];
  remedy: number[]; // texts: places, each followed by the entry that allows it there
  isLed: boolean; // all of it is lost with blocks of another window
}

// What the tests of earlier runs left, from `leakgate history`.
export interface Moment {
  commit: string;
  time: string;
  tests: number;
  over: number;
  outstanding: Amount;
}

export interface History {
  file: string;
  moments: Moment[];
}

// A test, a suite, a process or the program, as one run saw it.
export interface Window {
  id: number; // in Report.windows
  run: number;
  kind: string;
  name: string;
  suite: string; // of a test
  test: string; // its name without the suite's
  search: string;
  iteration: number;
  result: string;
  verdict: Verdict;
  reason: string;
  sourceFile: string;
  sourceLine: number;
  component: string;
  owner: string;
  outstanding: Amount;
  lost: Amount;
  retained: Amount;
  allowed: Amount;
  known: Amount; // of outstanding: what the run's own baseline has
  framework: Amount;
  growth: Amount;
  allocated: Amount;
  temporary: Amount | null; // of that: freed before its thread allocated again; null: not counted
  peak: number;
  others: [string, number][]; // mapped bytes, file descriptors, threads
  leftBehind: string[];
  remedy: number[]; // as of a cause
  reachProblem: string;
  violations: Violation[];
  knownViolations: Violation[];
  madeBy: MadeBy[]; // of those of its limits that are on what it does
  freeErrors: FreeError[];
  findings: Row[]; // decoded when they are shown: there may be 50,000
  mappings: Row[];
  causes: CausePart[]; // what it fails for
  startedBy: string; // the test that started the process
  begin: number | null; // seconds since the program's start
  end: number | null;
  liveBegin: number | null;
  liveEnd: number | null;
}

export interface Run {
  index: number;
  binary: string;
  baseline: string; // the report that it was compared with, as named
  arguments: string[];
  verdict: string;
  exitCode: number;
  program: { exit_code: number | null; signal: number | null };
  mode: string;
  reasons: string[];
  failures: string[];
  warnings: string[];
  tracing: {
    boundaries: string;
    generations: number;
    drops: Record<string, number>;
    stack_ends: Record<string, number>;
    stacks: Record<string, number>;
  };
  wall: number;
  gating: number;
  confirming: number;
  windows: Window[];
}

interface RawRun {
  report: RunFields;
  windows: WindowFields[];
}

export interface RawReport extends RawTables {
  runs: RawRun[];
  baseline: RawRun[];
  history?: { file: string; moments: [string, string, number, number, number, number][] };
}

// Columns are FINDING's, TOP_ALLOCATOR's or CAUSE's.
export const numberAt = (row: Row, column: number): number => (row[column] as number | undefined) ?? 0;
const numbersAt = (row: Row, column: number): number[] => {
  const numbers = row[column];
  return Array.isArray(numbers) ? (numbers as number[]) : [];
};
const rowsAt = (row: Row, column: number): Row[] => {
  const rows = row[column];
  return Array.isArray(rows) ? (rows as Row[]) : [];
};
const sumOf = (rows: Row[]): Amount => rows.reduce<Amount>(
  (sum, row) => ({ bytes: sum.bytes + numberAt(row, FINDING.bytes), blocks: sum.blocks + numberAt(row, FINDING.blocks) }),
  { bytes: 0, blocks: 0 });
export const ledToSum = (finding: Finding): Amount => sumOf(finding.ledTo);

// Calls `use` for each finding of a window, and for all that it led to, with its own amount.
export function forEachFinding(window: Window, use: (row: Row, own: Amount) => void): void {
  for (const row of window.findings) {
    const led = rowsAt(row, FINDING.led_to);
    const rest = sumOf(led);
    use(row, { bytes: numberAt(row, FINDING.bytes) - rest.bytes, blocks: numberAt(row, FINDING.blocks) - rest.blocks });
    for (const one of led) use(one, sumOf([one]));
  }
}
const causeOf = (row: Row): CausePart => ({
  number: numberAt(row, CAUSE.number),
  findings: numbersAt(row, CAUSE.findings),
  mappings: numbersAt(row, CAUSE.mappings),
  freeErrors: numbersAt(row, CAUSE.free_errors),
  violations: numbersAt(row, CAUSE.violations),
  remedy: numbersAt(row, CAUSE.remedy),
  isLed: numberAt(row, CAUSE.is_led) !== 0,
});

const amountOf = (pair: BytesAndBlocks | undefined): Amount => ({ bytes: pair?.[0] ?? 0, blocks: pair?.[1] ?? 0 });

const verdictOf = (verdict: string, result: string): Verdict =>
  (verdict === 'pass' && result === 'skipped' ? 'skipped' : verdict || 'inconclusive') as Verdict;

export class Report extends Tables {
  readonly runs: Run[];
  readonly windows: Window[]; // of all runs
  readonly tests: Window[]; // of these, the tests
  readonly baseline: Run[];
  readonly history: History | null; // null: none was named

  constructor(raw: RawReport) {
    super(raw);
    let id = 0;
    const read = (runs: RawRun[]): Run[] =>
      (runs ?? []).map((run, index) => this.readRun(run, index, () => id++));
    this.runs = read(raw.runs);
    this.windows = this.runs.flatMap((run) => run.windows);
    this.tests = this.windows.filter((window) => window.kind === 'test');
    this.baseline = read(raw.baseline);
    this.history = raw.history === undefined ? null : {
      file: raw.history.file,
      moments: raw.history.moments.map(([commit, time, tests, over, bytes, blocks]) => (
        { commit, time, tests, over, outstanding: { bytes, blocks } })),
    };
  }

  private readRun(raw: RawRun, index: number, nextId: () => number): Run {
    const report = raw.report ?? {};
    return {
      index,
      binary: String(report.binary ?? ''),
      baseline: typeof report.baseline === 'string' ? report.baseline : '',
      arguments: report.arguments ?? [],
      verdict: String(report.verdict ?? 'inconclusive'),
      exitCode: report.exit_code ?? 0,
      program: { exit_code: null, signal: null, ...report.program },
      mode: report.mode ?? 'gate',
      reasons: report.reasons ?? [],
      failures: report.failures ?? [],
      warnings: report.warnings ?? [],
      tracing: { boundaries: 'none', generations: 1, drops: {}, stack_ends: {}, stacks: {}, ...report.tracing },
      wall: report.wall_seconds ?? 0,
      gating: report.gating_seconds ?? 0,
      confirming: report.confirming_seconds ?? 0,
      windows: (raw.windows ?? []).map((window) => this.readWindow(window, index, nextId())),
    };
  }

  private readWindow(raw: WindowFields, run: number, id: number): Window {
    const name = raw.name ?? '';
    const kind = this.string(raw.kind);
    const result = this.string(raw.test_result);
    const dot = kind === 'test' ? name.indexOf('.') : -1;
    const others: [string, number][] = [];
    for (const key of ['mapped_bytes', 'file_descriptors', 'threads'] as const) {
      const value = raw[key];
      if (value !== undefined) others.push([key, value]);
    }
    return {
      id,
      run,
      kind,
      name,
      suite: dot < 0 ? '' : name.slice(0, dot),
      test: name.slice(dot + 1),
      search: name.toLowerCase(),
      iteration: raw.iteration ?? 1,
      result,
      verdict: verdictOf(this.string(raw.verdict), result),
      reason: this.string(raw.reason),
      sourceFile: this.string(raw.source_file),
      sourceLine: raw.source_line ?? 0,
      component: this.string(raw.component),
      owner: this.string(raw.owner),
      outstanding: amountOf(raw.outstanding),
      lost: amountOf(raw.lost),
      retained: amountOf(raw.retained),
      allowed: amountOf(raw.allowed),
      known: amountOf(raw.known),
      framework: amountOf(raw.framework),
      growth: amountOf(raw.growth),
      allocated: amountOf(raw.allocated),
      temporary: raw.temporary ? amountOf(raw.temporary) : null,
      peak: raw.peak_live_bytes ?? 0,
      others,
      remedy: raw.remedy ?? [],
      leftBehind: (raw.left_behind ?? []).map((one) => this.string(one)),
      reachProblem: this.string(raw.reach_problem),
      violations: (raw.violations ?? []).map((one) => this.violation(one)),
      knownViolations: (raw.known_violations ?? []).map((one) => this.violation(one)),
      madeBy: (raw.made_by ?? []).map((made) => ({
        quantity: this.string(made.quantity),
        problem: this.string(made.problem),
        amount: { bytes: made.bytes ?? 0, blocks: made.blocks ?? 0 },
        framework: amountOf(made.framework),
        isWithinLimits: made.within_limits ?? false,
        isMain: made.is_main ?? false,
        otherSites: made.other_sites ?? 0,
        other: amountOf(made.other),
        sites: (made.sites ?? []).map((site) => this.finding(site, TOP_ALLOCATOR)),
      })),
      freeErrors: (raw.free_errors ?? []).map((error) => ({
        text: this.string(error.text),
        freedAt: this.finding(error.freed_at ?? []),
        madeAt: this.finding(error.made_at ?? []),
      })),
      findings: raw.findings ?? [],
      mappings: raw.mappings ?? [],
      causes: (raw.causes ?? []).map(causeOf),
      startedBy: this.string(raw.started_by),
      begin: raw.begin_seconds ?? null,
      end: raw.end_seconds ?? null,
      liveBegin: raw.live_bytes ? raw.live_bytes.begin ?? 0 : null,
      liveEnd: raw.live_bytes ? raw.live_bytes.end ?? 0 : null,
    };
  }

  private violation(raw: NonNullable<WindowFields['violations']>[number]): Violation {
    const textOrNull = (index: number | undefined) => (index === undefined ? null : this.string(index));
    return {
      metric: this.string(raw.metric),
      actual: raw.actual ?? 0,
      limit: raw.limit ?? 0,
      file: textOrNull(raw.file),
      line: raw.line ?? null,
      reason: textOrNull(raw.reason),
      component: textOrNull(raw.component),
    };
  }

  // Columns that a row does not have are 0.
  finding(row: Row, columns: Partial<Record<keyof typeof FINDING, number>> = FINDING): Finding {
    const number = (key: keyof typeof FINDING) => numberAt(row, columns[key] ?? row.length);
    const text = (key: keyof typeof FINDING) => this.string(number(key));
    const numbers = (key: keyof typeof FINDING) => numbersAt(row, columns[key] ?? row.length);
    return {
      bytes: number('bytes'),
      blocks: number('blocks'),
      kind: text('kind'),
      disposition: text('disposition'),
      reach: text('reach'),
      stack: number('stack'),
      userFrame: number('user_frame') - 1,
      rule: text('framework_rule'),
      holder: text('holder'),
      explanation: text('explanation'),
      component: text('component'),
      allowance: text('allowance'),
      thread: text('thread'),
      stackEnd: text('stack_end'),
      series: numbers('series'),
      seriesBytes: numbers('series_bytes'),
      growth: text('growth'),
      baseline: text('baseline'),
      contents: text('contents'),
      ledTo: rowsAt(row, columns.led_to ?? row.length),
    };
  }

  // The call site's frame, as an index; -1 if there is none.
  userFrameIndex(row: Row): number {
    let left = numberAt(row, FINDING.user_frame) - 1;
    if (left < 0) return -1;
    let node = numberAt(row, FINDING.stack);
    while (left-- > 0 && node > 0) node = this.parentOf(node);
    return node > 0 ? this.frameIndexOf(node) : -1;
  }
}

// Whether a limit counts it. What is replaced, one-time or bounded counts only where a
// budget file sets a limit.
const COUNTED = new Set(['outstanding', 'steady', 'unconfirmed', 'replaced']);
export const counts = (disposition: string): boolean => COUNTED.has(disposition);
