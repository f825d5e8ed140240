// The trees of a snapshot and of a difference. Pure.
import { buildTree, type FlameNode, type Weighed } from './flame_tree';
import { growthOf, type Change, type Difference, type Snapshot, type StackPlace } from './snapshot_model';
import type { Amount } from './model';

export const labelOf = ({ end }: StackPlace): string => (end === 'not_taken' ? 'stack not taken: --stacks' : 'no call stack was recorded');

export function snapshotTree(snapshot: Snapshot, userFramesOnly: boolean): FlameNode {
  const weights = snapshot.stacks.map((stack): Weighed => ({ node: stack.node, weight: stack.amount, part: -1, label: labelOf(stack) }));
  return buildTree(snapshot, weights, { userFramesOnly, parts: 0 });
}

// What of a difference its tree weighs. Growth is that of each call stack, so that one stack's loss
// does not hide another's growth.
export type DifferenceOf = 'growth' | 'appeared' | 'gone';

export const [GROWN, SHRUNK] = [0, 1];

const above = ({ bytes, blocks }: Amount): Amount => ({ bytes: Math.max(bytes, 0), blocks: Math.max(blocks, 0) });
const minus = ({ bytes, blocks }: Amount): Amount => ({ bytes: -bytes, blocks: -blocks });

function partsOf(change: Change, of: DifferenceOf): [Amount, Amount] {
  const none = { bytes: 0, blocks: 0 };
  if (of === 'appeared') return [change.appeared, none];
  if (of === 'gone') return [none, change.gone];
  const growth = growthOf(change);
  return [above(growth), above(minus(growth))];
}

export function differenceTree(difference: Difference, of: DifferenceOf, userFramesOnly: boolean): FlameNode {
  const weights: Weighed[] = [];
  for (const stack of difference.stacks) {
    partsOf(stack.change, of).forEach((weight, part) => {
      if (weight.bytes !== 0 || weight.blocks !== 0) weights.push({ node: stack.node, weight, part, label: labelOf(stack) });
    });
  }
  return buildTree(difference, weights, { userFramesOnly, parts: 2 });
}

// What a frame of it has grown by; below 0 if it has shrunk.
export const netOf = ({ parts }: FlameNode): Amount => ({
  bytes: parts[GROWN].bytes - parts[SHRUNK].bytes, blocks: parts[GROWN].blocks - parts[SHRUNK].blocks,
});
