// What the tests left over time: the earlier results of a history, and this report's.
import * as format from './format';
import type { Amount, Moment, Report } from './model';
import { Section } from './parts';

const ROWS = 12;
const BARS = 60;

interface Point extends Moment {
  isNow: boolean;
}

// As a history counts: of a test that ran several times, the worst.
export function momentOf(report: Report): Point {
  const worst = new Map<string, { isOver: boolean; outstanding: Amount }>();
  for (const test of report.tests) {
    const key = `${report.runs[test.run].binary}\n${test.name}`;
    const one = worst.get(key);
    worst.set(key, {
      isOver: test.verdict === 'over_budget' || (one?.isOver ?? false),
      outstanding: {
        bytes: Math.max(test.outstanding.bytes, one?.outstanding.bytes ?? 0),
        blocks: Math.max(test.outstanding.blocks, one?.outstanding.blocks ?? 0),
      },
    });
  }
  const point: Point = { commit: '', time: '', tests: worst.size, over: 0, outstanding: { bytes: 0, blocks: 0 }, isNow: true };
  for (const { isOver, outstanding } of worst.values()) {
    point.over += isOver ? 1 : 0;
    point.outstanding.bytes += outstanding.bytes;
    point.outstanding.blocks += outstanding.blocks;
  }
  return point;
}

const dateOf = (time: string): string => time.replace('T', ' ').replace(/:\d\dZ$/, '');

function When({ point }: { point: Point }) {
  if (point.isNow) return <b>this report</b>;
  return <>{point.commit && <code title={point.commit}>{point.commit.slice(0, 12)}</code>} <span class="dim" title={`${point.time} (UTC)`}>{dateOf(point.time)}</span></>;
}

function Change({ now, before }: { now: Point; before: Point | undefined }) {
  if (!before) return <span class="dim">–</span>;
  if (now.tests !== before.tests) return <span class="dim">{format.signedCount(now.tests - before.tests, 'test')}</span>;
  const bytes = now.outstanding.bytes - before.outstanding.bytes;
  if (bytes === 0) return <span class="dim">no change</span>;
  return <span class={bytes > 0 ? 'bad' : 'good'}>{format.signedBytes(bytes)}</span>;
}

function Bars({ points }: { points: Point[] }) {
  const shown = points.slice(-BARS);
  const largest = Math.max(1, ...shown.map((point) => point.outstanding.bytes));
  const last = shown[shown.length - 1].outstanding.bytes;
  const text = `Outstanding bytes over ${format.count(shown.length, 'moment')}: first ${format.bytes(shown[0].outstanding.bytes)}, now ${format.bytes(last)}, at most ${format.bytes(largest)}`;
  return (
    <div class="history-bars" role="img" aria-label={text}>
      {shown.map((point, index) => (
        <span key={index} class={point.isNow ? 'now' : ''} title={`${point.isNow ? 'this report' : point.commit || dateOf(point.time)}: ${format.amount(point.outstanding)}, ${format.grouped(point.over)} over budget`}
          style={{ height: `${Math.max((100 * point.outstanding.bytes) / largest, 2)}%` }} />
      ))}
    </div>
  );
}

export function HistorySection({ report }: { report: Report }) {
  const { history } = report;
  if (history === null) return null;
  const points: Point[] = [...history.moments.map((moment) => ({ ...moment, isNow: false })), momentOf(report)];
  const rows = points.map((point, index) => ({ point, before: points[index - 1] })).reverse();
  return (
    <Section title="Over time" id="history" aside={<><code>{history.file}</code>, outstanding of all tests</>}>
      {history.moments.length === 0 ? <p class="quiet">The history has no earlier run of {report.runs.length === 1 ? 'this program' : 'these programs'}.</p> : (
        <>
          <Bars points={points} />
          <div class="scroll-x" tabIndex={0} role="region" aria-labelledby="history">
            <table class="plain">
              <thead><tr><th scope="col">When (UTC)</th><th scope="col" class="number optional">Tests</th><th scope="col" class="number">Over</th>
                <th scope="col" class="number">Outstanding</th><th scope="col" class="number">Change</th></tr></thead>
              <tbody>
                {rows.slice(0, ROWS).map(({ point, before }, index) => (
                  <tr key={index}>
                    <th scope="row"><When point={point} /></th>
                    <td class="number optional">{format.grouped(point.tests)}</td>
                    <td class={`number ${point.over > 0 ? 'bad' : 'dim'}`}>{format.grouped(point.over)}</td>
                    <td class="number">{format.bytes(point.outstanding.bytes)}</td>
                    <td class="number"><Change now={point} before={before} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {rows.length > ROWS && <p class="more">and {format.count(rows.length - ROWS, 'earlier moment')}</p>}
        </>
      )}
    </Section>
  );
}
