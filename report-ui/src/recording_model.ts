// A recording, as the page works with it, read from the JSON that recording_page.cpp writes. Pure.
import { PageOfStacks, type Numbers, type RawFacts, type SitePlace, type StackPlace } from './snapshot_model';
import type { RawTables } from './tables';

interface RawRecording extends RawTables {
  recording: Omit<RawFacts, 'lines'> & {
    command_line: string[];
    test: string;
    begun: string;
    length_ns: number;
    host: string;
    kernel: string;
    leakgate_version: string;
    events: number;
    lost_events: number;
    waits: number;
    waited_ns: number;
    missing: string[];
    missing_spans: { begin_ns: number; end_ns: number }[];
    interval: { from: string; to: string };
    shown: string;
    options: string[]; // that choose what is shown
    lost_since_ns: number | null;
    is_incomplete: boolean;
    is_cut_off: boolean;
  };
  borders: number[];
  peaks: Numbers[];
  lives: string;
  curve: { step_ns: number; points: number[] };
  tests: { count: number; rows: Numbers[] };
  marks: { count: number; rows: Numbers[] };
  sites: { count: number; rows: Numbers[] };
  live: { stacks: number; left_out: number; rows: Numbers[] };
  problems: [string, string][];
}

export interface RecordedSite extends SitePlace {
  index: number;
  isUsers: boolean;
  stacks: number[]; // of those that the page has
}

export interface BinPeak {
  bytes: number;
  blocks: number;
  ns: number;
  test: string;
}

export interface TestSpan {
  name: string;
  begin: number; // ns
  end: number;
}

export interface TimedMark {
  name: string;
  ns: number;
}

// What became of the blocks: a row for each stack, birth, death and length of life. Births are 0
// for blocks from before the interval, and else the bin plus 1, as deaths are. Rows are in the order of births.
export interface Lives {
  count: number;
  birth: Uint16Array;
  death: Uint16Array; // `after` the interval, or `never`
  after: number;
  never: number;
  stack: Uint16Array;
  decade: Uint8Array;
  bytes: Float64Array;
  blocks: Float64Array;
  temporaryBytes: Float64Array;
  temporaryBlocks: Float64Array;
}

const [NEW_BIRTH, NEW_DEATH, ALL_TEMPORARY, PART_TEMPORARY] = [0x10, 0x20, 0x40, 0x80];
export const DECADES = 12;

// page_lives.h describes them.
export function decodeLives(text: string, bins: number): Lives {
  const binary = atob(text);
  const most = Math.floor(binary.length / 4); // a life has four bytes at least
  const lives: Lives = {
    count: 0, birth: new Uint16Array(most), death: new Uint16Array(most), after: bins + 1, never: bins + 2, stack: new Uint16Array(most), decade: new Uint8Array(most),
    bytes: new Float64Array(most), blocks: new Float64Array(most), temporaryBytes: new Float64Array(most), temporaryBlocks: new Float64Array(most),
  };
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = binary.charCodeAt(at++);
      value += (byte & 127) * factor;
      if (!(byte >= 128)) return value;
    }
  };
  let [birth, death, stack] = [0, 0, 0];
  while (at < binary.length) {
    const flags = binary.charCodeAt(at++);
    if (flags & NEW_BIRTH) {
      birth += number();
      death = 0;
    }
    if (flags & NEW_DEATH) death += number();
    if (flags & (NEW_BIRTH | NEW_DEATH)) stack = 0;
    stack += number();
    const row = lives.count++;
    lives.birth[row] = birth;
    lives.death[row] = death;
    lives.stack[row] = stack;
    lives.decade[row] = flags & 0xf;
    const bytes = (lives.bytes[row] = number());
    const blocks = (lives.blocks[row] = number());
    if (flags & ALL_TEMPORARY) {
      lives.temporaryBytes[row] = bytes;
      lives.temporaryBlocks[row] = blocks;
    } else if (flags & PART_TEMPORARY) {
      lives.temporaryBytes[row] = number();
      lives.temporaryBlocks[row] = number();
    }
  }
  return lives;
}

export class Recording extends PageOfStacks {
  readonly facts: RawRecording['recording'];
  readonly program: string;
  readonly missing: string[];
  readonly problems: { module: string; problem: string }[];
  readonly borders: number[]; // ns; the last one is where it ends
  readonly bins: number;
  readonly peaks: BinPeak[]; // by bin
  readonly lives: Lives;
  readonly curve: { stepNs: number; points: number[] };
  readonly tests: TestSpan[];
  readonly moreTests: number;
  readonly marks: TimedMark[];
  readonly moreMarks: number;
  readonly sites: RecordedSite[];
  readonly siteCount: number;
  readonly places: StackPlace[]; // of stacks; a node of -1 has several that are left out
  readonly siteOf: Int32Array; // of stacks; -1: it is not listed
  readonly stackCount: number;
  readonly leftOut: number; // stacks

  constructor(raw: RawRecording) {
    super(raw);
    this.facts = raw.recording;
    const image = raw.recording.name || raw.recording.image || 'an unknown program';
    this.program = image.slice(image.lastIndexOf('/') + 1);
    this.missing = raw.recording.missing;
    this.problems = raw.problems.map(([module, problem]) => ({ module, problem }));
    this.borders = raw.borders;
    this.bins = raw.borders.length - 1;
    this.peaks = raw.peaks.map(([bytes, blocks, ns, test]) => ({ bytes, blocks, ns, test: this.string(test) }));
    this.lives = decodeLives(raw.lives, this.bins);
    this.curve = { stepNs: raw.curve.step_ns, points: raw.curve.points };
    this.tests = raw.tests.rows.map(([name, begin, end]) => ({ name: this.string(name), begin, end }));
    this.moreTests = raw.tests.count - this.tests.length;
    this.marks = raw.marks.rows.map(([name, ns]) => ({ name: this.string(name), ns }));
    this.moreMarks = raw.marks.count - this.marks.length;
    this.siteCount = raw.sites.count;
    this.sites = raw.sites.rows.map((row, index) => ({ index, ...this.siteAt(row, 0), isUsers: row[2] === 1, stacks: [] }));
    this.places = raw.live.rows.map((row) => (row[0] < 0 ? { node: -1, frame: -1, end: '' } : this.placeAt(row, 0)));
    this.siteOf = Int32Array.from(raw.live.rows, (row) => row[3] - 1);
    raw.live.rows.forEach((row, stack) => { if (row[0] >= 0) this.sites[row[3] - 1]?.stacks.push(stack); });
    this.stackCount = raw.live.stacks;
    this.leftOut = raw.live.left_out;
  }

  get beginNs(): number {
    return this.borders[0];
  }
  get endNs(): number {
    return this.borders[this.bins];
  }
  // The bin whose peak is the highest, between two borders.
  peakOf([from, to]: Interval): BinPeak {
    let peak = this.peaks[from];
    for (let bin = from + 1; bin < to; bin += 1) if (this.peaks[bin].bytes > peak.bytes) peak = this.peaks[bin];
    return peak;
  }
  // Whether events are missing that the sums of an interval depend on.
  isIncomplete([, to]: Interval): boolean {
    const { lost_since_ns: since, is_incomplete: always, is_cut_off: isCutOff } = this.facts;
    return always || (since !== null && since < this.borders[to]) || (isCutOff && to === this.bins);
  }
}

// Two borders, by their numbers; the first is less.
export type Interval = [number, number];
