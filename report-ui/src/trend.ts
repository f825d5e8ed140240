// This run against a baseline: what has changed for the tests that both ran. Pure.
import type { Report, Run, Window } from './model';

export interface Change {
  name: string;
  now: Window | null;
  before: Window | null;
  bytes: number; // outstanding, now minus before
}

export interface Trend {
  newlyOver: Change[];
  fixed: Change[];
  more: Change[];
  less: Change[];
  added: number;
  gone: number;
}

const binaryName = (run: Run): string => run.binary.slice(run.binary.lastIndexOf('/') + 1);

// The first iteration of each test.
function firstRuns(runs: Run[]): Map<string, Window> {
  const tests = new Map<string, Window>();
  for (const run of runs) {
    for (const window of run.windows) {
      const key = `${binaryName(run)}\n${window.name}`;
      if (window.kind === 'test' && !tests.has(key)) tests.set(key, window);
    }
  }
  return tests;
}

export function trendOf(report: Report): Trend | null {
  if (report.baseline.length === 0) return null;
  const before = firstRuns(report.baseline);
  const trend: Trend = { newlyOver: [], fixed: [], more: [], less: [], added: 0, gone: 0 };
  const nowRuns = firstRuns(report.runs);
  for (const [key, now] of nowRuns) {
    const then = before.get(key) ?? null;
    if (then === null) trend.added += 1;
    const bytes = now.outstanding.bytes - (then?.outstanding.bytes ?? 0);
    const change: Change = { name: now.name, now, before: then, bytes };
    const isOver = now.verdict === 'over_budget';
    const wasOver = then?.verdict === 'over_budget';
    if (isOver && !wasOver) trend.newlyOver.push(change);
    else if (wasOver && !isOver) trend.fixed.push(change);
    else if (then !== null && bytes > 0) trend.more.push(change);
    else if (then !== null && bytes < 0) trend.less.push(change);
  }
  for (const key of before.keys()) if (!nowRuns.has(key)) trend.gone += 1;
  for (const changes of [trend.newlyOver, trend.fixed, trend.more, trend.less]) {
    changes.sort((a, b) => Math.abs(b.bytes) - Math.abs(a.bytes));
  }
  return trend;
}

export function baselineOf(report: Report, window: Window): Window | null {
  const run = report.runs[window.run];
  for (const other of report.baseline) {
    if (binaryName(other) !== binaryName(run)) continue;
    const found = other.windows.find((one) => one.name === window.name && one.kind === window.kind);
    if (found) return found;
  }
  return null;
}
