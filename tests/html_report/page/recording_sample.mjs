// Pages of recordings to look at: the template with JSON in it, of the shape that recording_page.cpp writes.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { scratchFolder } from './sample.mjs';
import { Tables, inCache, inLibrary, inMap, inOpen, pageWith } from './snapshot_sample.mjs';

export const BINS = 100;
const BEFORE = -1; // a birth
export const AFTER = 'after'; // deaths
export const NEVER = 'never';

const base64Of = (bytes) => Buffer.from(bytes).toString('base64');

// page_lives.h describes them. `lives`: { birth, death, stack, decade, bytes, blocks, temporary: [bytes, blocks] }.
export function encode(lives, bins) {
  const bytes = [];
  const number = (value) => {
    let left = value;
    for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
    bytes.push(left);
  };
  const deathOf = ({ death }) => (death === NEVER ? bins + 2 : death === AFTER ? bins + 1 : death + 1);
  const rows = lives.map((one) => ({ ...one, birth: one.birth + 1, death: deathOf(one) }))
    .sort((a, b) => a.birth - b.birth || a.death - b.death || a.stack - b.stack || a.decade - b.decade);
  let last = { birth: 0, death: 0, stack: 0 };
  for (const row of rows) {
    const isNewBirth = row.birth !== last.birth;
    if (isNewBirth) last.death = 0;
    const isNewDeath = row.death !== last.death;
    if (isNewBirth || isNewDeath) last.stack = 0;
    const [temporaryBytes, temporaryBlocks] = row.temporary ?? [0, 0];
    const isAll = temporaryBytes === row.bytes && temporaryBlocks === row.blocks;
    const isPart = !isAll && temporaryBlocks > 0;
    bytes.push((row.decade ?? 0) | (isNewBirth ? 0x10 : 0) | (isNewDeath ? 0x20 : 0) | (isAll ? 0x40 : 0) | (isPart ? 0x80 : 0));
    if (isNewBirth) number(row.birth - last.birth);
    if (isNewDeath) number(row.death - last.death);
    number(row.stack - last.stack);
    number(row.bytes);
    number(row.blocks);
    if (isPart) { number(temporaryBytes); number(temporaryBlocks); }
    last = { birth: row.birth, death: row.death, stack: row.stack };
  }
  return base64Of(bytes);
}

// In bins of a tenth of a second. Lives with the same array of frames are of one stack.
export const shopLives = () => [
  { frames: inLibrary, birth: BEFORE, death: 5, bytes: 64, blocks: 1 },
  { frames: inCache, birth: 10, death: 89, bytes: 30_000, blocks: 3, decade: 7 },
  { frames: inOpen, birth: 15, death: NEVER, bytes: 40_040, blocks: 40 },
  { frames: inMap, birth: 20, death: 50, bytes: 10_000, blocks: 100, decade: 7 },
  { frames: inMap, birth: 45, death: 45, bytes: 5_000, blocks: 500, decade: 0, temporary: [4_000, 400] },
  { frames: inMap, birth: 70, death: 95, bytes: 1_000, blocks: 10, decade: 7 },
];

const siteOf = (frames) => [...frames].reverse().findIndex((one) => one.file !== '') + 1;

// What is live in each bin at its end.
function liveOver(lives, bins) {
  const changes = Array.from({ length: bins }, () => ({ bytes: 0, blocks: 0 }));
  const add = (bin, { bytes, blocks }, sign) => {
    changes[bin].bytes += sign * bytes;
    changes[bin].blocks += sign * blocks;
  };
  for (const one of lives) {
    add(Math.max(one.birth, 0), one, 1);
    if (typeof one.death === 'number') add(one.death, one, -1);
  }
  const live = { bytes: 0, blocks: 0 };
  return changes.map(({ bytes, blocks }) => {
    live.bytes += bytes;
    live.blocks += blocks;
    return { ...live };
  });
}

// `tests` and `marks`: names and moments in seconds.
export function recording({
  lives = shopLives(), bins = BINS, seconds = 10, values = {}, problems = [], leftOut = 0, siteCount, sources = [], moreTests = 0, moreMarks = 0,
  tests = [['ShopTest.First', 1, 4], ['ShopTest.Second', 4, 9]], marks = [['loaded', 2.5]],
} = {}) {
  const tables = new Tables();
  const ns = seconds * 1e9;
  const borders = Array.from({ length: bins + 1 }, (_, index) => Math.round((ns * index) / bins));
  const sites = new Map();
  const rows = [[-1, 0, 0, 0]];
  const stacks = new Map();
  for (const { frames, end } of lives) {
    if (stacks.has(frames)) continue;
    const at = siteOf(frames);
    const user = [...frames].reverse()[at - 1];
    const name = user ? user.func : 'no call stack';
    if (!sites.has(name)) sites.set(name, [tables.string(name), tables.string(user ? `${user.file}:${user.line}` : ''), user ? 1 : 0]);
    stacks.set(frames, rows.length);
    rows.push([tables.stack(frames), at, end ? tables.string(end) : 0, [...sites.keys()].indexOf(name) + 1]);
  }
  const live = liveOver(lives, bins);
  const peaks = live.map(({ bytes, blocks }, bin) => [bytes, blocks, borders[bin], tables.string('ShopTest.First')]);
  if (leftOut > 0) rows.push([-1, 0, 0, 1]);
  const numbered = lives.map((one) => ({ ...one, stack: stacks.get(one.frames) }));
  if (leftOut > 0) numbered.push({ birth: 1, death: NEVER, stack: rows.length - 1, bytes: 500, blocks: 5, decade: 0 });
  return pageWith({
    recording: {
      file: 'run.recording', image: '/home/me/project/build/shop', name: '/home/me/project/build/shop', pid: 4242, occasion: '', command_line: ['./shop', 'requests'], test: '',
      begun: '2026-11-25T09:47:05Z', length_ns: ns, host: 'builder', kernel: 'Linux 6.1 x86_64', leakgate_version: '0.1.0', events: 1_308, lost_events: 0,
      waits: 0, waited_ns: 0, missing: [], missing_spans: [], interval: { from: 'begin', to: 'end' }, shown: '', options: [], lost_since_ns: null, is_incomplete: false, is_cut_off: false,
      ...values,
    },
    borders, peaks, lives: encode(numbered, bins),
    curve: { step_ns: ns / bins, points: live.flatMap(({ bytes }) => [bytes, bytes]) },
    tests: { count: tests.length + moreTests, rows: tests.map(([name, begin, end]) => [tables.string(name), begin * 1e9, end * 1e9]) },
    marks: { count: marks.length + moreMarks, rows: marks.map(([name, at]) => [tables.string(name), at * 1e9]) },
    sites: { count: siteCount ?? sites.size, rows: [...sites.values()] },
    live: { stacks: stacks.size + leftOut, left_out: leftOut, rows },
    ...tables.members(sources), problems,
  });
}

// As many lives as a page has at most, of many stacks, at all times.
export function largeRecording(stacks) {
  const bins = 1024;
  const all = stacks.map(({ frames }) => frames);
  let seed = 1;
  const below = (end) => { seed = (seed * 16_807) % 2_147_483_647; return seed % end; };
  const lives = new Map();
  while (lives.size < 600_000) {
    const birth = below(bins);
    const death = below(3) === 0 ? Math.min(birth + below(bins), bins - 1) : birth;
    const stack = below(all.length);
    const decade = below(8);
    lives.set(((birth * bins + death) * all.length + stack) * 8 + decade, { frames: all[stack], birth, death, decade, bytes: 16 + below(5_000), blocks: 1 + below(20) });
  }
  return recording({ lives: [...lives.values()], bins, seconds: 600, tests: Array.from({ length: 500 }, (_, index) => [`Suite.Test${index}`, index, index + 0.9]) });
}

const leakgate = () => join(process.env.LEAKGATE_BIN, 'leakgate');

// A real recording of tests, its page, and what `leakgate recording show` tells of it.
export function realRecording() {
  const folder = scratchFolder();
  const [file, page] = [join(folder, 'run.recording'), join(folder, 'run.html')];
  execFileSync(leakgate(), ['record', '-q', '-o', file, '--', join(process.env.LEAKGATE_FIXTURES, 'windows_untouched')], { stdio: 'ignore' });
  execFileSync(leakgate(), ['recording', 'export', file, '--format', 'html', '-o', page, '--source-root', process.env.LEAKGATE_SOURCE_DIR]);
  const show = (...options) => JSON.parse(execFileSync(leakgate(), ['recording', 'show', file, '--json', '--top', '3', ...options], { encoding: 'utf8' })).recording.interval;
  return { page, show };
}
