// The interval of a recording: chosen by dragging, by keys, by its ends, or as that of a test. It is
// a part of the place, so that links and the browser's back button have it.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import * as format from './format';
import { Select } from './parts';
import { RecordingChart, type Choose } from './recording_chart';
import type { Interval, Recording } from './recording_model';
import type { IntervalSums } from './recording_sums';
import { Times, durationText, intervalOfTest } from './recording_time';
import { change, type Route } from './route';

const PAUSE_MS = 250; // behind the last step: then it becomes a part of the place

export const isWhole = (recording: Recording, [from, to]: Interval): boolean => from === 0 && to === recording.bins;

function routed(recording: Recording, route: Route): Interval {
  const border = (key: string, otherwise: number) => {
    const value = route.get(key) === '' ? otherwise : Number(route.get(key));
    return Number.isFinite(value) ? Math.min(Math.max(Math.trunc(value), 0), recording.bins) : otherwise;
  };
  const from = Math.min(border('from', 0), recording.bins - 1);
  const to = border('to', recording.bins);
  return [from, to > from ? to : recording.bins];
}

// Leaves the zoom, since a path in the old tree leads elsewhere in the new one.
export function place(recording: Recording, interval: Interval, step: 'push' | 'replace' = 'push'): void {
  const [from, to] = isWhole(recording, interval) ? ['', ''] : interval;
  change({ from, to: to === recording.bins ? '' : to, zoom: '' }, step);
}

// The interval, and what chooses another one.
export function useInterval(recording: Recording, route: Route): { interval: Interval; choose: Choose; isMoving: boolean } {
  const [moving, setMoving] = useState<Interval | null>(null);
  const timer = useRef(0);
  const inPlace = useMemo(() => routed(recording, route), [recording, route.get('from'), route.get('to')]);
  const choose: Choose = (interval, step) => {
    clearTimeout(timer.current);
    const settle = () => { place(recording, interval); setMoving(null); };
    if (step === 'done') settle();
    else {
      setMoving(interval);
      timer.current = window.setTimeout(settle, PAUSE_MS);
    }
  };
  // One object for as long as it is the same interval.
  const [from, to] = moving ?? inPlace;
  const interval = useMemo<Interval>(() => [from, to], [from, to]);
  return { interval, choose, isMoving: moving !== null };
}

function moved(recording: Recording, [from, to]: Interval, steps: number): Interval {
  const width = to - from;
  const begin = Math.min(Math.max(from + steps, 0), recording.bins - 1);
  if (steps > 0) return to === recording.bins ? [begin, to] : [Math.min(begin, recording.bins - width), Math.min(to + steps, recording.bins)];
  return from === 0 ? [0, Math.max(to + steps, 1)] : [begin, begin + width];
}

function byKey(recording: Recording, interval: Interval, event: KeyboardEvent): Interval | null {
  const step = Math.max(1, Math.round(recording.bins / 100));
  const [from, to] = interval;
  const steps = { ArrowLeft: -step, ArrowRight: step }[event.key];
  if (steps !== undefined && event.shiftKey) return [from, Math.min(Math.max(to + steps, from + 1), recording.bins)];
  if (steps !== undefined) return moved(recording, interval, steps);
  if (event.key === 'Home') return [0, to - from];
  if (event.key === 'End') return [recording.bins - (to - from), recording.bins];
  return event.key === 'Escape' ? [0, recording.bins] : null;
}

const sumsText = ({ all }: IntervalSums): string =>
  `${format.amount(all.outstanding)} outstanding, ${format.amount(all.total)} allocated, ${format.amount(all.temporary)} temporary`;

export function intervalText(recording: Recording, times: Times, interval: Interval): string {
  const length = durationText(recording.borders[interval[1]] - recording.borders[interval[0]]);
  return isWhole(recording, interval) ? `Whole recording, ${length}` : `${times.span(interval)}, ${length}`;
}

// Tells screen readers what was chosen, once it rests.
function Announcement({ text }: { text: string }) {
  const [told, setTold] = useState('');
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return undefined;
    }
    const timer = window.setTimeout(() => setTold(text), 2 * PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return <p class="off-screen announcement" role="status">{told}</p>;
}

// A page has no room for the names of all.
function NotDrawn({ recording: { moreTests, moreMarks } }: { recording: Recording }) {
  const left = [moreTests > 0 ? format.count(moreTests, 'more test') : '', moreMarks > 0 ? format.count(moreMarks, 'more mark') : ''].filter(Boolean);
  return left.length > 0 ? <p class="interval-text dim">Not drawn: {format.list(left)}.</p> : null;
}

// A list of thousands is made once.
function useTestList(recording: Recording, interval: Interval, choose: Choose) {
  const intervals = useMemo(() => recording.tests.map((test) => intervalOfTest(recording, test)), [recording]);
  const options = useMemo(() => recording.tests.map(({ name }, index): [string, string] => [String(index), name]), [recording]);
  const chosen = intervals.findIndex(([from, to]) => from === interval[0] && to === interval[1]);
  const latest = useRef(choose);
  latest.current = choose;
  return useMemo(() => options.length > 0 && (
    <Select label="Interval of a test" value={chosen < 0 ? '' : String(chosen)} all="choose a test" options={options}
      onChange={(value) => latest.current(value === '' ? [0, recording.bins] : intervals[Number(value)], 'done')} />
  ), [options, intervals, chosen]);
}

export function IntervalPanel({ recording, interval, choose, sums }: { recording: Recording; interval: Interval; choose: Choose; sums: IntervalSums }) {
  const times = useMemo(() => new Times(recording), [recording]);
  const [from, to] = interval;
  const { borders, bins } = recording;
  const isIncomplete = recording.isIncomplete(interval);
  const text = intervalText(recording, times, interval);
  const tests = useTestList(recording, interval, choose);
  const peak = recording.peakOf([0, bins]);
  const peakBorder = borders.indexOf(peak.ns + 1);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = byKey(recording, interval, event);
    if (!next || (event.key === 'Escape' && isWhole(recording, interval))) return;
    event.preventDefault();
    event.stopPropagation();
    choose(next, event.key === 'Escape' ? 'done' : 'live');
  };
  return (
    <section class="panel interval" aria-label="Live memory over time">
      <RecordingChart recording={recording} times={times} interval={interval} choose={choose} onKeyDown={onKeyDown}
        label={`Live bytes from ${times.moment(borders[0])} to ${times.moment(borders[bins])}: at most ${format.bytes(peak.bytes)}, at ${times.moment(peak.ns)}`} />
      <div class="edges" role="group" aria-label="Interval">
        <label><span class="label">From</span>
          <input type="range" id="from" min={0} max={bins - 1} value={from} aria-valuetext={times.moment(borders[from])}
            onInput={(event) => { const value = Number(event.currentTarget.value); choose([value, Math.max(value + 1, to)], 'live'); }} />
          <output for="from">{times.moment(borders[from])}</output>
        </label>
        <label><span class="label">To</span>
          <input type="range" id="to" min={1} max={bins} value={to} aria-valuetext={times.moment(borders[to])}
            onInput={(event) => { const value = Number(event.currentTarget.value); choose([Math.min(from, value - 1), value], 'live'); }} />
          <output for="to">{times.moment(borders[to])}</output>
        </label>
        <div class="edge-buttons">
          {tests}
          {peakBorder > 0 && <button type="button" class="button" disabled={from === 0 && to === peakBorder} onClick={() => choose([0, peakBorder], 'done')}>Up to the peak</button>}
          <button type="button" class="button" disabled={isWhole(recording, interval)} onClick={() => choose([0, bins], 'done')}>Whole recording</button>
        </div>
      </div>
      <p class="interval-text"><b>{text}</b>{isIncomplete && <span class="uncertain"> incomplete: events are missing</span>}</p>
      <NotDrawn recording={recording} />
      <Announcement text={`${text}${isIncomplete ? ', incomplete' : ''}: ${sumsText(sums)}`} />
    </section>
  );
}
