// The report as the page works with it, read from the JSON that html_writer.cpp writes.

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
  pattern: string[];
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
}

export interface FreeError {
  text: string;
  freedAt: Finding;
  madeAt: Finding;
}

// What of a window belongs to one cause, as the runner has found it out: indices.
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

export interface CausePart {
  number: number; // the cause's, in the whole report
  findings: number[];
  mappings: number[];
  freeErrors: number[];
  violations: number[];
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
  reachProblem: string;
  violations: Violation[];
  knownViolations: Violation[];
  madeBy: MadeBy[]; // of those of its limits that are on what it does
  freeErrors: FreeError[];
  findings: RawFinding[];
  mappings: RawFinding[];
  causes: CausePart[]; // what it fails for
  startedBy: string; // the test that started the process
  begin: number | null; // seconds since the program's start
  end: number | null;
  liveBegin: number | null;
  liveEnd: number | null;
}

// Decoded when it is shown: there may be 50,000.
export type RawFinding = (number | number[])[];

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
  report: Record<string, any>;
  windows: Record<string, any>[];
}

export interface RawReport extends RawTables {
  runs: RawRun[];
  baseline: RawRun[];
  history?: { file: string; moments: [string, string, number, number, number, number][] };
}

const amountOf = (pair: number[] | undefined): Amount => ({ bytes: pair?.[0] ?? 0, blocks: pair?.[1] ?? 0 });
const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);

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
      program: report.program ?? { exit_code: null, signal: null },
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

  private readWindow(raw: Record<string, any>, run: number, id: number): Window {
    const text = (key: string) => this.string(raw[key]);
    const name = String(raw.name ?? '');
    const kind = text('kind');
    const dot = kind === 'test' ? name.indexOf('.') : -1;
    const others: [string, number][] = [];
    for (const key of ['mapped_bytes', 'file_descriptors', 'threads']) {
      if (typeof raw[key] === 'number') others.push([key, raw[key]]);
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
      result: text('test_result'),
      verdict: verdictOf(text('verdict'), text('test_result')),
      reason: text('reason'),
      sourceFile: text('source_file'),
      sourceLine: raw.source_line ?? 0,
      component: text('component'),
      owner: text('owner'),
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
      leftBehind: raw.left_behind ?? [],
      reachProblem: text('reach_problem'),
      violations: raw.violations ?? [],
      knownViolations: raw.known_violations ?? [],
      madeBy: (raw.made_by ?? []).map((made: any) => ({
        quantity: made.quantity,
        problem: made.problem,
        amount: amountOf(made.amount),
        framework: amountOf(made.framework),
        isWithinLimits: made.within_limits,
        isMain: made.is_main,
        otherSites: made.other_sites,
        other: amountOf(made.other),
        sites: made.sites.map((site: any) => this.finding(site)),
      })),
      freeErrors: (raw.free_errors ?? []).map((error: any) => ({
        text: error.text,
        freedAt: this.finding(error.freed_at ?? []),
        madeAt: this.finding(error.made_at ?? []),
      })),
      findings: raw.findings ?? [],
      mappings: raw.mappings ?? [],
      causes: (raw.causes ?? []).map(([number, findings, mappings, freeErrors, violations]: any) => (
        { number, findings, mappings, freeErrors, violations })),
      startedBy: String(raw.started_by ?? ''),
      begin: numberOrNull(raw.begin_seconds),
      end: numberOrNull(raw.end_seconds),
      liveBegin: numberOrNull(raw.live_bytes?.begin),
      liveEnd: numberOrNull(raw.live_bytes?.end),
    };
  }

  finding(raw: RawFinding): Finding {
    const at = (index: number) => (raw[index] as number | undefined) ?? 0;
    return {
      bytes: at(0),
      blocks: at(1),
      kind: this.string(at(2)),
      disposition: this.string(at(3)),
      reach: this.string(at(4)),
      stack: at(5),
      userFrame: at(6) - 1,
      pattern: this.pattern(at(7)),
      rule: this.string(at(8)),
      holder: this.string(at(9)),
      explanation: this.string(at(10)),
      component: this.string(at(11)),
      allowance: this.string(at(12)),
      thread: this.string(at(13)),
      stackEnd: this.string(at(14)),
      series: Array.isArray(raw[15]) ? (raw[15] as number[]) : [],
      baseline: this.string(at(16)),
      growth: this.string(at(18)),
      seriesBytes: Array.isArray(raw[17]) ? (raw[17] as number[]) : [],
    };
  }

  // The call site's frame, as an index; -1 if there is none.
  userFrameIndex(raw: RawFinding): number {
    let left = ((raw[6] as number | undefined) ?? 0) - 1;
    if (left < 0) return -1;
    let node = (raw[5] as number | undefined) ?? 0;
    while (left-- > 0 && node > 0) node = this.parentOf(node);
    return node > 0 ? this.frameIndexOf(node) : -1;
  }
}

// Whether a limit counts it. What is replaced, one-time or bounded counts only where a
// budget file sets a limit.
const COUNTED = new Set(['outstanding', 'steady', 'unconfirmed', 'replaced']);
export const counts = (disposition: string): boolean => COUNTED.has(disposition);
