// What has changed, in words and with signs: never by colour alone. Pure.
import * as format from './format';
import type { Amount } from './model';
import { growthOf, isGone, isNew, type Change, type Difference } from './snapshot_model';

// "+97.8 KiB (+100 blocks)".
export const changeText = (growth: Amount, noun = 'block'): string =>
  `${format.signedBytes(growth.bytes)} (${format.signedCount(growth.blocks, noun)})`;

export const toneOf = (bytes: number): string => (bytes > 0 ? 'grown' : bytes < 0 ? 'shrunk' : 'dim');

// "new", "gone", or what it was and is.
export function beforeAndAfter(change: Change): string {
  if (change.before.blocks === change.after.blocks && change.before.bytes === change.after.bytes) return 'replaced by as much';
  if (isNew(change)) return 'new';
  if (isGone(change)) return `gone: was ${format.amount(change.before)}`;
  return `${format.bytes(change.before.bytes)} → ${format.bytes(change.after.bytes)}`;
}

// What is behind a change: what came, and what went.
export function changeDetails({ before, after, appeared, gone }: Change, noun: string, isOneProcess: boolean): string {
  const text = (one: Amount) => `${format.bytes(one.bytes)} in ${format.count(one.blocks, noun)}`;
  if (!isOneProcess) return before.blocks === 0 || after.blocks === 0 ? '' : `${text(before)} before, ${text(after)} after`;
  const parts = [[appeared, noun === 'block' ? 'allocated in between, and still live' : 'mapped in between, and mapped still'], [gone, 'gone']] as const;
  return parts.filter(([one]) => one.blocks !== 0 || one.bytes !== 0).map(([one, what]) => `${text(one)} ${what}`).join('; ');
}

// "Live memory grew by 97.8 KiB (+100 blocks) in 1.02 s".
export function differenceHeadline({ isOneProcess, total, seconds }: Difference): string {
  const { bytes, blocks } = growthOf(total);
  const count = blocks === 0 ? 'as many blocks' : format.signedCount(blocks, 'block');
  if (!isOneProcess) {
    if (bytes === 0) return blocks === 0 ? 'Both have as much live' : `Both have as many bytes live (${count})`;
    return `The second has ${format.bytes(Math.abs(bytes))} ${bytes > 0 ? 'more' : 'less'} live (${count})`;
  }
  const when = ` in ${format.seconds(seconds)}`;
  if (bytes === 0) return blocks === 0 ? `As much is live as ${format.seconds(seconds)} before` : `As many bytes are live as ${format.seconds(seconds)} before (${count})`;
  return `Live memory ${bytes > 0 ? 'grew' : 'shrank'} by ${format.bytes(Math.abs(bytes))} (${count})${when}`;
}

// "taken 3 min 20 s after the first"; of two machines, as their clocks say.
export function apart({ isOneProcess, seconds }: Difference): string {
  if (isOneProcess) return '';
  if (seconds === 0) return 'taken at the same time';
  return `the second was taken ${format.seconds(Math.abs(seconds))} ${seconds > 0 ? 'after' : 'before'} the first`;
}
