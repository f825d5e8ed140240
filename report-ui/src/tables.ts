// What every page shares: strings, frames and call stacks, each written once, and source lines.
// page_tables.h describes them. Pure.

export interface Frame {
  func: string;
  file: string;
  line: number;
  module: string;
  offset: string;
  isInlined: boolean;
  isUsers: boolean;
}

export interface RawTables {
  strings: string[];
  frames: number[];
  stacks: number[];
  sources: (string | number)[][];
}

const FRAME_NUMBERS = 6;
const INLINED = 1;
const USERS = 2;

export class Tables {
  private readonly sources = new Map<string, { first: number; lines: string[] }[]>();
  private readonly frameCache: Frame[] = [];

  constructor(private readonly tables: RawTables) {
    for (const [file, first, ...lines] of tables.sources ?? []) {
      const excerpts = this.sources.get(file as string) ?? [];
      excerpts.push({ first: first as number, lines: lines as string[] });
      this.sources.set(file as string, excerpts);
    }
  }

  string(index: number | undefined): string {
    return this.tables.strings[index ?? 0] ?? '';
  }

  frame(index: number): Frame {
    const known = this.frameCache[index];
    if (known) return known;
    const at = index * FRAME_NUMBERS;
    const [func, file, line, module, offset, flags] = this.tables.frames.slice(at, at + FRAME_NUMBERS);
    return (this.frameCache[index] = {
      func: this.string(func),
      file: this.string(file),
      line,
      module: this.string(module),
      offset: this.string(offset),
      isInlined: (flags & INLINED) !== 0,
      isUsers: (flags & USERS) !== 0 && this.string(func) !== '_start',
    });
  }

  // Nodes of stacks: a parent is always before its children, and 0 is the root.
  get nodeCount(): number {
    return this.tables.stacks.length / 2;
  }
  parentOf(node: number): number {
    return this.tables.stacks[2 * node];
  }
  frameIndexOf(node: number): number {
    return this.tables.stacks[2 * node + 1];
  }

  // Innermost first.
  stack(node: number): Frame[] {
    const frames: Frame[] = [];
    for (let at = node; at > 0; at = this.parentOf(at)) frames.push(this.frame(this.frameIndexOf(at)));
    return frames;
  }

  source(file: string, line: number): { first: number; lines: string[] } | null {
    const excerpt = this.sources.get(file)?.find((one) => one.first <= line && line < one.first + one.lines.length);
    if (!excerpt) return null;
    const first = Math.max(excerpt.first, line - 4);
    return { first, lines: excerpt.lines.slice(first - excerpt.first, line + 4 - excerpt.first) };
  }
}
