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
  decades: Amount[]; // of what was allocated and freed in the interval
}

// One pass over the lives. `byStack` takes one of the sums.
function scan(recording: Recording, [from, to]: Interval, of: SumName, byStack: SumsBy): IntervalSums {
  const { lives } = recording;
  const all = Object.fromEntries(SUM_NAMES.map((name) => [name, { bytes: 0, blocks: 0 }])) as Record<SumName, Amount>;
  const freedLater = { bytes: 0, blocks: 0 };
  const decades = Array.from({ length: DECADES + 4 }, () => ({ bytes: 0, blocks: 0 }));
  const ofTemporary = of === 'temporary';
  for (let row = 0; row < lives.count; row += 1) {
    const birth = lives.birth[row];
    if (birth > to) break; // so are all behind it
    const death = lives.death[row];
    if (death <= from) continue;
    const bytes = lives.bytes[row];
    const blocks = lives.blocks[row];
    let isWanted = false;
    if (death > to) {
      all.end.bytes += bytes;
      all.end.blocks += blocks;
      isWanted = of === 'end';
    }
    if (birth <= from) {
      all.begin.bytes += bytes;
      all.begin.blocks += blocks;
      isWanted ||= of === 'begin';
      if (death <= to) {
        all.freed.bytes += bytes;
        all.freed.blocks += blocks;
        isWanted ||= of === 'freed';
      }
    } else {
      all.total.bytes += bytes;
      all.total.blocks += blocks;
      isWanted ||= of === 'total';
      if (death > to) {
        all.outstanding.bytes += bytes;
        all.outstanding.blocks += blocks;
        isWanted ||= of === 'outstanding';
        if (death !== lives.never) {
          freedLater.bytes += bytes;
          freedLater.blocks += blocks;
        }
      } else {
        const decade = decades[lives.decade[row]];
        decade.bytes += bytes;
        decade.blocks += blocks;
        const temporaryBlocks = lives.temporaryBlocks[row];
        if (temporaryBlocks !== 0) {
          all.temporary.bytes += lives.temporaryBytes[row];
          all.temporary.blocks += temporaryBlocks;
          if (ofTemporary) {
            byStack.bytes[lives.stack[row]] += lives.temporaryBytes[row];
            byStack.blocks[lives.stack[row]] += temporaryBlocks;
          }
        }
      }
    }
    if (isWanted) {
      byStack.bytes[lives.stack[row]] += bytes;
      byStack.blocks[lives.stack[row]] += blocks;
    }
  }
  return { all, freedLater, decades: decades.slice(0, DECADES) };
}

// The sums of an interval, and one of them by stack: what follows a drag.
export function sumsOf(recording: Recording, interval: Interval, of: SumName): { sums: IntervalSums; byStack: SumsBy } {
  const byStack = new SumsBy(recording.places.length);
  return { sums: scan(recording, interval, of, byStack), byStack };
}

// What a call site has of all sums, and the blocks of its lifetimes.
export interface SiteSums {
  sums: Record<SumName, Amount>;
  decades: number[];
}

// Looked for when somebody looks at the site.
export function sumsOfSite(recording: Recording, [from, to]: Interval, site: number): SiteSums {
  const { lives, siteOf } = recording;
  const sums = Object.fromEntries(SUM_NAMES.map((name) => [name, { bytes: 0, blocks: 0 }])) as Record<SumName, Amount>;
  const decades = new Array<number>(DECADES).fill(0);
  const add = (name: SumName, bytes: number, blocks: number) => {
    sums[name].bytes += bytes;
    sums[name].blocks += blocks;
  };
  for (let row = 0; row < lives.count && lives.birth[row] <= to; row += 1) {
    const [birth, death] = [lives.birth[row], lives.death[row]];
    if (death <= from || siteOf[lives.stack[row]] !== site) continue;
    const [bytes, blocks] = [lives.bytes[row], lives.blocks[row]];
    if (death > to) add('end', bytes, blocks);
    if (birth <= from) {
      add('begin', bytes, blocks);
      if (death <= to) add('freed', bytes, blocks);
      continue;
    }
    add('total', bytes, blocks);
    if (death > to) add('outstanding', bytes, blocks);
    else {
      add('temporary', lives.temporaryBytes[row], lives.temporaryBlocks[row]);
      decades[lives.decade[row]] += blocks;
    }
  }
  return { sums, decades };
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

// The decade that the middle one of these lifetimes is in; -1 if there are none.
export function medianDecade(counts: number[]): number {
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
