// Runs by their program: CTest runs a binary once a test, and people think of the binary. Pure.
import * as format from './format';
import type { Report, Run, Window } from './model';

export interface Program {
  binary: string;
  index: number;
  runs: Run[];
  tests: Window[];
}

const known = new WeakMap<Report, Program[]>();

export function programsOf(report: Report): Program[] {
  let programs = known.get(report);
  if (programs) return programs;
  const byBinary = new Map<string, Program>();
  for (const run of report.runs) {
    let program = byBinary.get(run.binary);
    if (!program) byBinary.set(run.binary, (program = { binary: run.binary, index: byBinary.size, runs: [], tests: [] }));
    program.runs.push(run);
    for (const window of run.windows) if (window.kind === 'test') program.tests.push(window);
  }
  known.set(report, (programs = [...byBinary.values()]));
  return programs;
}

export const programOf = (report: Report, window: Window): Program =>
  programsOf(report).find((program) => program.binary === report.runs[window.run].binary)!;

export const testCount = (run: Run): number => run.windows.reduce((count, window) => count + (window.kind === 'test' ? 1 : 0), 0);

// Runs are told apart by number only where each has tests enough to be one: not a process a test.
export const hasRunsToTellApart = (report: Report): boolean =>
  report.runs.length > 1 && report.runs.some((run) => testCount(run) > 1);

// "http_test", or "3 programs".
export function subject(report: Report): string {
  const programs = programsOf(report);
  if (programs.length !== 1) return format.count(programs.length, 'program');
  const name = format.fileName(programs[0].binary);
  return report.runs.length === 1 ? name : `${name}, ${format.count(report.runs.length, 'run')}`;
}
