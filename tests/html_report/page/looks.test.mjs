// Pictures of every view, dark and light, on a desk, a phone and on paper. A person may
// look at them in `screenshots`; what a program can tell of them is checked here.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { launch, open } from './browser.mjs';
import * as recordings from './recording_sample.mjs';
import * as sample from './sample.mjs';
import * as snapshots from './snapshot_sample.mjs';

const VIEWS = { overview: '#', tests: '#view=tests', timeline: '#view=timeline', flame: '#view=flame', test: '#test=HttpTest.Case3', cause: '#cause=1' };
const SNAPSHOT_VIEWS = { overview: '#', sites: '#view=sites', tree: '#view=tree', flame: '#view=flame' };
const SCREENS = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  phone: { viewport: { width: 375, height: 740 }, colorScheme: 'light' },
  'phone-dark': { viewport: { width: 375, height: 740 }, colorScheme: 'dark' },
};
const RECORDING_VIEWS = { overview: '#from=20&to=60', sites: '#view=sites&of=total', tree: '#view=tree&of=total', flame: '#view=flame&of=total' };
const FOLDER = 'screenshots';

let browser;
let path;
let pages; // by name: its path, and its views
before(async () => {
  mkdirSync(FOLDER, { recursive: true });
  browser = await launch();
  path = sample.report([sample.usualRun()], { baseline: [sample.earlierRun()] });
  const missing = ['what was allocated before 2026-11-25 09:47:03 UTC, when tracing began'];
  const groups = { thread: [['the main thread (shop)', '', 150_000, 280], ['thread 4243 (worker)', '', 5_148, 5]] };
  const sources = [['/home/me/project/src/sessions.cc', 24, '', ' private:', '  static std::unique_ptr<Session> Open() {', '    auto session = std::make_unique<Session>();',
    '    session->history.reserve(1000);', '    return session;', '  }', '']];
  pages = [
    ['', path, VIEWS],
    ['snapshot-', snapshots.snapshot({ groups, sources, mapped: [{ frames: snapshots.inCache, bytes: 65_536, blocks: 2, reserved: 4096 }] }), SNAPSHOT_VIEWS],
    ['difference-', snapshots.difference({ sources, values: { missing } }), SNAPSHOT_VIEWS],
    ['recording-', recordings.recording({ sources, values: { missing: ['12 events lost, in 1 span from 6.000 s to 6.500 s'], missing_spans: [{ begin_ns: 6e9, end_ns: 6.5e9 }], lost_since_ns: 6e9 } }), RECORDING_VIEWS],
  ];
});
after(() => browser.close());

// Width and height are in a PNG's header.
const sizeOf = (png) => ({ width: png.readUInt32BE(16), height: png.readUInt32BE(20) });

async function coloursOf(page, png) {
  return page.context().newPage().then(async (blank) => {
    const colours = await blank.evaluate(async (base64) => {
      const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      const words = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
      const counted = new Map();
      for (const word of words) counted.set(word, (counted.get(word) ?? 0) + 1);
      return { distinct: counted.size, commonest: Math.max(...counted.values()) / words.length };
    }, png.toString('base64'));
    await blank.close();
    return colours;
  });
}

for (const [screen, options] of Object.entries(SCREENS)) {
  test(`is a picture on: ${screen}`, async () => {
    for (const [of, file, views] of pages) {
      const { page, close } = await open(browser, file, '', options);
      for (const [view, fragment] of Object.entries(views)) {
        await page.goto(`${page.url().split('#')[0]}${fragment}`);
        await page.waitForTimeout(60);
        const name = `${FOLDER}/${of}${view}-${screen}`;
        const png = await page.screenshot({ path: `${name}.png` });
        assert.deepEqual(sizeOf(png), options.viewport, view);
        const { distinct, commonest } = await coloursOf(page, png);
        assert.ok(distinct > 60 && commonest < 0.97, `${of}${view}: ${distinct} colours, one on ${commonest}`);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${of}${view} is ${overflow} pixels too wide`);
        if (!screen.endsWith('dark')) await page.screenshot({ path: `${name}-full.png`, fullPage: true });
      }
      await close();
    }
  });
}

test('is readable on paper', async () => {
  const { page, close } = await open(browser, path, '#view=tests', { ...SCREENS.dark, viewport: { width: 760, height: 1000 } });
  await page.emulateMedia({ media: 'print' });
  await page.waitForFunction(() => document.querySelectorAll('.grid tbody .test-name').length === 31);
  assert.equal(await page.locator('.toolbar').isVisible(), false);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
  const png = await page.screenshot({ path: `${FOLDER}/tests-print.png`, fullPage: true });
  assert.equal(sizeOf(png).width, 760);
  await page.goto(`${page.url().split('#')[0]}#test=HttpTest.Case3`);
  await page.screenshot({ path: `${FOLDER}/test-print.png`, fullPage: true });
  const pdf = await page.pdf({ path: `${FOLDER}/test.pdf` });
  assert.ok(pdf.length > 5000);
  await close();
});

test('pages of snapshots are readable on paper, with what is folded away', async () => {
  for (const [of, file] of pages.slice(1)) {
    const { page, close } = await open(browser, file, '#view=sites&of=total', { ...SCREENS.dark, viewport: { width: 760, height: 1000 } });
    assert.equal(await page.locator('.site-rows .stack').count(), 0);
    await page.emulateMedia({ media: 'print' });
    await page.waitForFunction(() => document.querySelectorAll('.site-rows .stack').length >= 3);
    assert.equal(await page.locator('.toolbar').isVisible(), false);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
    await page.screenshot({ path: `${FOLDER}/${of}sites-print.png`, fullPage: true });
    await page.goto(`${page.url().split('#')[0]}#view=flame`);
    const hidden = await page.locator('.flame-scroll').evaluate((one) => one.scrollHeight - one.clientHeight);
    assert.ok(hidden <= 0, `${hidden} pixels of the flame graph are not on paper`);
    assert.ok((await page.pdf({ path: `${FOLDER}/${of}flame.pdf` })).length > 5000);
    await close();
  }
});

test('on a phone every filter is wide enough to read', async () => {
  const runs = ['build/http_test', 'build/disk_test'].map((binary) => sample.run(sample.usualRun().windows, { binary }));
  const { page, close } = await open(browser, sample.report(runs), '#view=tests', SCREENS.phone);
  const widths = await page.locator('select').evaluateAll((all) => all.map((one) => one.clientWidth));
  assert.equal(widths.length, 3);
  for (const width of widths) assert.ok(width >= 100, `${width} pixels`);
  await close();
});

test('long names break instead of widening a phone', async () => {
  const long = 'VeryLongNameWithoutAnyPlaceToBreakIt'.repeat(8);
  const stack = [sample.frame(`ns::${long}<${long}>::Make()`, `/src/${long}/${long}.cc`, 12)];
  const one = sample.failing(`${long}.${long}`, {
    component: long, findings: [sample.finding({ stack, user_frame: 0, holder: `${long} -> ${long}` })],
    violations: [sample.violation({ file: `/budgets/${long}.json`, reason: long })],
  });
  const headOf = (page) => page.locator('.top').evaluate((one) => [one.querySelector('.brand').getBoundingClientRect().top, one.querySelector('.top-end').getBoundingClientRect().bottom, one.querySelector('nav').getBoundingClientRect().top]);
  const wide = sample.report([sample.run([one], { reasons: [long], binary: `/bin/${long}` })]);
  const { page, close } = await open(browser, wide, '', SCREENS.phone);
  for (const fragment of ['#', '#cause=1', '#view=tests', '#view=timeline', '#view=flame', `#test=${long}.${long}`]) {
    await page.goto(`${page.url().split('#')[0]}${fragment}`);
    await page.waitForTimeout(30);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${fragment.slice(0, 20)} is ${overflow} pixels too wide`);
    const [brand, end, nav] = await headOf(page);
    assert.ok(end - brand < 48 && nav >= end - 8, 'the name leaves room for the buttons beside it');
  }
  await close();
});

test('long names of snapshots and recordings break instead of widening a phone', async () => {
  const long = 'VeryLongNameWithoutAnyPlaceToBreakIt'.repeat(8);
  const frames = [...snapshots.outer, ...Array.from({ length: 40 }, (_, depth) => snapshots.frame(`ns::${long}<${long}>::Make${depth}()`, `/src/${long}/${long}.cc`, 12, `/bin/${long}`))];
  const values = { missing: [long], filter: `that match ${long}`, image: `/bin/${long}`, file: `${long}.snapshot`, occasion: long };
  const groups = Object.fromEntries(['module', 'thread', 'window', 'kind'].map((by) => [by, [[long, long, 10, 1], [`other${long}`, '', 10, 1]]]));
  const one = snapshots.snapshot({
    stacks: [{ frames, bytes: 1e12, blocks: 1e9, first: long, last: `x${long}` }], values, groups, problems: [[long, long]], leftOut: [1e9, 1e12, 1e9], siteCount: 1e9,
    sizes: [[2 ** 20 + 1, 2 ** 21, 1e12, 1e9]], mapped: [{ frames, bytes: 1e12, blocks: 1e6, reserved: 1e9 }],
  });
  const recorded = recordings.recording({
    lives: [{ frames, birth: 3, death: recordings.NEVER, bytes: 1e12, blocks: 1e9 }, { frames: [...frames], birth: 5, death: 7, decade: 6, bytes: 1e12, blocks: 1e9 }],
    values: { missing: [long], shown: long, image: `/bin/${long}`, name: `/bin/${long}`, file: `${long}.recording`, test: long, command_line: [long, long], interval: { from: long, to: long } },
    problems: [[long, long]], leftOut: 1e6, siteCount: 1e6, tests: [[`${long}.${long}`, 1, 4], [`${long}.b`, 4, 4.001]], marks: [[long, 2], [long, 2.1]], seconds: 1e6,
  });
  const change = { frames, before: [1e12, 1e9], after: [2e12, 3e9], appeared: [2e12, 3e9], gone: [1e12, 1e9] };
  const two = snapshots.difference({ stacks: [change], mapped: [change], values: { missing: [long], problems: [long], filter: `that match ${long}` }, leftOut: [1e9, 1e12, 1, 2e12, 1, 0, 0, 0, 0] });
  for (const [file, views] of [[one, SNAPSHOT_VIEWS], [two, SNAPSHOT_VIEWS], [recorded, RECORDING_VIEWS]]) {
    const { page, close } = await open(browser, file, '', SCREENS.phone);
    for (const fragment of Object.values(views)) {
      await page.goto(`${page.url().split('#')[0]}${fragment}`);
      await page.waitForTimeout(30);
      await page.evaluate(() => { for (const one of document.querySelectorAll('details')) one.open = true; });
      await page.waitForTimeout(30);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${fragment} is ${overflow} pixels too wide`);
      // What is wider than its panel is cut, or scrolls by itself.
      const cut = await page.evaluate(() => [...document.querySelectorAll('.panel, .hero, .tiles, .notice, .notice-line')].filter((one) => (
        one.scrollWidth > one.clientWidth + 1)).map((one) => one.className));
      assert.deepEqual(cut, [], fragment);
    }
    await close();
  }
});
