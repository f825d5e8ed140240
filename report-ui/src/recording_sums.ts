// What an interval of a recording allocated, freed and left, by call stack, call site and lifetime. Pure.
import type { Amount } from './model';
import { DECADES, type Interval, type Recording } from './recording_model';

export type SumName = 'outstanding' | 'total' | 'temporary' | 'freed' | 'begin' | 'end';

// What each sum is: as the heading of a column, and in words.
export const SUMS: Record<SumName, { title: string; choice: string; text: string; short: string }> = {
  outstanding: { title: 'Outstanding', choice: 'outstanding', text: 'What the interval allocated and did not free', short: 'outstanding' },
  total: { title: 'Allocated', choice: 'allocated', text: 'All that the interval allocated', short: 'allocated' },
  temporary: { title: 'Temporary', choice: 'temporary', text: 'What the interval allocated and freed before its thread allocated again', short: 'temporary' },
  freed: { title: 'Freed', choice: 'freed, from before', text: 'What the interval freed that was there before it', short: 'freed from before' },
  begin: { title: 'Live at begin', choice: 'live at its begin', text: 'What was live when the interval began', short: 'live at its begin' },
  end: { title: 'Live at end', choice: 'live at its end', text: 'What was live when the interval ended', short: 'live at its end' },
};
export const SUM_NAMES = Object.keys(SUMS) as SumName[];

// Bytes and blocks by the number of a stack or a site.
export class SumsBy {
  readonly bytes: Float64Array;
  readonly blocks: Float64Array;
  constructor(count: number) {
    this.bytes = new Float64Array(count);
    this.blocks = new Float64Array(count);
  }
  at(index: number): Amount {
    return { bytes: this.bytes[index], blocks: this.blocks[index] };
  }
}

export interface IntervalSums {
  all: Record<SumName, Amount>;
  freedLater: Amount; // of what is outstanding
  byStack: Record<SumName, SumsBy>;
  decades: Amount[]; // of what was allocated and freed in the interval
  decadesOfSite: Float64Array; // blocks, DECADES for each site
}

const newSums = (count: number): Record<SumName, SumsBy> =>
  Object.fromEntries(SUM_NAMES.map((name) => [name, new SumsBy(count)])) as Record<SumName, SumsBy>;

// One pass over the lives: a million take some milliseconds.
export function sumsOf(recording: Recording, [from, to]: Interval): IntervalSums {
  const { lives, siteOf } = recording;
  const byStack = newSums(recording.places.length);
  const { outstanding, total, temporary, freed, begin, end } = byStack;
  const decadeBytes = new Float64Array(DECADES + 4);
  const decadeBlocks = new Float64Array(DECADES + 4);
  const decadesOfSite = new Float64Array(recording.sites.length * DECADES);
  const freedLater = { bytes: 0, blocks: 0 };
  for (let row = 0; row < lives.count; row += 1) {
    const birth = lives.birth[row];
    if (birth > to) break; // so are all behind it
    const death = lives.death[row];
    if (death <= from) continue;
    const stack = lives.stack[row];
    const bytes = lives.bytes[row];
    const blocks = lives.blocks[row];
    if (death > to) {
      end.bytes[stack] += bytes;
      end.blocks[stack] += blocks;
    }
    if (birth <= from) {
      begin.bytes[stack] += bytes;
      begin.blocks[stack] += blocks;
      if (death > to) continue;
      freed.bytes[stack] += bytes;
      freed.blocks[stack] += blocks;
      continue;
    }
    total.bytes[stack] += bytes;
    total.blocks[stack] += blocks;
    if (death > to) {
      outstanding.bytes[stack] += bytes;
      outstanding.blocks[stack] += blocks;
      if (death === lives.never) continue;
      freedLater.bytes += bytes;
      freedLater.blocks += blocks;
      continue;
    }
    temporary.bytes[stack] += lives.temporaryBytes[row];
    temporary.blocks[stack] += lives.temporaryBlocks[row];
    const decade = lives.decade[row];
    decadeBytes[decade] += bytes;
    decadeBlocks[decade] += blocks;
    const site = siteOf[stack];
    if (site >= 0) decadesOfSite[site * DECADES + decade] += blocks;
  }
  const all = Object.fromEntries(SUM_NAMES.map((name) => [name, addUp(byStack[name])])) as Record<SumName, Amount>;
  const decades = Array.from({ length: DECADES }, (_, decade) => ({ bytes: decadeBytes[decade], blocks: decadeBlocks[decade] }));
  return { all, freedLater, byStack, decades, decadesOfSite };
}

function addUp({ bytes, blocks }: SumsBy): Amount {
  const sum = { bytes: 0, blocks: 0 };
  for (let at = 0; at < bytes.length; at += 1) {
    sum.bytes += bytes[at];
    sum.blocks += blocks[at];
  }
  return sum;
}

export function bySite(recording: Recording, of: SumsBy): SumsBy {
  const sums = new SumsBy(recording.sites.length);
  for (let stack = 0; stack < recording.siteOf.length; stack += 1) {
    const site = recording.siteOf[stack];
    if (site < 0) continue;
    sums.bytes[site] += of.bytes[stack];
    sums.blocks[site] += of.blocks[stack];
  }
  return sums;
}

// The decade that the middle one of a site's lifetimes is in; -1 if there are none.
export function medianDecade({ decadesOfSite }: IntervalSums, site: number): number {
  const counts = decadesOfSite.subarray(site * DECADES, (site + 1) * DECADES);
  const all = counts.reduce((sum, count) => sum + count, 0);
  let before = 0;
  for (let decade = 0; decade < DECADES && all > 0; decade += 1) {
    before += counts[decade];
    if (2 * before >= all) return decade;
  }
  return -1;
}

const LIMITS = ['1 µs', '10 µs', '100 µs', '1 ms', '10 ms', '100 ms', '1 s', '10 s', '100 s', '17 min', '2.8 h'];

// "10 – 100 µs".
export function decadeText(decade: number): string {
  if (decade === 0) return `below ${LIMITS[0]}`;
  const from = LIMITS[decade - 1];
  if (decade === DECADES - 1) return `${from} and more`;
  const [value, unit] = from.split(' ');
  return LIMITS[decade].endsWith(` ${unit}`) ? `${value} – ${LIMITS[decade]}` : `${from} – ${LIMITS[decade]}`;
}
