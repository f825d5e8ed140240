// Moments of a recording in words, and on the axis of its chart. Pure.
import type { Interval, Recording, TestSpan } from './recording_model';

const SECOND = 1e9;
const CLOCK_FROM = 120; // seconds: from then on "2:05" is shorter than "125 s"

const UNITS: [string, number][] = [['s', SECOND], ['ms', 1e6], ['µs', 1e3], ['ns', 1]];

function clock(seconds: number, digits: number): string {
  const rounded = Number(seconds.toFixed(digits));
  const whole = Math.floor(rounded);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const rest = (rounded - 60 * Math.floor(rounded / 60)).toFixed(digits).padStart(digits === 0 ? 2 : digits + 3, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

// A moment, told so finely that moments `stepNs` apart differ: "1.203 s", "2:05.3".
export function momentText(ns: number, stepNs: number, mostNs = ns): string {
  if (mostNs >= CLOCK_FROM * SECOND) return clock(ns / SECOND, digitsFor(stepNs / SECOND));
  const [unit, factor] = UNITS.find(([, size]) => mostNs >= size) ?? UNITS[3];
  return `${(ns / factor).toFixed(digitsFor(stepNs / factor))} ${unit}`;
}

const digitsFor = (step: number): number => Math.min(Math.max(Math.ceil(-Math.log10(Math.max(step, 1e-12)) - 1e-9), 0), 9);

// Moments of one recording, all in the same unit.
export class Times {
  private readonly stepNs: number;
  constructor(private readonly recording: Recording) {
    // A thousandth of what there is can be told apart.
    this.stepNs = Math.max((recording.endNs - recording.beginNs) / 1000, 1);
  }
  moment(ns: number): string {
    return momentText(ns, this.stepNs, this.recording.endNs);
  }
  span([from, to]: Interval): string {
    const { borders } = this.recording;
    return `${this.moment(borders[from])} to ${this.moment(borders[to])}`;
  }
}

// How long something took: "400 ms".
export function durationText(ns: number): string {
  if (ns >= CLOCK_FROM * SECOND) return clock(ns / SECOND, 0);
  const [unit, factor] = UNITS.find(([, size]) => ns >= size) ?? UNITS[3];
  const value = ns / factor;
  return `${unit === 'ns' ? value.toFixed(0) : value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${unit}`;
}

// Labels of an axis' ticks, in seconds: the digits are those that tell them apart.
export function axisLabels(ticks: number[]): string[] {
  const step = ticks.length > 1 ? Math.min(...ticks.slice(1).map((tick, index) => tick - ticks[index])) : Math.max(...ticks, 1);
  const most = Math.max(...ticks.map(Math.abs), 0);
  return ticks.map((tick) => momentText(tick * SECOND, step * SECOND, most * SECOND));
}

// Steps between ticks, in seconds: tens, and above a minute what clocks have.
export const TIME_STEPS = [
  ...Array.from({ length: 10 }, (_, index) => 10 ** (index - 9)).flatMap((power) => [power, 2 * power, 5 * power]),
  10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 4 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 2 * 86400, 7 * 86400,
];

// The border that is nearest to a moment.
export function nearestBorder(borders: number[], ns: number): number {
  let [low, high] = [0, borders.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (borders[middle] <= ns) low = middle;
    else high = middle;
  }
  return ns - borders[low] <= borders[high] - ns ? low : high;
}

// The interval of a test. Its borders are behind its begin and its end.
export const intervalOfTest = (recording: Recording, { begin, end }: TestSpan): Interval => intervalNear(recording, begin + 1, end + 1);

// The interval of borders that is nearest to two moments. It has at least one bin.
export function intervalNear({ borders, bins }: Recording, beginNs: number, endNs: number): Interval {
  const from = Math.min(nearestBorder(borders, Math.min(beginNs, endNs)), bins - 1);
  return [from, Math.max(nearestBorder(borders, Math.max(beginNs, endNs)), from + 1)];
}
