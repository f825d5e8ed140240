// Which tests the table shows, and in which order. Pure.
import { programsOf } from './programs';
import { VERDICTS, type Report, type Verdict, type Window } from './model';

export interface Query {
  text: string;
  verdicts: Set<string>; // empty: all
  component: string;
  suite: string;
  run: string; // its number from 1; empty: all
  program: string; // likewise
  sort: string;
  descending: boolean;
}

export const COLUMNS = [
  'verdict', 'name', 'component', 'outstanding', 'lost', 'retained', 'growth', 'peak', 'findings', 'seconds',
] as const;

const rank = new Map<Verdict, number>(VERDICTS.map((verdict, index) => [verdict, index]));
const rankOf = (window: Window): number => rank.get(window.verdict) ?? VERDICTS.length;

const NUMBERS: Record<string, (window: Window) => number> = {
  verdict: rankOf,
  outstanding: (window) => window.outstanding.bytes,
  lost: (window) => window.lost.bytes,
  retained: (window) => window.retained.bytes,
  growth: (window) => window.growth.bytes,
  peak: (window) => window.peak,
  findings: (window) => window.findings.length,
  seconds: (window) => duration(window) ?? 0,
};
const TEXTS: Record<string, (window: Window) => string> = {
  name: (window) => window.name,
  component: (window) => window.component,
};

export const duration = (window: Window): number | null =>
  window.begin === null || window.end === null ? null : window.end - window.begin;

const collator = new Intl.Collator('en', { numeric: true });

// Every word must be in the test's name.
function matches(window: Window, wanted: string[], query: Query): boolean {
  if (query.verdicts.size > 0 && !query.verdicts.has(window.verdict)) return false;
  if (query.component !== '' && window.component !== query.component) return false;
  if (query.suite !== '' && window.suite !== query.suite) return false;
  if (query.run !== '' && window.run + 1 !== Number(query.run)) return false;
  return wanted.every((word) => window.search.includes(word));
}

export function select(report: Report, query: Query): Window[] {
  const windows = query.program === '' ? report.tests : programsOf(report)[Number(query.program) - 1]?.tests ?? [];
  const wanted = query.text.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = windows.filter((window) => matches(window, wanted, query));
  const direction = query.descending ? -1 : 1;
  const text = TEXTS[query.sort];
  if (text) return rows.sort((a, b) => direction * collator.compare(text(a), text(b)) || a.id - b.id);
  const number = NUMBERS[query.sort];
  if (number) return rows.sort((a, b) => direction * (number(a) - number(b)) || a.id - b.id);
  // What needs a look first, the largest first.
  return rows.sort((a, b) => rankOf(a) - rankOf(b) || b.outstanding.bytes - a.outstanding.bytes || a.id - b.id);
}

export function distinct(report: Report, of: (window: Window) => string): string[] {
  return [...new Set(report.tests.map(of))].filter(Boolean).sort(collator.compare);
}
