// The tree of the flame graph: outstanding bytes by function, callers above. Pure.
import { isWanted, type Which } from './call_sites';
import { isLost } from './causes';
import type { Report, Window } from './model';

export interface FlameNode {
  name: string;
  file: string;
  line: number;
  module: string;
  isUsers: boolean;
  self: Weight;
  total: Weight;
  // Of the total; a graph of something else has neither.
  lost?: Weight;
  growing?: Weight;
  children: FlameNode[];
}

export interface Weight {
  bytes: number;
  blocks: number;
}

export interface FlameOptions {
  which: Which;
  userFramesOnly: boolean;
  component: string;
}

interface Building extends FlameNode {
  byName: Map<string, Building>;
}

function newNode(name: string, file: string, line: number, module: string, isUsers: boolean): Building {
  return {
    name, file, line, module, isUsers,
    self: { bytes: 0, blocks: 0 },
    total: weightless(),
    lost: weightless(),
    growing: weightless(),
    children: [],
    byName: new Map(),
  };
}

interface Parts {
  all: Weight;
  lost: Weight;
  growing: Weight;
}

const weightless = (): Weight => ({ bytes: 0, blocks: 0 });

// What is wanted, by node of the stacks.
function weigh(report: Report, windows: Window[], options: FlameOptions): Parts[] {
  const weights: Parts[] = [];
  for (const window of windows) {
    for (const raw of window.findings) {
      if (!isWanted(report, raw, options.which)) continue;
      if (options.component !== '') {
        const own = report.string(raw[11] as number | undefined);
        if ((own || window.component) !== options.component) continue;
      }
      const node = (raw[5] as number | undefined) ?? 0;
      const parts = (weights[node] ??= { all: weightless(), lost: weightless(), growing: weightless() });
      const weight = { bytes: (raw[0] as number | undefined) ?? 0, blocks: (raw[1] as number | undefined) ?? 0 };
      add(parts.all, weight);
      if (report.string(raw[3] as number) === 'steady') add(parts.growing, weight);
      else if (isLost(report.string(raw[4] as number))) add(parts.lost, weight);
    }
  }
  return weights;
}

function add(into: Weight, weight: Weight): void {
  into.bytes += weight.bytes;
  into.blocks += weight.blocks;
}

// Only what leads to something wanted is built.
function isNeeded(report: Report, weights: Parts[]): Uint8Array {
  const needed = new Uint8Array(report.nodeCount);
  for (let node = report.nodeCount - 1; node > 0; node -= 1) {
    if (weights[node] === undefined && needed[node] === 0) continue;
    needed[node] = 1;
    needed[report.parentOf(node)] = 1;
  }
  return needed;
}

export function flameTree(report: Report, windows: Window[], options: FlameOptions): FlameNode {
  const weights = weigh(report, windows, options);
  const needed = isNeeded(report, weights);
  const root = newNode('all', '', 0, '', false);
  const built: Building[] = [root];
  // Parents come first.
  for (let node = 1; node < needed.length; node += 1) {
    if (needed[node] === 0) continue;
    const parent = built[report.parentOf(node)] ?? root;
    const frame = report.frame(report.frameIndexOf(node));
    if (options.userFramesOnly && !frame.isUsers) {
      built[node] = parent;
      continue;
    }
    const name = frame.func || `${frame.module.slice(frame.module.lastIndexOf('/') + 1) || '?'}+${frame.offset}`;
    let child = parent.byName.get(name);
    if (!child) {
      child = newNode(name, frame.file, frame.line, frame.module, frame.isUsers);
      parent.byName.set(name, child);
      parent.children.push(child);
    }
    built[node] = child;
  }
  weights.forEach((parts, node) => {
    const at = built[node] ?? root;
    add(at.self, parts.all);
    add(at.lost!, parts.lost);
    add(at.growing!, parts.growing);
  });
  sum(root);
  return root;
}

function sum(root: FlameNode): void {
  const order: FlameNode[] = [root];
  for (let at = 0; at < order.length; at += 1) {
    for (const child of order[at].children) order.push(child);
  }
  for (const node of order.reverse()) {
    node.total = { ...node.self };
    for (const child of node.children) {
      add(node.total, child.total);
      add(node.lost!, child.lost!);
      add(node.growing!, child.growing!);
    }
  }
}
