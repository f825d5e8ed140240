// The tree of a flame graph and of a call tree: amounts by function, callers above. Pure.
import { isWanted, type Which } from './call_sites';
import { isLost } from './causes';
import { FINDING } from './fields';
import { forEachFinding, numberAt, type Report, type Window } from './model';
import type { Frame, Tables } from './tables';

export interface FlameNode {
  name: string;
  file: string;
  line: number;
  module: string;
  isUsers: boolean;
  self: Weight;
  total: Weight;
  parts: Weight[]; // of the total; the tree's maker says what each is
  children: FlameNode[];
}

export interface Weight {
  bytes: number;
  blocks: number;
}
export type Metric = keyof Weight;

// A call stack.
export interface Place {
  node: number; // of the stacks
  label?: string; // why there are no frames, if there are none
}

// What one call stack weighs.
export interface Weighed extends Place {
  weight: Weight;
  part: number; // -1: of none
}

export interface TreeOptions {
  userFramesOnly: boolean;
  parts: number;
}

const NOT_YOURS = 'no frame of yours';

const weightless = (): Weight => ({ bytes: 0, blocks: 0 });

function add(into: Weight, weight: Weight): void {
  into.bytes += weight.bytes;
  into.blocks += weight.blocks;
}

function newNode(name: string, frame: Frame | null, parts: number): FlameNode {
  const { file, line, module, isUsers } = frame ?? { file: '', line: 0, module: '', isUsers: false };
  return { name, file, line, module, isUsers, self: weightless(), total: weightless(), parts: Array.from({ length: parts }, weightless), children: [] };
}

// A tree in the making. Callees of one caller are told apart by their names.
class Builder {
  readonly nodes: FlameNode[] = []; // parents first; the root is number 0
  private readonly namesOfFrames: string[] = [];
  // By the number of the caller. Most have one callee, and need no map.
  private readonly first: number[] = [];
  private readonly others: Map<string, number>[] = [];

  constructor(private readonly tables: Tables, private readonly parts: number) {
    this.nodes.push(newNode('all', null, parts));
  }

  private add(parent: number, name: string, frame: Frame | null): number {
    const node = newNode(name, frame, this.parts);
    this.nodes[parent].children.push(node);
    return this.nodes.push(node) - 1;
  }

  // Returns the number of the callee of node number `parent`.
  child(parent: number, name: string, frame: Frame | null): number {
    const first = this.first[parent];
    if (first === undefined) return (this.first[parent] = this.add(parent, name, frame));
    if (this.nodes[first].name === name) return first;
    const others = (this.others[parent] ??= new Map());
    let number = others.get(name);
    if (number === undefined) others.set(name, (number = this.add(parent, name, frame)));
    return number;
  }
  frameChild(parent: number, index: number): number {
    const frame = this.tables.frame(index);
    const name = (this.namesOfFrames[index] ??= frame.func || `${frame.module.slice(frame.module.lastIndexOf('/') + 1) || '?'}+${frame.offset}`);
    return this.child(parent, name, frame);
  }
}

// Only what leads to something wanted is built.
function isNeeded(tables: Tables, places: Place[]): Uint8Array {
  const needed = new Uint8Array(tables.nodeCount);
  for (const { node } of places) needed[node] = 1;
  for (let node = tables.nodeCount - 1; node > 0; node -= 1) if (needed[node] === 1) needed[tables.parentOf(node)] = 1;
  return needed;
}

// A tree without weights. `at` has the number of each place's node.
interface Shape {
  nodes: FlameNode[]; // parents first; the root is number 0
  at: Int32Array;
}

function shapeOf(tables: Tables, places: Place[], { userFramesOnly, parts }: TreeOptions): Shape {
  const needed = isNeeded(tables, places);
  const builder = new Builder(tables, parts);
  const built = new Int32Array(Math.max(needed.length, 1)); // number of the node; 0: the root
  // Parents come first.
  for (let node = 1; node < needed.length; node += 1) {
    if (needed[node] === 0) continue;
    const parent = built[tables.parentOf(node)];
    const index = tables.frameIndexOf(node);
    built[node] = userFramesOnly && !tables.frame(index).isUsers ? parent : builder.frameChild(parent, index);
  }
  const at = Int32Array.from(places, ({ node, label }) => built[node] || builder.child(0, (node === 0 && label) || NOT_YOURS, null));
  return { nodes: builder.nodes, at };
}

export function buildTree(tables: Tables, weights: Weighed[], options: TreeOptions): FlameNode {
  const { nodes, at } = shapeOf(tables, weights, options);
  weights.forEach(({ weight, part }, index) => {
    const node = nodes[at[index]];
    add(node.self, weight);
    if (part >= 0) add(node.parts[part], weight);
  });
  sum(nodes);
  return nodes[0];
}

// A tree whose weights change: it is built once, which takes longest.
export class ReweighedTree {
  private readonly nodes: FlameNode[];
  private readonly at: Int32Array;
  private readonly callees: FlameNode[][]; // of each node, all of them

  constructor(tables: Tables, places: Place[], userFramesOnly: boolean) {
    ({ nodes: this.nodes, at: this.at } = shapeOf(tables, places, { userFramesOnly, parts: 0 }));
    this.callees = this.nodes.map((node) => node.children);
  }

  // Returns the root of the tree, without what weighs nothing. Roots of earlier calls are of no use any more.
  weigh(bytes: Float64Array, blocks: Float64Array): FlameNode {
    this.nodes.forEach((node, number) => {
      const { self, total } = node;
      self.bytes = self.blocks = total.bytes = total.blocks = 0;
      node.children = this.callees[number];
    });
    for (let place = 0; place < this.at.length; place += 1) {
      const { self } = this.nodes[this.at[place]];
      self.bytes += bytes[place];
      self.blocks += blocks[place];
    }
    sum(this.nodes);
    this.nodes.forEach((node, number) => {
      if (!this.callees[number].every(isWeighty)) node.children = this.callees[number].filter(isWeighty);
    });
    sorted.bytes = new WeakMap();
    sorted.blocks = new WeakMap();
    return { ...this.nodes[0] };
  }
}

const isWeighty = ({ total }: FlameNode): boolean => total.bytes !== 0 || total.blocks !== 0;

// REQUIRES: each node comes behind its caller.
function sum(nodes: FlameNode[]): void {
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const node = nodes[at];
    add(node.total, node.self);
    for (const child of node.children) {
      add(node.total, child.total);
      child.parts.forEach((part, index) => add(node.parts[index], part));
    }
  }
}

const sorted: Record<Metric, WeakMap<FlameNode, FlameNode[]>> = { bytes: new WeakMap(), blocks: new WeakMap() };

// The callees of a frame, the largest first.
export function sortedChildren(node: FlameNode, metric: Metric): FlameNode[] {
  let children = sorted[metric].get(node);
  if (!children) {
    children = [...node.children].sort((a, b) => b.total[metric] - a.total[metric] || (a.name < b.name ? -1 : 1));
    sorted[metric].set(node, children);
  }
  return children;
}

export interface FlameOptions {
  which: Which;
  userFramesOnly: boolean;
  component: string;
}

const [LOST, GROWING, HELD] = [0, 1, -1];

// What the tests of a run left.
export function flameTree(report: Report, windows: Window[], options: FlameOptions): FlameNode {
  const weights: Weighed[] = [];
  for (const window of windows) {
    forEachFinding(window, (row, own) => {
      if (!isWanted(report, row, options.which)) return;
      const text = (column: number) => report.string(numberAt(row, column));
      if (options.component !== '' && (text(FINDING.component) || window.component) !== options.component) return;
      const isGrowing = text(FINDING.disposition) === 'steady';
      weights.push({
        node: numberAt(row, FINDING.stack),
        weight: own,
        part: isGrowing ? GROWING : isLost(text(FINDING.reach)) ? LOST : HELD, label: 'no call stack was recorded',
      });
    });
  }
  return buildTree(report, weights, { userFramesOnly: options.userFramesOnly, parts: 2 });
}
