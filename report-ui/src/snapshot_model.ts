// A snapshot, and the difference between two, as the page works with them, read from the JSON that
// snapshot_page.cpp and diff_page.cpp write. Pure.
import type { Amount } from './model';
import { Tables, type RawTables } from './tables';

// A call stack, and where its call site is in it.
export interface StackPlace {
  node: number;
  frame: number; // index of the call site's frame; -1: there is none
  end: string; // '': complete
}

export interface SitePlace {
  name: string;
  file: string;
  line: number; // 0: not known
}

export interface LiveStack extends StackPlace {
  amount: Amount;
}

export interface LiveSite extends SitePlace {
  index: number;
  isUsers: boolean;
  amount: Amount;
  first: string; // the test in which the earliest block was allocated
  last: string;
  stacks: LiveStack[]; // the largest first
}

export interface Row {
  name: string;
  place: string;
  amount: Amount;
}

export interface GroupTable {
  by: string;
  title: string;
  groups: number;
  rest: Amount; // of those that the page leaves out
  rows: Row[];
}

// What a call site has mapped, or freed.
export interface OtherSite extends SitePlace, StackPlace {
  amount: Amount;
  reserved: number; // bytes
}

export interface OtherSites {
  count: number;
  rows: OtherSite[];
}

// What the page leaves out, so that it opens at once.
export interface LeftOut {
  stacks: number;
  amount: Amount;
}

export type Numbers = number[];
type RawRows = { count: number; rows: Numbers[] };

export interface RawFacts {
  file: string;
  image: string;
  name: string; // as it was called; the image is the file behind a symbolic link
  pid: number;
  occasion: string;
  lines: [string, string][];
}

interface RawSnapshot extends RawTables {
  snapshot: RawFacts & {
    filter: string;
    missing: string[];
    stack_depth: number;
    live: Amount;
    allocated: Amount;
    freed: Amount;
    mapped: { bytes: number; reserved_bytes: number; mappings: number };
    shown: [number, number];
  };
  sites: RawRows;
  live: { stacks: number; left_out: Numbers; rows: Numbers[] };
  tables: { by: string; title: string; groups: number; rest: Numbers; rows: Numbers[] }[];
  sizes: Numbers[];
  mapped: RawRows;
  freed: RawRows | null;
  problems: [string, string][];
}

const amountAt = (numbers: Numbers, at: number): Amount => ({ bytes: numbers[at] ?? 0, blocks: numbers[at + 1] ?? 0 });

// "src/net/pool.cc:88" -> its parts.
export function splitPlace(place: string): { file: string; line: number } {
  const parts = /^(.+):(\d+)$/.exec(place);
  return parts ? { file: parts[1], line: Number(parts[2]) } : { file: place, line: 0 };
}

// The facts of one file; a line is '' where there is nothing to tell.
export class Facts {
  readonly file: string;
  readonly image: string;
  readonly pid: number;
  readonly occasion: string;
  private readonly lines: Map<string, string>;

  constructor(raw: RawFacts) {
    this.file = raw.file;
    this.image = raw.name || raw.image || 'an unknown program';
    this.pid = raw.pid;
    this.occasion = raw.occasion;
    this.lines = new Map(raw.lines);
  }
  get program(): string {
    return this.image.slice(this.image.lastIndexOf('/') + 1);
  }
  line(key: string): string {
    return this.lines.get(key) ?? '';
  }
}

export abstract class PageOfStacks extends Tables {
  protected placeAt(numbers: Numbers, at: number): StackPlace {
    return { node: numbers[at] ?? 0, frame: (numbers[at + 1] ?? 0) - 1, end: this.string(numbers[at + 2]) };
  }
  protected siteAt(numbers: Numbers, at: number): SitePlace {
    return { name: this.string(numbers[at]), ...splitPlace(this.string(numbers[at + 1])) };
  }
}

export class Snapshot extends PageOfStacks {
  readonly facts: Facts;
  readonly filter: string; // "that match net::*, without std::*"; empty if all are shown
  readonly missing: string[];
  readonly problems: { module: string; problem: string }[];
  readonly depth: number;
  readonly live: Amount; // of the whole process
  readonly shown: Amount; // what matches the filters
  readonly allocated: Amount;
  readonly freed: Amount;
  readonly mapped: { bytes: number; reserved: number; count: number };
  readonly sites: LiveSite[];
  readonly siteCount: number;
  readonly stacks: LiveStack[];
  readonly stackCount: number;
  readonly leftOut: LeftOut;
  readonly groups: GroupTable[];
  readonly sizes: { from: number; to: number; bytes: number; blocks: number }[];
  readonly mappedSites: OtherSites;
  readonly freedSites: OtherSites | null; // null: that was not recorded

  constructor(raw: RawSnapshot) {
    super(raw);
    const { snapshot } = raw;
    this.facts = new Facts(snapshot);
    this.filter = snapshot.filter;
    this.missing = snapshot.missing;
    this.problems = raw.problems.map(([module, problem]) => ({ module, problem }));
    this.depth = snapshot.stack_depth;
    this.live = snapshot.live;
    this.shown = amountAt(snapshot.shown, 0);
    this.allocated = snapshot.allocated;
    this.freed = snapshot.freed;
    this.mapped = { bytes: snapshot.mapped.bytes, reserved: snapshot.mapped.reserved_bytes, count: snapshot.mapped.mappings };
    this.sites = raw.sites.rows.map((row, index) => ({
      index, ...this.siteAt(row, 0), amount: amountAt(row, 2), first: this.string(row[4]), last: this.string(row[5]), isUsers: row[6] === 1, stacks: [],
    }));
    this.siteCount = raw.sites.count;
    this.stacks = raw.live.rows.map((row) => {
      const stack = { ...this.placeAt(row, 0), amount: amountAt(row, 4) };
      this.sites[row[3] - 1]?.stacks.push(stack);
      return stack;
    });
    this.stackCount = raw.live.stacks;
    this.leftOut = { stacks: raw.live.left_out[0], amount: amountAt(raw.live.left_out, 1) };
    this.groups = raw.tables.map(({ by, title, groups, rest, rows }) => ({
      by, title, groups, rest: amountAt(rest, 0),
      rows: rows.map((row) => ({ name: this.string(row[0]), place: this.string(row[1]), amount: amountAt(row, 2) })),
    }));
    this.sizes = raw.sizes.map(([from, to, bytes, blocks]) => ({ from, to, bytes, blocks }));
    this.mappedSites = this.others(raw.mapped);
    this.freedSites = raw.freed && this.others(raw.freed);
  }

  private others({ count, rows }: RawRows): OtherSites {
    return {
      count,
      rows: rows.map((row) => ({ ...this.siteAt(row, 0), amount: amountAt(row, 2), reserved: row[4], ...this.placeAt(row, 5) })),
    };
  }
}

// Of mappings, `blocks` counts these.
export interface Change {
  before: Amount;
  after: Amount;
  appeared: Amount; // 0 of two processes, as the next
  gone: Amount;
}

export interface ChangedStack extends StackPlace {
  change: Change;
}

export type Direction = 'grown' | 'shrunk' | 'replaced';

export interface ChangedSite extends SitePlace {
  index: number;
  isUsers: boolean;
  change: Change;
  stacks: ChangedStack[]; // what changed most first
}

export interface MappedChange extends ChangedSite, StackPlace {}

interface RawDifference extends RawTables {
  difference: {
    from: RawFacts;
    to: RawFacts;
    same_process: boolean;
    compared: string;
    seconds_between: number;
    filter: string;
    missing: string[];
    problems: string[];
    total: Numbers;
    mapped: Numbers;
  };
  sites: RawRows;
  changes: { stacks: number; left_out: Numbers; rows: Numbers[] };
  mapped_sites: RawRows;
}

const changeAt = (numbers: Numbers, at: number): Change => ({
  before: amountAt(numbers, at), after: amountAt(numbers, at + 2), appeared: amountAt(numbers, at + 4), gone: amountAt(numbers, at + 6),
});

export const growthOf = ({ before, after }: Change): Amount => ({ bytes: after.bytes - before.bytes, blocks: after.blocks - before.blocks });

// Bytes decide, and blocks where these are as many.
export function directionOf(change: Change): Direction {
  const { bytes, blocks } = growthOf(change);
  const sign = bytes || blocks;
  return sign > 0 ? 'grown' : sign < 0 ? 'shrunk' : 'replaced';
}

export const isNew = ({ before }: Change): boolean => before.blocks === 0;
export const isGone = ({ after }: Change): boolean => after.blocks === 0;

export class Difference extends PageOfStacks {
  readonly from: Facts;
  readonly to: Facts;
  readonly isOneProcess: boolean;
  readonly compared: string;
  readonly seconds: number; // between the two
  readonly filter: string; // "that match net::*, without std::*"; empty if all are shown
  readonly missing: string[];
  readonly problems: string[];
  readonly total: Change;
  readonly mapped: Change;
  readonly sites: ChangedSite[]; // the greatest growth first, then the greatest loss, then what was replaced
  readonly siteCount: number;
  readonly stacks: ChangedStack[];
  readonly stackCount: number;
  readonly leftOut: { stacks: number; change: Change };
  readonly mappedSites: MappedChange[];
  readonly mappedSiteCount: number;

  constructor(raw: RawDifference) {
    super(raw);
    const { difference } = raw;
    this.from = new Facts(difference.from);
    this.to = new Facts(difference.to);
    this.isOneProcess = difference.same_process;
    this.compared = difference.compared;
    this.seconds = difference.seconds_between;
    this.filter = difference.filter;
    this.missing = difference.missing;
    this.problems = difference.problems;
    this.total = changeAt(difference.total, 0);
    this.mapped = changeAt(difference.mapped, 0);
    this.sites = raw.sites.rows.map((row, index) => this.changedSite(row, index));
    this.siteCount = raw.sites.count;
    this.stacks = raw.changes.rows.map((row) => {
      const stack = { ...this.placeAt(row, 0), change: changeAt(row, 4) };
      this.sites[row[3] - 1]?.stacks.push(stack);
      return stack;
    });
    this.stackCount = raw.changes.stacks;
    this.leftOut = { stacks: raw.changes.left_out[0], change: changeAt(raw.changes.left_out, 1) };
    this.mappedSites = raw.mapped_sites.rows.map((row, index) => ({ ...this.changedSite(row, index), ...this.placeAt(row, 11) }));
    this.mappedSiteCount = raw.mapped_sites.count;
  }

  private changedSite(row: Numbers, index: number): ChangedSite {
    return { index, ...this.siteAt(row, 0), isUsers: row[2] === 1, change: changeAt(row, 3), stacks: [] };
  }
}
