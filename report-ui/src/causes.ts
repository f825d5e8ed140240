// What the tests fail for, by cause: the runner says what of a window belongs to which cause, and
// this adds up. Pure.
import { FINDING } from './fields';
import { numberAt, type Amount, type CausePart, type Finding, type Report, type Violation, type Window } from './model';

export interface Cause {
  number: number;
  windows: Window[]; // that fail for it: of several iterations of a test, the first
  amount: Amount; // in all of them, each iteration counted
  lost: Amount;
  ledTo: Amount; // of that, what other tests made and only the blocks of `worst` led to
  growing: Amount;
  mapped: { growing: Amount; held: Amount }; // what of it is mappings
  stacks: number; // call stacks that lead to its call site
  worst: Window; // the one with most bytes of it
  part: CausePart; // of that
  remedy: number[]; // as of a part: of `part`, and of what is lost with it elsewhere
  limits: Violation[]; // of budget files, each line once; of one, the most that was measured
}

interface Building extends Cause {
  isLed: boolean; // all of `part` is lost with blocks of another window
  worstBytes: number;
  names: Set<string>;
  nodes: Set<number>;
}

const none = (): Amount => ({ bytes: 0, blocks: 0 });

function add(into: Amount, bytes: number, blocks: number): void {
  into.bytes += bytes;
  into.blocks += blocks;
}

const MAPPED = new Set(['mapped', 'mapped_file', 'mapped_shared', 'thread_stack']);
export const isMappedKind = (kind: string): boolean => MAPPED.has(kind.replaceAll(' ', '_'));
export const isLost = (reach: string): boolean => reach === 'lost' || reach === 'indirectly_lost';

const rowsOf = (window: Window, part: CausePart) =>
  [...part.findings.map((at) => window.findings[at]), ...part.mappings.map((at) => window.mappings[at])];

function addFindings(report: Report, window: Window, part: CausePart, cause: Building): number {
  const before = cause.amount.bytes;
  for (const row of rowsOf(window, part)) {
    const [bytes, blocks] = [numberAt(row, FINDING.bytes), numberAt(row, FINDING.blocks)];
    const isSteady = report.string(numberAt(row, FINDING.disposition)) === 'steady';
    add(cause.amount, bytes, blocks);
    if (isMappedKind(report.string(numberAt(row, FINDING.kind)))) add(cause.mapped[isSteady ? 'growing' : 'held'], bytes, blocks);
    else if (isSteady) add(cause.growing, bytes, blocks);
    else if (isLost(report.string(numberAt(row, FINDING.reach)))) add(cause.lost, bytes, blocks);
    cause.nodes.add(numberAt(row, FINDING.stack));
  }
  return cause.amount.bytes - before;
}

function addLimits(window: Window, part: CausePart, cause: Building): void {
  for (const violation of part.violations.map((at) => window.violations[at])) {
    if (violation.file === null) continue;
    const known = cause.limits.findIndex((one) => (
      one.metric === violation.metric && one.file === violation.file && one.line === violation.line));
    if (known < 0) cause.limits.push(violation);
    else if (violation.actual > cause.limits[known].actual) cause.limits[known] = violation;
  }
}

// Adds those that are not there yet: a place, and the entry.
function addEntries(from: number[], into: number[]): void {
  for (let at = 0; at + 1 < from.length; at += 2) {
    const isKnown = into.some((text, index) => index % 2 === 1 && text === from[at + 1]);
    if (!isKnown) into.push(from[at], from[at + 1]);
  }
}

// Those of most bytes first.
function collect(report: Report): Cause[] {
  const causes = new Map<number, Building>();
  for (const window of report.windows) {
    for (const part of window.causes) {
      let cause = causes.get(part.number);
      if (!cause) {
        cause = {
          number: part.number, windows: [], amount: none(), lost: none(), ledTo: none(), growing: none(), mapped: { growing: none(), held: none() }, stacks: 0, worst: window, part,
          limits: [], remedy: [], isLed: true, worstBytes: -1, names: new Set(), nodes: new Set(),
        };
        causes.set(part.number, cause);
      }
      const bytes = addFindings(report, window, part, cause);
      addLimits(window, part, cause);
      const name = `${report.runs[window.run].binary}\n${window.kind}\n${window.startedBy}\n${window.name}`;
      if (!cause.names.has(name)) cause.windows.push(window);
      cause.names.add(name);
      const { isLed } = part;
      if (isLed) {
        for (const row of rowsOf(window, part)) add(cause.ledTo, numberAt(row, FINDING.bytes), numberAt(row, FINDING.blocks));
        addEntries(part.remedy, cause.remedy);
      }
      const isWorse = isLed === cause.isLed ? bytes > cause.worstBytes : !isLed;
      if (isWorse) Object.assign(cause, { worst: window, part, isLed, worstBytes: bytes });
    }
  }
  for (const cause of causes.values()) {
    cause.stacks = cause.nodes.size;
    const led = cause.remedy;
    cause.remedy = [...cause.part.remedy];
    addEntries(led, cause.remedy);
  }
  return [...causes.values()].sort((a, b) => b.amount.bytes - a.amount.bytes || a.number - b.number);
}

const collected = new WeakMap<Report, Cause[]>();

export function causesOf(report: Report): Cause[] {
  let causes = collected.get(report);
  if (!causes) collected.set(report, (causes = collect(report)));
  return causes;
}

// The findings of its worst window, the largest first: what its stack, series and holder are told of.
export function worstFindings(report: Report, { worst, part }: Cause): Finding[] {
  return rowsOf(worst, part).map((row) => report.finding(row)).sort((a, b) => b.bytes - a.bytes);
}

export const hasCallSite = ({ part }: Cause): boolean =>
  part.findings.length + part.mappings.length + part.freeErrors.length > 0;
