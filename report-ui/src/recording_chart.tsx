// Live bytes over time, with the tests below and the marks above, and the interval that is chosen
// by dragging across it, or by keys.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import * as format from './format';
import type { Interval, Recording } from './recording_model';
import { TIME_STEPS, axisLabels, intervalNear, intervalOfTest, nearestBorder, type Times } from './recording_time';
import { colour, onThemeChange } from './theme';

const SECOND = 1e9;
const STRIP = 18; // pixels of the strip of tests
const NEAR = 6; // pixels from an edge of the interval that still take hold of it
const LABEL = '11px system-ui, sans-serif';
const POWERS_OF_TWO = Array.from({ length: 50 }, (_, exponent) => 2 ** exponent);

// Two points for each of the curve's: the most, and then the least.
function seriesOf({ curve, beginNs, endNs }: Recording): [number[], number[]] {
  const x: number[] = [];
  const y: number[] = [];
  for (let at = 0; 2 * at < curve.points.length; at += 1) {
    const begin = beginNs + at * curve.stepNs;
    const [most, least] = [curve.points[2 * at], curve.points[2 * at + 1]];
    x.push(begin / SECOND);
    y.push(most);
    const middle = Math.min(begin + curve.stepNs / 2, endNs);
    if (least !== most && middle > begin) {
      x.push(middle / SECOND);
      y.push(least);
    }
  }
  if (x.length > 0 && x[x.length - 1] < endNs / SECOND) {
    x.push(endNs / SECOND);
    y.push(curve.points[curve.points.length - 1]);
  }
  return [x, y];
}

// Draws a text that can be read on lines.
function drawText(context: CanvasRenderingContext2D, text: string, x: number, y: number): void {
  context.save();
  context.setLineDash([]);
  context.lineWidth = 3 * devicePixelRatio;
  context.lineJoin = 'round';
  context.strokeStyle = colour('--panel');
  context.strokeText(text, x, y);
  context.restore();
  context.fillText(text, x, y);
}

// Draws texts from left to right, and leaves out those for which there is no room.
class Labels {
  private taken: [number, number][] = [];
  constructor(private readonly context: CanvasRenderingContext2D, private readonly left: number, private readonly right: number) {}

  draw(text: string, x: number, y: number): void {
    const { width } = this.context.measureText(text);
    const from = Math.min(Math.max(x, this.left), this.right - width);
    if (from < this.left || this.taken.some(([begin, end]) => from < end + 6 && from + width > begin - 6)) return;
    this.taken.push([from, from + width]);
    drawText(this.context, text, from, y);
  }
}

const cutTo = (context: CanvasRenderingContext2D, text: string, room: number): string => {
  for (const most of [64, 40, 28, 20, 14, 10]) {
    const short = format.shortened(text, most);
    if (context.measureText(short).width <= room) return short;
  }
  return '';
};

function drawLosses(plot: uPlot, recording: Recording): void {
  const { ctx, bbox } = plot;
  ctx.fillStyle = colour('--uncertain');
  ctx.globalAlpha = 0.22;
  for (const { begin_ns: begin, end_ns: end } of recording.facts.missing_spans) {
    const left = plot.valToPos(begin / SECOND, 'x', true);
    const width = Math.max(plot.valToPos(end / SECOND, 'x', true) - left, 2 * devicePixelRatio);
    ctx.fillRect(left, bbox.top, width, bbox.height);
  }
  ctx.globalAlpha = 1;
}

function drawTests(plot: uPlot, recording: Recording): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const top = bbox.top + bbox.height - STRIP * ratio;
  const shades = [colour('--test-even'), colour('--test-odd')];
  const text = colour('--text');
  let last = -1;
  recording.tests.forEach((test, index) => {
    const left = plot.valToPos(test.begin / SECOND, 'x', true);
    const right = plot.valToPos(test.end / SECOND, 'x', true);
    // Tests of less than a pixel are drawn once for each pixel.
    if (Math.floor(right) === last) return;
    last = Math.floor(right);
    const width = Math.max(right - left - ratio, ratio);
    ctx.fillStyle = shades[index % 2];
    ctx.fillRect(left, top, width, STRIP * ratio);
    if (width < 40 * ratio) return;
    ctx.fillStyle = text;
    ctx.fillText(cutTo(ctx, test.name, width - 8 * ratio), left + 4 * ratio, top + 13 * ratio);
  });
}

function drawMarks(plot: uPlot, recording: Recording): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.strokeStyle = ctx.fillStyle = colour('--grown');
  ctx.lineWidth = ratio;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  const labels = new Labels(ctx, bbox.left, bbox.left + bbox.width);
  for (const { name, ns } of recording.marks) {
    const x = Math.round(plot.valToPos(ns / SECOND, 'x', true)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    labels.draw(format.shortened(name, 24), x - 2 * ratio, bbox.top - 4 * ratio);
  }
  ctx.setLineDash([]);
}

function drawPeak(plot: uPlot, recording: Recording): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const peak = recording.peakOf([0, recording.bins]);
  if (peak.bytes === 0) return;
  const x = plot.valToPos(peak.ns / SECOND, 'x', true);
  const y = plot.valToPos(peak.bytes, 'y', true);
  ctx.fillStyle = colour('--accent');
  ctx.beginPath();
  ctx.arc(x, y, 4 * ratio, 0, 2 * Math.PI);
  ctx.fill();
  const text = `peak ${format.bytes(peak.bytes)}`;
  const { width } = ctx.measureText(text);
  const isRoomy = x + 8 * ratio + width < bbox.left + bbox.width;
  ctx.fillStyle = colour('--text');
  drawText(ctx, text, isRoomy ? x + 8 * ratio : x - 8 * ratio - width, y - 6 * ratio);
}

function draw(plot: uPlot, recording: Recording, parts: ((plot: uPlot, recording: Recording) => void)[]): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top - 16 * devicePixelRatio, bbox.width, bbox.height + 16 * devicePixelRatio);
  ctx.clip();
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textBaseline = 'alphabetic';
  ctx.textAlign = 'left';
  for (const part of parts) part(plot, recording);
  ctx.restore();
}

function newPlot(host: HTMLElement, recording: Recording, onLayout: () => void, onHover: (ns: number | null) => void): uPlot {
  const axis = { stroke: colour('--dim'), grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line'), width: 1, size: 4 }, font: LABEL };
  const hasTests = recording.tests.length > 0;
  const height = host.clientHeight || 300;
  const options: uPlot.Options = {
    width: Math.max(host.clientWidth, 200),
    height,
    legend: { show: false },
    scales: {
      x: { time: false, range: () => [recording.beginNs / SECOND, Math.max(recording.endNs, recording.beginNs + 1) / SECOND] },
      // Room below for the tests, above for the names of marks and of the peak.
      y: { range: (_, __, most) => {
        const top = Math.max(most, 16) * 1.18;
        return [hasTests ? (-top * (STRIP + 4)) / Math.max(height - 60, 100) : 0, top];
      } },
    },
    cursor: { drag: { x: false, y: false, setScale: false }, y: false, points: { size: 7 } },
    series: [{}, { stroke: colour('--accent'), width: 1.5, fill: colour('--accent-faint'), fillTo: 0, points: { show: false } }],
    axes: [
      { ...axis, size: 28, incrs: TIME_STEPS, space: 80, values: (_, ticks) => axisLabels(ticks) },
      { ...axis, size: 74, incrs: POWERS_OF_TWO, filter: (_, ticks) => ticks.map((tick) => (tick < 0 ? null : tick)),
        values: (_, ticks) => {
          const shown = ticks.filter((tick) => tick !== null && tick >= 0);
          const labels = format.distinctLabels(shown, format.EXACT_BYTES);
          return ticks.map((tick) => (tick === null || tick < 0 ? '' : labels[shown.indexOf(tick)]));
        } },
    ],
    hooks: {
      ready: [onLayout],
      drawAxes: [(plot) => draw(plot, recording, [drawLosses])],
      draw: [(plot) => draw(plot, recording, [drawTests, drawMarks, drawPeak])],
      setCursor: [(plot) => {
        const left = plot.cursor.left ?? -1;
        onHover(left < 0 ? null : plot.posToVal(left, 'x') * SECOND);
      }],
    },
  };
  return new uPlot(options, seriesOf(recording), host);
}

export type Choose = (interval: Interval, step: 'live' | 'done') => void;

// What dragging does: the edge that moves, and the one that stays.
function useDragging(plot: { current: uPlot | undefined }, recording: Recording, interval: { current: Interval }, choose: { current: Choose }) {
  return (over: HTMLElement): (() => void) => {
    let fixedNs: number | null = null;
    let from = 0;
    let hasMoved = false;
    const xOf = (event: PointerEvent) => Math.min(Math.max(event.clientX - over.getBoundingClientRect().left, 0), over.clientWidth);
    const nsOf = (x: number) => plot.current!.posToVal(x, 'x') * SECOND;
    const isWhole = () => interval.current[0] === 0 && interval.current[1] === recording.bins;
    const edgeNear = (x: number): number | null => {
      if (isWhole()) return null;
      const [begin, end] = interval.current.map((border) => recording.borders[border]);
      const distance = (ns: number) => Math.abs(plot.current!.valToPos(ns / SECOND, 'x') - x);
      if (Math.min(distance(begin), distance(end)) > NEAR) return null;
      return distance(begin) < distance(end) ? end : begin; // the other one stays
    };
    const onDown = (event: PointerEvent) => {
      if (event.button !== 0) return;
      from = xOf(event);
      fixedNs = edgeNear(from) ?? nsOf(from);
      hasMoved = false;
      over.setPointerCapture(event.pointerId);
    };
    const onMove = (event: PointerEvent) => {
      const x = xOf(event);
      if (fixedNs === null) {
        over.style.cursor = edgeNear(x) === null ? '' : 'ew-resize';
        return;
      }
      if (!hasMoved && Math.abs(x - from) < 3) return;
      hasMoved = true;
      choose.current(intervalNear(recording, fixedNs, nsOf(x)), 'live');
    };
    const onUp = (event: PointerEvent) => {
      if (fixedNs === null) return;
      const y = event.clientY - over.getBoundingClientRect().top;
      const isOnTests = recording.tests.length > 0 && y > over.clientHeight - STRIP;
      if (hasMoved) {
        choose.current(intervalNear(recording, fixedNs, nsOf(xOf(event))), 'done');
      } else if (isOnTests) {
        const test = testAt(recording, nsOf(from));
        if (test) choose.current(intervalOfTest(recording, test), 'done');
      }
      fixedNs = null;
    };
    const onCancel = () => { fixedNs = null; };
    const handlers: [keyof HTMLElementEventMap, (event: any) => void][] = [['pointerdown', onDown], ['pointermove', onMove], ['pointerup', onUp], ['pointercancel', onCancel]];
    for (const [name, handler] of handlers) over.addEventListener(name, handler);
    return () => { for (const [name, handler] of handlers) over.removeEventListener(name, handler); };
  };
}

const testAt = (recording: Recording, ns: number) => recording.tests.find(({ begin, end }) => begin <= ns && ns <= end);

function Hovered({ recording, times, ns }: { recording: Recording; times: Times; ns: number | null }) {
  if (ns === null) return <span class="dim">Drag across the chart to choose an interval.</span>;
  const point = Math.min(Math.max(Math.floor((ns - recording.beginNs) / recording.curve.stepNs), 0), recording.curve.points.length / 2 - 1);
  const [most, least] = recording.curve.points.slice(2 * point, 2 * point + 2);
  const test = testAt(recording, ns);
  const near = recording.borders[nearestBorder(recording.borders, ns)];
  const mark = recording.marks.find((one) => Math.abs(one.ns + 1 - near) <= 1);
  const live = format.bytes(least) === format.bytes(most) ? format.bytes(most) : `${format.bytes(least)} to ${format.bytes(most)}`;
  return <>{times.moment(ns)}: <b>{live}</b> live{test && <span class="dim"> · {test.name}</span>}{mark && <span class="dim"> · mark {mark.name}</span>}</>;
}

export function RecordingChart({ recording, times, interval, choose, onKeyDown, label }: {
  recording: Recording; times: Times; interval: Interval; choose: Choose; onKeyDown: (event: KeyboardEvent) => void; label: string;
}) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = { choose: useRef(choose), interval: useRef(interval) };
  latest.choose.current = choose;
  latest.interval.current = interval;
  const [hover, setHover] = useState<number | null>(null);
  const listen = useDragging(plot, recording, latest.interval, latest.choose);

  const showInterval = () => {
    const now = plot.current;
    if (!now) return;
    const [from, to] = latest.interval.current;
    const isWhole = from === 0 && to === recording.bins;
    const left = isWhole ? 0 : now.valToPos(recording.borders[from] / SECOND, 'x');
    const width = isWhole ? 0 : Math.max(now.valToPos(recording.borders[to] / SECOND, 'x') - left, 1);
    now.setSelect({ left, width, top: 0, height: isWhole ? 0 : now.bbox.height / devicePixelRatio }, false);
  };
  useEffect(() => {
    let stopListening = () => {};
    const build = () => {
      stopListening();
      plot.current?.destroy();
      plot.current = newPlot(host.current!, recording, showInterval, setHover);
      stopListening = listen(plot.current.over);
    };
    build();
    const observer = new ResizeObserver(() => {
      const { clientWidth: width = 0, clientHeight: height = 0 } = host.current ?? {};
      if (plot.current && width > 0 && (width !== plot.current.width || height !== plot.current.height)) {
        plot.current.setSize({ width, height });
        showInterval();
      }
    });
    observer.observe(host.current!);
    const stop = onThemeChange(build);
    return () => {
      stop();
      observer.disconnect();
      stopListening();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [recording]);
  useEffect(showInterval, [interval[0], interval[1]]);

  return (
    <>
      <div class="chart recorded" role="group" aria-label="Interval: arrow keys move it, with Shift its end; Home and End lead to begin and end, Escape back to the whole" tabIndex={0} onKeyDown={onKeyDown}>
        <div class="plot" ref={host} role="img" aria-label={label} />
      </div>
      <p class="hover" aria-hidden="true"><Hovered recording={recording} times={times} ns={hover} /></p>
    </>
  );
}
