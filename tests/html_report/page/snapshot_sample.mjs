// Pages of snapshots and of differences to look at: the template with JSON in it, of the shape that
// snapshot_page.cpp and diff_page.cpp write. What the writers make of real files, their own tests tell.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratchFolder } from './sample.mjs';

const template = () => readFileSync(join(process.env.LEAKGATE_SOURCE_DIR, 'runner/report/formats/html_template.html'), 'utf8');

// The path of a page.
export function pageWith(json) {
  const page = join(scratchFolder(), 'page.html');
  const text = JSON.stringify(json).replaceAll('<', '\\u003c');
  writeFileSync(page, template().replace('@LEAKGATE_REPORT@', () => text));
  return page;
}

const USERS = 2;

export const frame = (func, file = '', line = 0, module = '/home/me/project/build/shop') => ({ func, file, line, module });

// Outermost first, as every stack of the samples begins.
export const outer = [frame('_start'), frame('main', '/home/me/project/src/main.cc', 50)];

export class Tables {
  strings = [''];
  frames = [];
  stacks = [0, 0];
  #strings = new Map([['', 0]]);
  #frames = new Map();
  #nodes = new Map();

  string(text) {
    if (!this.#strings.has(text)) {
      this.#strings.set(text, this.strings.length);
      this.strings.push(text);
    }
    return this.#strings.get(text);
  }
  // Outermost first.
  stack(frames) {
    let node = 0;
    for (const { func, file, line, module } of frames) {
      const key = JSON.stringify([func, file, line, module]);
      if (!this.#frames.has(key)) {
        this.#frames.set(key, this.frames.length / 6);
        this.frames.push(this.string(func), this.string(file), line, this.string(module), this.string('0x1a'), file ? USERS : 0);
      }
      const below = `${node} ${this.#frames.get(key)}`;
      if (!this.#nodes.has(below)) {
        this.#nodes.set(below, this.stacks.length / 2);
        this.stacks.push(node, this.#frames.get(key));
      }
      node = this.#nodes.get(below);
    }
    return node;
  }
  members(sources = []) {
    return { strings: this.strings, frames: this.frames, stacks: this.stacks, patterns: [[]], sources };
  }
}

const facts = (values = {}) => ({
  file: 'now.snapshot', image: '/home/me/project/build/shop', pid: 4242, generation: 1, occasion: '',
  lines: [['taken', '2026-11-25 09:47:05 UTC, 2.06 s after tracing began'], ['command', './shop requests'], ['machine', 'builder, Linux 6.1 x86_64; leakgate 0.1.0'],
    ['state', 'all blocks are of one moment']],
  ...values,
});

// The index of the user's innermost frame, counted from 1, innermost first; 0: none.
const siteOf = (frames) => [...frames].reverse().findIndex((one) => one.file !== '') + 1;
const placeOf = (one) => (one.line > 0 ? `${one.file}:${one.line}` : one.file);

// The sites of `stacks`, in their order; adds the site's number to each stack.
function sitesOf(stacks) {
  const sites = new Map();
  for (const stack of stacks) {
    const at = siteOf(stack.frames);
    const site = at > 0 ? [...stack.frames].reverse()[at - 1] : null;
    const [name, place] = site ? [site.func, placeOf(site)] : [stack.end === 'not_taken' ? 'stack not taken (--stacks)' : 'no call stack was recorded', ''];
    const key = `${name}\n${place}`;
    if (!sites.has(key)) sites.set(key, { name, place, isUsers: site !== null, number: sites.size + 1, stacks: [] });
    sites.get(key).stacks.push(stack);
    Object.assign(stack, { at, site: sites.get(key) });
  }
  return [...sites.values()];
}

const total = (stacks, key) => stacks.reduce((sum, one) => sum + one[key], 0);

// `stacks`: { frames: outermost first, bytes, blocks, first, last, end }, the largest first.
export function snapshot({ stacks = shopStacks(), values = {}, groups = {}, sizes, mapped = [], freed = null, problems = [], sources = [],
  leftOut = [0, 0, 0], siteCount } = {}) {
  const tables = new Tables();
  const sites = sitesOf(stacks);
  const [bytes, blocks] = [total(stacks, 'bytes'), total(stacks, 'blocks')];
  const others = (rows) => ({
    count: rows.length,
    rows: rows.map(({ frames, bytes: size, blocks: count, reserved = 0 }) => {
      const at = siteOf(frames);
      const site = [...frames].reverse()[at - 1];
      return [tables.string(site.func), tables.string(placeOf(site)), size, count, reserved, tables.stack(frames), at, 0];
    }),
  });
  const table = (by, rows) => ({
    by, title: by, groups: rows.length, rest: [0, 0], rows: rows.map(([name, place, ...numbers]) => [tables.string(name), tables.string(place), ...numbers]),
  });
  const usual = { module: [['/home/me/project/build/shop', '', bytes, blocks]], thread: [['the main thread (shop)', '', bytes, blocks]], window: [['the program', '', bytes, blocks]] };
  const json = {
    snapshot: {
      ...facts(), missing: [], filter: '', stack_depth: 256, live: { bytes, blocks }, shown: [bytes, blocks],
      allocated: { bytes: 2 * bytes, blocks: 2 * blocks }, freed: { bytes, blocks },
      mapped: { bytes: total(mapped, 'bytes'), reserved_bytes: 0, mappings: total(mapped, 'blocks') }, ...values,
    },
    sites: {
      count: siteCount ?? sites.length,
      rows: sites.map((site) => [tables.string(site.name), tables.string(site.place), total(site.stacks, 'bytes'), total(site.stacks, 'blocks'),
        tables.string(site.stacks[0].first ?? 'the program'), tables.string(site.stacks[0].last ?? 'the program'), site.isUsers ? 1 : 0]),
    },
    live: {
      stacks: stacks.length + leftOut[0], left_out: leftOut,
      rows: stacks.map((one) => [tables.stack(one.frames), one.at, one.end ? tables.string(one.end) : 0, one.site.number, one.bytes, one.blocks]),
    },
    tables: Object.entries({ ...usual, ...groups }).map(([by, rows]) => table(by, rows)),
    sizes: sizes ?? [[17, 32, 32, 1], [513, 1024, bytes - 32, blocks - 1]],
    mapped: others(mapped),
    freed: freed && others(freed),
  };
  return pageWith({ ...json, ...tables.members(sources), problems });
}

const numbersOf = ({ before = [0, 0], after = [0, 0], appeared = [0, 0], gone = [0, 0] }) => [...before, ...after, ...appeared, ...gone];
const addUp = (changes) => changes.map(numbersOf).reduce((sum, one) => sum.map((value, at) => value + one[at]), [0, 0, 0, 0, 0, 0, 0, 0]);

// `stacks`: { frames, before, after, appeared, gone }, pairs of bytes and blocks.
export function difference({ stacks = shopChanges(), values = {}, mapped = [], kept = [0, 0], leftOut = [0, 0, 0, 0, 0, 0, 0, 0, 0], sources = [], siteCount } = {}) {
  const tables = new Tables();
  const sites = sitesOf(stacks);
  const growth = (site) => { const numbers = addUp(site.stacks); return numbers[2] - numbers[0]; };
  const rank = (site) => (growth(site) > 0 ? 0 : growth(site) < 0 ? 1 : 2);
  sites.sort((a, b) => rank(a) - rank(b) || Math.abs(growth(b)) - Math.abs(growth(a)));
  sites.forEach((site, index) => { site.number = index + 1; });
  const sum = addUp([...stacks, { before: kept, after: kept }]);
  const json = {
    difference: {
      from: facts({ file: 'before.snapshot' }), to: facts({ file: 'after.snapshot' }), same_process: true,
      compared: 'one process, 61.00 s apart: blocks are compared one by one', seconds_between: 61, filter: '', missing: [], problems: [],
      total: sum, mapped: addUp(mapped), ...values,
    },
    sites: {
      count: siteCount ?? sites.length,
      rows: sites.map((site) => [tables.string(site.name), tables.string(site.place), site.isUsers ? 1 : 0, ...addUp(site.stacks)]),
    },
    changes: {
      stacks: stacks.length + leftOut[0], left_out: leftOut,
      rows: stacks.map((one) => [tables.stack(one.frames), one.at, one.end ? tables.string(one.end) : 0, one.site.number, ...numbersOf(one)]),
    },
    mapped_sites: {
      count: mapped.length,
      rows: mapped.map((one) => {
        const at = siteOf(one.frames);
        const site = [...one.frames].reverse()[at - 1];
        return [tables.string(site.func), tables.string(placeOf(site)), 1, ...numbersOf(one), tables.stack(one.frames), at, 0];
      }),
    },
  };
  return pageWith({ ...json, ...tables.members(sources) });
}

const at = (line, func) => frame(func, '/home/me/project/src/sessions.cc', line);
const serve = [...outer, at(38, 'shop::Serve(shop::Sessions&, std::string const&)')];
export const inOpen = [...serve, at(20, 'shop::Sessions::Of(std::string const&)'), at(28, 'shop::Sessions::Open()'), frame('operator new(unsigned long)')];
export const inMap = [...serve, at(19, 'shop::Sessions::Of(std::string const&)'), frame('std::_Hashtable::_M_insert')];
export const inCache = [...outer, frame('shop::Cache::Fill(int)', '/home/me/project/src/cache.cc', 7)];
export const inLibrary = [frame('start_thread'), frame('g_thread_new', '', 0, '/usr/lib/libglib-2.0.so.0')];

export const shopStacks = () => [
  { frames: inOpen, bytes: 140_140, blocks: 140, first: 'ShopTest.First', last: 'ShopTest.Last' },
  { frames: inMap, bytes: 9_896, blocks: 141, first: 'ShopTest.First', last: 'ShopTest.First' },
  { frames: inCache, bytes: 4_096, blocks: 1 },
  { frames: inLibrary, bytes: 1_000, blocks: 2 },
  { frames: [], bytes: 16, blocks: 1, end: 'not_taken' },
];

export const shopChanges = () => [
  { frames: inOpen, before: [100_100, 100], after: [140_140, 140], appeared: [100_100, 100], gone: [60_060, 60] },
  { frames: inMap, before: [0, 0], after: [9_896, 141], appeared: [9_896, 141], gone: [0, 0] },
  { frames: inCache, before: [30_000, 3], after: [0, 0], appeared: [0, 0], gone: [30_000, 3] },
  { frames: inLibrary, before: [64, 1], after: [64, 1], appeared: [64, 1], gone: [64, 1] },
];

// Many stacks, all of them different, the largest first.
export function manyStacks(count) {
  const stacks = [];
  for (let index = 0; index < count; index += 1) {
    const frames = [...outer];
    for (let depth = 0; depth < 14; depth += 1) {
      const which = (index >> depth) % 7;
      frames.push(frame(`project::module${which}::Function${(index * 7 + depth * which) % 900}<std::vector<int>>(int, long)`, `/home/me/project/src/module${which}/file${index % 90}.cc`, 10 + depth));
    }
    stacks.push({ frames, bytes: 10 * (count - index) + 16, blocks: 1 + (index % 9) });
  }
  return stacks;
}

// Real snapshots of a test, and what leakgate makes of them: [page of the end, page of the difference].
export function realPages() {
  const folder = scratchFolder();
  const leakgate = join(process.env.LEAKGATE_BIN, 'leakgate');
  execFileSync(leakgate, ['run', '--quiet', '--snapshots', folder, '--when=every', '--confirm=off', '--warn-only', '--',
    join(process.env.LEAKGATE_FIXTURES, 'windows_untouched'), '--gtest_filter=Amounts.AllocatesAndFrees'], { stdio: 'ignore' });
  const [begin, end] = readdirSync(folder).sort().map((name) => join(folder, name));
  const pages = [join(folder, 'end.html'), join(folder, 'difference.html')];
  const sources = ['--source-root', process.env.LEAKGATE_SOURCE_DIR];
  execFileSync(leakgate, ['snapshot', 'export', end, '--format', 'html', '-o', pages[0], ...sources]);
  execFileSync(leakgate, ['snapshot', 'diff', begin, end, '--html', pages[1], ...sources], { stdio: 'ignore' });
  return pages;
}
