// How large the blocks are. A run's report has the blocks of one call stack together, so what it can
// tell is their mean size, and the page says so; a snapshot has counted each block.
import { isWanted, type Which } from './call_sites';
import { FINDING } from './fields';
import * as format from './format';
import { numberAt, type Report, type Window } from './model';
import { Section } from './parts';

export interface Bucket {
  from: number;
  to: number;
  bytes: number;
  blocks: number;
}

// Powers of two: 16 to 31 bytes, 32 to 63, ...
function sizeBuckets(report: Report, windows: Window[], which: Which): Bucket[] {
  const buckets = new Map<number, Bucket>();
  for (const window of windows) {
    for (const row of window.findings) {
      const [bytes, blocks] = [numberAt(row, FINDING.bytes), numberAt(row, FINDING.blocks)];
      if (blocks <= 0 || !isWanted(report, row, which)) continue;
      const from = bytes <= 0 ? 0 : 2 ** Math.floor(Math.log2(bytes / blocks));
      const bucket = buckets.get(from) ?? { from, to: Math.max(2 * from - 1, from), bytes: 0, blocks: 0 };
      buckets.set(from, { ...bucket, bytes: bucket.bytes + bytes, blocks: bucket.blocks + blocks });
    }
  }
  return [...buckets.values()].sort((a, b) => a.from - b.from);
}

function rangeText({ from, to }: Bucket): string {
  if (to < 1) return 'below 1 B';
  if (from === to) return format.bytes(from);
  return `${format.bytes(from)} – ${format.bytes(to)}`;
}

export function SizeHistogram({ buckets, aside, caption }: { buckets: Bucket[]; aside?: string; caption: string }) {
  if (buckets.length === 0) return null;
  const largest = Math.max(...buckets.map((bucket) => bucket.blocks));
  return (
    <Section title="Block sizes" id="sizes" aside={aside}>
      <table class="plain sizes">
        <caption class="off-screen">{caption}</caption>
        <thead><tr><th scope="col">Size</th><th scope="col">Share</th><th scope="col" class="number">Blocks</th><th scope="col" class="number">Bytes</th></tr></thead>
        <tbody>
          {buckets.map((bucket) => (
            <tr key={bucket.from}>
              <th scope="row">{rangeText(bucket)}</th>
              <td><span class="bar" aria-hidden="true"><span style={{ width: `${(100 * bucket.blocks) / largest}%` }} /></span></td>
              <td class="number">{format.grouped(bucket.blocks)}</td>
              <td class="number">{format.bytes(bucket.bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

export function FindingSizes({ report, windows, which }: { report: Report; windows: Window[]; which: Which }) {
  return (
    <SizeHistogram buckets={sizeBuckets(report, windows, which)} aside="mean size of the blocks of each call stack in a test"
      caption="Blocks by the mean size of their call stack" />
  );
}
