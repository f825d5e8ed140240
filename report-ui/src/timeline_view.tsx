// Live bytes over time, with a band for each test; an interval tells what its tests left.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { CallSiteTable } from './call_site_table';
import { callSites } from './call_sites';
import * as format from './format';
import type { Report, Run } from './model';
import { Fact, Section, Select, TestAnchor, VerdictMark } from './parts';
import { testCount } from './programs';
import { change, type Route } from './route';
import { colour, onThemeChange } from './theme';
import { impactOf, timelineOf, type Timeline } from './timeline_series';

const POWERS_OF_TWO = Array.from({ length: 48 }, (_, exponent) => 2 ** exponent);
const WHOLE_STEPS = [1, 2, 5].flatMap((step) => Array.from({ length: 7 }, (_, exponent) => step * 10 ** exponent)).sort((a, b) => a - b);
const EXACT_SECONDS = [format.seconds, (value: number) => `${value} s`];
const STRIP = 8; // pixels of the strip of verdicts below the plot

function drawBands(plot: uPlot, timeline: Timeline): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const colours: Record<string, string> = {
    over_budget: colour('--bad'), inconclusive: colour('--uncertain'), unconfirmed: colour('--unconfirmed'),
    pass: colour('--good'), skipped: colour('--faint'), not_gated: colour('--faint'),
  };
  const stripe = colour('--band');
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  timeline.bands.forEach((band, index) => {
    const left = plot.valToPos(band.begin, 'x', true);
    const right = plot.valToPos(band.end, 'x', true);
    if (right < bbox.left || left > bbox.left + bbox.width) return;
    const width = Math.max(right - left, ratio);
    if (index % 2 === 0 && right - left > 3 * ratio) {
      ctx.fillStyle = stripe;
      ctx.fillRect(left, bbox.top, width, bbox.height);
    }
    const isQuiet = ['pass', 'skipped', 'not_gated'].includes(band.window.verdict);
    if (!isQuiet) {
      ctx.globalAlpha = 0.14;
      ctx.fillStyle = colours[band.window.verdict];
      ctx.fillRect(left, bbox.top, width, bbox.height);
      ctx.globalAlpha = 1;
    }
    ctx.fillStyle = colours[band.window.verdict] ?? stripe;
    ctx.globalAlpha = isQuiet ? 0.45 : 1;
    ctx.fillRect(left, bbox.top + bbox.height - STRIP * ratio, width, STRIP * ratio);
    ctx.globalAlpha = 1;
  });
  ctx.restore();
}

interface PlotHandlers {
  onSelect: (from: number, to: number) => void;
  onHover: (x: number | null) => void;
}

function newPlot(host: HTMLElement, timeline: Timeline, handlers: PlotHandlers): uPlot {
  const axis = {
    stroke: colour('--dim'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1, size: 4 },
    font: '11px system-ui, sans-serif',
  };
  const options: uPlot.Options = {
    width: Math.max(host.clientWidth, 200),
    height: host.clientHeight || 300,
    legend: { show: false },
    scales: { x: { time: false }, y: { range: (_, min, max) => {
      const room = Math.max((max - min) * 0.08, 16);
      return [timeline.isLive || min < 0 ? min - room : 0, max + room];
    } } },
    cursor: { drag: { x: true, y: false, setScale: false }, y: false, points: { size: 7 } },
    series: [{}, {
      stroke: colour('--accent'), width: 1.5, fill: colour('--accent-faint'), points: { show: timeline.x.length < 60, size: 5 },
    }],
    axes: [
      {
        ...axis, size: 28, ...(timeline.isTimed ? {} : { incrs: WHOLE_STEPS }),
        values: (_, ticks) => format.distinctLabels(ticks, timeline.isTimed ? EXACT_SECONDS : [format.grouped]),
      },
      { ...axis, size: 70, incrs: POWERS_OF_TWO, values: (_, ticks) => format.distinctLabels(ticks, format.EXACT_BYTES) },
    ],
    hooks: {
      drawAxes: [(plot) => drawBands(plot, timeline)],
      setSelect: [(plot) => {
        const { left, width } = plot.select;
        if (width < 2) return;
        handlers.onSelect(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
      }],
      setCursor: [(plot) => {
        const left = plot.cursor.left ?? -1;
        handlers.onHover(left < 0 ? null : plot.posToVal(left, 'x'));
      }],
    },
  };
  return new uPlot(options, [timeline.x, timeline.y], host);
}

// The indices of the first and the last test of the interval.
function edgesOf(timeline: Timeline, from: number, to: number): [number, number] {
  const inside = timeline.bands.map((band, index) => [band, index] as const).filter(([band]) => band.end > from && band.begin < to);
  if (inside.length === 0) return [0, timeline.bands.length - 1];
  return [inside[0][1], inside[inside.length - 1][1]];
}

function Chart({ timeline, interval, onSelect, label }: {
  timeline: Timeline; interval: [number, number] | null; onSelect: (from: number, to: number) => void; label: string;
}) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = useRef(onSelect);
  latest.current = onSelect;
  const [hover, setHover] = useState<number | null>(null);
  const shown = useRef<[number, number] | null>(null);

  const showInterval = () => {
    const now = plot.current;
    if (!now) return;
    const range = shown.current;
    const left = range ? now.valToPos(range[0], 'x') : 0;
    const width = range ? Math.max(now.valToPos(range[1], 'x') - left, 1) : 0;
    now.setSelect({ left, width, top: 0, height: now.over.clientHeight }, false);
  };
  useEffect(() => {
    const build = () => {
      plot.current?.destroy();
      plot.current = newPlot(host.current!, timeline, {
        onSelect: (from, to) => latest.current(from, to),
        onHover: setHover,
      });
      showInterval();
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
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [timeline]);
  useEffect(() => {
    shown.current = interval;
    showInterval();
  }, [timeline, interval?.[0], interval?.[1]]);

  const band = hover === null ? undefined : timeline.bands.find((one) => one.begin <= hover && hover <= one.end);
  return (
    <>
      <div class="chart" ref={host} role="img" aria-label={label} />
      <p class="hover" aria-hidden="true">
        {band
          ? <><VerdictMark verdict={band.window.verdict} /> <b>{band.window.name}</b> <span class="dim">growth {format.signedBytes(band.window.growth.bytes)}, outstanding {format.amount(band.window.outstanding)}</span></>
          : <span class="dim">Drag across the chart to select an interval.</span>}
      </p>
    </>
  );
}

export function TimelineView({ report, route }: { report: Report; route: Route }) {
  // One test alone is no course of time.
  const runs = report.runs.filter((one) => testCount(one) > 1);
  const run = runs.find((one) => one.index === Number(route.get('run') || 1) - 1) ?? runs[0];
  return run ? <RunTimeline report={report} route={route} run={run} runs={runs} /> : (
    <div class="page timeline">
      <header class="page-head"><h1 tabIndex={-1} id="page-title">Timeline</h1></header>
      <p class="quiet">{report.tests.length === 0 ? 'No test ran.' : report.runs.length === 1
        ? 'One test alone draws no timeline.' : 'Each test ran in a process of its own: there is no timeline that they share.'}</p>
    </div>
  );
}

function RunTimeline({ report, route, run, runs }: { report: Report; route: Route; run: Run; runs: Run[] }) {
  const timeline = useMemo(() => timelineOf(run), [run]);
  const last = timeline.bands.length - 1;
  const hasInterval = route.get('from') !== '' || route.get('to') !== '';
  const bound = (text: string, otherwise: number) => {
    const value = text === '' ? otherwise : Number(text) - 1;
    return Number.isFinite(value) ? Math.min(Math.max(Math.trunc(value), 0), Math.max(last, 0)) : otherwise;
  };
  const from = bound(route.get('from'), 0);
  const to = Math.max(bound(route.get('to'), last), from);
  const select = (first: number, end: number, step: 'push' | 'replace') =>
    change({ from: first + 1, to: end + 1 }, step);

  const interval = useMemo<[number, number] | null>(
    () => (timeline.bands.length > 0 ? [timeline.bands[from].begin, timeline.bands[to].end] : null), [timeline, from, to]);
  const impact = useMemo(() => {
    const tests = timeline.bands.slice(from, to + 1);
    return impactOf({ ...timeline, bands: tests }, -Infinity, Infinity);
  }, [timeline, from, to]);
  const sites = useMemo(() => callSites(report, impact.tests, 'users'), [report, impact]);
  const largest = useMemo(
    () => impact.tests.filter((test) => test.outstanding.bytes > 0 || test.growth.bytes !== 0)
      .sort((a, b) => b.outstanding.bytes - a.outstanding.bytes || b.growth.bytes - a.growth.bytes), [impact]);

  const what = timeline.isLive ? 'Live heap bytes of the process' : 'Growth of the tests, accumulated';
  const over = timeline.isTimed ? 'seconds since the program’s start' : 'tests in their order';
  return (
    <div class="page timeline">
      <header class="page-head">
        <h1 tabIndex={-1} id="page-title">Timeline</h1>
        <p class="dim">{what}, over {over}</p>
        {runs.length > 1 && (
          <Select label="Run" value={String(run.index + 1)} onChange={(value) => change({ run: value, from: '', to: '' })}
            options={runs.map((one) => [String(one.index + 1), `${one.index + 1} ${format.fileName(one.binary)}`])} />
        )}
      </header>
      <>
          <section class="panel" aria-label="Chart">
            <Chart timeline={timeline} interval={hasInterval ? interval : null}
              label={`${what} over ${over}: ${format.count(timeline.bands.length, 'test')}`}
              onSelect={(begin, end) => select(...edgesOf(timeline, begin, end), 'push')} />
            <div class="edges" role="group" aria-label="Interval">
              <label><span class="label">From</span>
                <input type="range" id="from" min={0} max={last} value={from} aria-valuetext={timeline.bands[from].window.name}
                  onInput={(event) => { const value = Number(event.currentTarget.value); select(value, Math.max(value, to), 'replace'); }} />
                <output for="from">{timeline.bands[from].window.name}</output>
              </label>
              <label><span class="label">To</span>
                <input type="range" id="to" min={0} max={last} value={to} aria-valuetext={timeline.bands[to].window.name}
                  onInput={(event) => { const value = Number(event.currentTarget.value); select(Math.min(from, value), value, 'replace'); }} />
                <output for="to">{timeline.bands[to].window.name}</output>
              </label>
              <button type="button" class="button" disabled={!hasInterval} onClick={() => change({ from: '', to: '' })}>Whole run</button>
            </div>
          </section>
          <div role="status" class="impact">
            <dl class="tiles">
              <Fact name="Tests in the interval">{format.grouped(impact.tests.length)}</Fact>
              <Fact name="Outstanding" note={`${format.count(impact.outstanding.blocks, 'block')} (the impacting size)`}>{format.bytes(impact.outstanding.bytes)}</Fact>
              <Fact name="Growth" note={format.signedCount(impact.growth.blocks, 'block')}>{format.signedBytes(impact.growth.bytes)}</Fact>
              {impact.live !== null && <Fact name="Live, end minus begin">{format.signedBytes(impact.live)}</Fact>}
              {timeline.isTimed && interval && <Fact name="Duration" note={`from ${format.seconds(interval[0])}`}>{format.seconds(interval[1] - interval[0])}</Fact>}
            </dl>
          </div>
          <div class="columns">
            <Section title="Tests in the interval that left something" id="interval-tests" aside={format.grouped(largest.length)}>
              {largest.length === 0 ? <p class="quiet">None.</p> : (
                <table class="plain">
                  <thead><tr><th scope="col">Test</th><th scope="col" class="number">Outstanding</th><th scope="col" class="number optional">Growth</th></tr></thead>
                  <tbody>
                    {largest.slice(0, 15).map((test) => (
                      <tr key={test.id}>
                        <th scope="row"><div class="named"><VerdictMark verdict={test.verdict} short /> <TestAnchor window={test} /></div></th>
                        <td class="number">{format.bytes(test.outstanding.bytes)}</td>
                        <td class="number optional">{format.signedBytes(test.growth.bytes)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              )}
              {largest.length > 15 && <p class="more">and {format.count(largest.length - 15, 'more test')}</p>}
            </Section>
            <Section title="Call sites in the interval" id="interval-sites" aside={format.grouped(sites.length)}>
              {sites.length > 0
                ? <CallSiteTable report={report} sites={sites} most={12} caption="Call sites of the interval by bytes" />
                : <p class="quiet">None.</p>}
            </Section>
          </div>
      </>
    </div>
  );
}
