// The timeline of one run: live bytes at the ends of its tests. Pure.
import type { Run, Window } from './model';

export interface Band {
  window: Window;
  begin: number;
  end: number;
}

export interface Timeline {
  isTimed: boolean; // the x axis is seconds; else the order of the tests
  isLive: boolean; // the y axis is the process's live bytes; else accumulated growth
  x: number[];
  y: number[];
  bands: Band[]; // tests, in order
}

export function timelineOf(run: Run): Timeline {
  const tests = run.windows.filter((window) => window.kind === 'test');
  const isTimed = tests.length > 0 && tests.every((test) => test.begin !== null && test.end !== null);
  const isLive = tests.length > 0 && tests.every((test) => test.liveBegin !== null && test.liveEnd !== null);
  if (isTimed) tests.sort((a, b) => a.begin! - b.begin!);
  const timeline: Timeline = { isTimed, isLive, x: [], y: [], bands: [] };
  let grown = 0;
  tests.forEach((window, index) => {
    const begin = isTimed ? window.begin! : index;
    const end = isTimed ? Math.max(window.end!, begin) : index + 1;
    timeline.bands.push({ window, begin, end });
    timeline.x.push(begin, end);
    timeline.y.push(isLive ? window.liveBegin! : grown);
    grown += window.growth.bytes;
    timeline.y.push(isLive ? window.liveEnd! : grown);
  });
  return timeline;
}

export interface Impact {
  tests: Window[];
  growth: { bytes: number; blocks: number };
  outstanding: { bytes: number; blocks: number };
  live: number | null; // live bytes at the last test's end minus at the first's begin
}

// Of the tests that run in the interval.
export function impactOf(timeline: Timeline, from: number, to: number): Impact {
  const bands = timeline.bands.filter((band) => band.end > from && band.begin < to);
  const impact: Impact = {
    tests: bands.map((band) => band.window),
    growth: { bytes: 0, blocks: 0 },
    outstanding: { bytes: 0, blocks: 0 },
    live: null,
  };
  for (const { growth, outstanding } of impact.tests) {
    impact.growth.bytes += growth.bytes;
    impact.growth.blocks += growth.blocks;
    impact.outstanding.bytes += outstanding.bytes;
    impact.outstanding.blocks += outstanding.blocks;
  }
  if (timeline.isLive && bands.length > 0) {
    impact.live = bands[bands.length - 1].window.liveEnd! - bands[0].window.liveBegin!;
  }
  return impact;
}
