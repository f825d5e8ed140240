// The page of a snapshot, and that of the difference between two.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open, status } from './browser.mjs';
import * as sample from './snapshot_sample.mjs';

let browser;
let snapshot;
let difference;
before(async () => {
  browser = await launch();
  snapshot = sample.snapshot();
  difference = sample.difference();
});
after(() => browser.close());

const title = (page) => page.locator('h1').textContent();
const rows = (page, of = '') => page.locator(`${of} .site-rows > li`).evaluateAll((all) => all.map((one) => [
  ...[...one.querySelectorAll('summary .site-numbers > *')].map((cell) => cell.textContent), one.querySelector('summary .function').textContent,
  ...[...one.querySelectorAll('summary .tag')].map((tag) => tag.textContent)]));
const treeRows = (page) => page.locator('.call-tree tbody tr').evaluateAll((all) => all.map((row) => [
  Number(row.getAttribute('aria-level')), row.querySelector('.function, .more-rows').textContent, row.cells[1].textContent]));
const go = (page, fragment) => page.goto(`${page.url().split('#')[0]}${fragment}`);

test('a snapshot says what it is, and whose blocks are live', async () => {
  const { page, close } = await open(browser, snapshot);
  assert.equal(await title(page), 'shop (PID 4242): 152 KiB in 285 blocks live');
  assert.equal(await page.title(), 'Overview · shop, PID 4242 · leakgate');
  assert.match(await page.locator('.hero-why').textContent(), /taken 2026-11-25 09:47:05 UTC.*all blocks are of one moment/);
  assert.deepEqual((await rows(page)).slice(0, 3), [
    ['137 KiB', '90 %', '140 blocks', 'shop::Sessions::Open'], ['9.66 KiB', '6.4 %', '141 blocks', 'shop::Sessions::Of'],
    ['4.00 KiB', '2.6 %', '1 block', 'shop::Cache::Fill']]);
  assert.match(await page.locator('.site-rows .call-site').first().textContent(), /shop::Sessions::Open\(\).*sessions\.cc:28/);
  await close();
});

test('what is not judged is grey, and what is incomplete is said and never green', async () => {
  const colours = (page) => page.evaluate(() => {
    const probe = document.createElement('i');
    probe.style.color = 'var(--good)';
    document.body.append(probe);
    const glyph = document.querySelector('.hero .glyph');
    return { good: getComputedStyle(probe).color, glyph: getComputedStyle(glyph).backgroundColor, word: document.querySelector('.hero .verdict').textContent };
  });
  const whole = await open(browser, snapshot);
  const grey = await colours(whole.page);
  assert.match(grey.word, /snapshot/);
  assert.notEqual(grey.glyph, grey.good);
  assert.equal(await whole.page.locator('.notice').count(), 0);
  await whole.close();
  const early = 'what was allocated before 2026-11-25 09:47:03 UTC, when tracing began';
  const lost = '12 events could not be recorded (map_full)';
  for (const [missing, word] of [[[early], /snapshot|difference/], [[early, lost], /incomplete/]]) {
    for (const path of [sample.snapshot({ values: { missing } }), sample.difference({ values: { missing: missing.map((line) => `before.snapshot: ${line}`) } })]) {
      const part = await open(browser, path);
      const shown = await colours(part.page);
      assert.match(shown.word, word);
      assert.equal(shown.glyph !== grey.glyph, missing.includes(lost));
      assert.notEqual(shown.glyph, shown.good);
      assert.match(await part.page.locator('.notice.uncertain').textContent(), /Missing from .*what was allocated before/);
      await part.close();
    }
  }
});

test('tables of one group are left out, others tell the share of each', async () => {
  const path = sample.snapshot({ groups: {
    thread: [['the main thread (shop)', '', 150_000, 280], ['thread 4243 (worker)', '', 5_148, 5]],
    window: [['ShopTest.First', 'began 2.1 s before, still open', 150_000, 280], ['the program', '', 5_148, 5]],
  }, mapped: [{ frames: sample.inCache, bytes: 65_536, blocks: 2, reserved: 4096 }], freed: [{ frames: sample.inMap, bytes: 300, blocks: 3 }] });
  const { page, close } = await open(browser, path);
  assert.deepEqual(await page.locator('.panels h2').allTextContents(), ['Block sizes', 'By thread', 'By test']);
  assert.match(await page.locator('section:has(#by-thread) tbody').textContent(), /the main thread \(shop\).*146 KiB.*97 %.*280/);
  assert.match(await page.locator('section:has(#mapped)').textContent(), /64\.0 KiB2 mappings.*shop::Cache::Fill.*4\.00 KiB only reserved/);
  assert.match(await page.locator('section:has(#freed)').textContent(), /since tracing began.*300 B3 blocks/);
  assert.match(await page.locator('.site-body').first().textContent(), /allocated several times: first in ShopTest\.First, last in ShopTest\.Last/);
  assert.deepEqual(await page.locator('.sizes tbody tr').evaluateAll((all) => all.map((row) => [row.cells[0].textContent, row.cells[2].textContent])),
    [['17 B – 32 B', '1'], ['513 B – 1.00 KiB', '284']]);
  await close();
});

test('call sites are searched and ordered, by keyboard alone', async () => {
  const { page, close } = await open(browser, snapshot);
  await page.keyboard.press('/');
  await page.waitForFunction(() => document.activeElement.id === 'search');
  await page.keyboard.type('sessions');
  assert.match(await status(page), /^2 of 5 call sites: 147 KiB in 281 blocks/);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.locator('.site-rows li:nth-child(2) .stack').waitFor();
  assert.match(await page.locator('.site-rows li:nth-child(2) .call-site').textContent(), /sessions\.cc:19/);
  await page.keyboard.press('ArrowUp');
  assert.match(await page.evaluate(() => document.activeElement.textContent), /Sessions::Open/);
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelectorAll('.site-rows > li').length === 5);
  await page.click('button:has-text("by blocks")');
  assert.equal((await rows(page))[0][3], 'shop::Sessions::Of');
  await go(page, '#view=sites&q=nowhere');
  assert.match(await page.locator('main').textContent(), /No call site is like that/);
  await close();
});

test('the call tree is walked by keyboard, and adds up', async () => {
  const { page, close } = await open(browser, snapshot, '#view=tree');
  const all = await treeRows(page);
  assert.deepEqual(all.slice(0, 3), [[1, 'main', '151 KiB'], [2, 'shop::Serve', '147 KiB'], [3, 'shop::Sessions::Of', '147 KiB']]);
  assert.deepEqual(all.filter(([level]) => level === 1).map(([, name]) => name), ['main', 'no frame of yours', 'stack not taken: --stacks']);
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  const focused = () => page.evaluate(() => [document.activeElement.querySelector('.function').textContent, document.activeElement.getAttribute('aria-expanded')]);
  await page.locator('.call-tree tbody tr').first().focus();
  assert.deepEqual(await focused(), ['main', 'true']);
  await press('ArrowLeft');
  assert.deepEqual(await focused(), ['main', 'false']);
  assert.equal((await treeRows(page)).length, 3);
  await press('ArrowRight', 'ArrowRight');
  assert.deepEqual(await focused(), ['shop::Serve', 'true']);
  await press('ArrowDown', 'End', 'Home', 'ArrowDown', 'ArrowLeft', 'ArrowLeft');
  assert.deepEqual(await focused(), ['main', 'true']);
  await press('Enter');
  assert.deepEqual(await focused(), ['main', 'false']);
  await page.click('button:has-text("all frames")');
  assert.ok((await treeRows(page)).some(([, name]) => name === '_start'));
  await close();
});

test('a frame of many callees shows the largest, and the others on request', async () => {
  const stacks = Array.from({ length: 150 }, (_, index) => ({ frames: [...sample.outer, sample.frame(`f${index}()`, '/src/f.cc', index + 1)], bytes: 1000 - index, blocks: 1 }));
  const { page, close } = await open(browser, sample.snapshot({ stacks }), '#view=tree');
  assert.equal((await treeRows(page)).at(-1)[1], '130 more callees');
  await page.click('.more-rows');
  assert.equal((await treeRows(page)).at(-1)[1], '30 more callees');
  await close();
});

test('the flame graph of a snapshot has what is live, and no frame is wider than its share', async () => {
  const { page, close } = await open(browser, snapshot, '#view=flame');
  assert.match(await page.locator('.frame.root').textContent(), /all · 152 KiB/);
  const overlap = await page.locator('.frame').evaluateAll((all) => {
    const boxes = all.map((one) => one.getBoundingClientRect());
    return boxes.filter((a) => boxes.some((b) => a !== b && Math.abs(a.top - b.top) < 2 && a.left < b.left && a.right > b.left + 1.5)).length;
  });
  assert.equal(overlap, 0);
  await page.fill('#search', 'sessions');
  assert.match(await status(page), /147 KiB: 97 % match/);
  await close();
});

test('what a page leaves out is said, and where all of it is', async () => {
  const values = { file: "it's now.snapshot" };
  const whole = await open(browser, sample.snapshot({ leftOut: [63_112, 1_258_291, 63_112], siteCount: 2_345, values }));
  assert.match(await whole.page.locator('.notice-line').textContent(),
    /the 5 largest of 63,117 call stacks; 1\.20 MiB in 63,112 blocks .*leakgate snapshot show 'it'\\''s now\.snapshot' --group-by stack --top 63117/);
  for (const view of ['tree', 'flame']) {
    await go(whole.page, `#view=${view}`);
    assert.match(await whole.page.locator('.notice-line').textContent(), /largest of 63,117 call stacks/);
  }
  await go(whole.page, '#view=sites');
  assert.match(await whole.page.locator('.notice-line').textContent(), /2,340 smaller call sites are not listed here.*--group-by site --top 2345/);
  await whole.close();
  const part = await open(browser, sample.difference({ leftOut: [10, 0, 0, 500, 5, 500, 5, 0, 0] }));
  assert.match(await part.page.locator('.notice-line').textContent(), /those 4 of 14 changed call stacks that changed most.*\+500 B \(\+5 blocks\).*leakgate snapshot diff before\.snapshot after\.snapshot --json/);
  await part.close();
});

test('nothing live, and nothing that matches, is said', async () => {
  const nothing = await open(browser, sample.snapshot({ stacks: [], sizes: [] }));
  assert.equal(await title(nothing.page), 'shop (PID 4242): nothing is live');
  for (const view of ['sites', 'tree', 'flame']) {
    await go(nothing.page, `#view=${view}`);
    assert.match(await nothing.page.locator('main').textContent(), /Nothing is live/);
  }
  await nothing.close();
  const unmatched = await open(browser, sample.snapshot({ stacks: [], sizes: [], values: { filter: 'that match Pool', live: { bytes: 64, blocks: 1 } } }));
  assert.match(await unmatched.page.locator('main').textContent(), /0 B in 0 blocks that match Pool.*Nothing matches\. A pattern is a glob/);
  await unmatched.close();
});

test('a difference tells both directions by signs and words', async () => {
  const { page, close } = await open(browser, difference);
  assert.equal(await title(page), 'Live memory grew by 19.5 KiB (+178 blocks) in 61.00 s');
  assert.deepEqual(await rows(page, 'section:has(#grown)'), [
    ['+39.1 KiB', '+40 blocks', 'shop::Sessions::Open', '97.8 KiB → 137 KiB'], ['+9.66 KiB', '+141 blocks', 'shop::Sessions::Of', 'new']]);
  assert.deepEqual(await rows(page, 'section:has(#shrunk)'), [['−29.3 KiB', '−3 blocks', 'shop::Cache::Fill', 'gone: was 29.3 KiB in 3 blocks']]);
  assert.match(await page.locator('main').textContent(), /1 call site replaced what it had by as much/);
  assert.match(await page.locator('.site-body').first().textContent(), /97\.8 KiB in 100 blocks allocated in between, and still live; 58\.7 KiB in 60 blocks gone/);
  const tones = await page.evaluate(() => ['.grown', '.shrunk'].map((one) => getComputedStyle(document.querySelector(`.site-numbers ${one}`)).color));
  assert.notEqual(tones[0], tones[1]);
  assert.match(await page.locator('.tiles').textContent(), /Appeared107 KiB.*Gone88\.0 KiB.*Kept39\.1 KiB/);
  await close();
});

test('changes are filtered by what became of them', async () => {
  const { page, close } = await open(browser, difference, '#view=sites');
  assert.match(await status(page), /^4 call sites: \+19\.5 KiB \(\+178 blocks\)/);
  const names = { grown: 2, shrunk: 1, new: 1, gone: 1, replaced: 1 };
  for (const [of, count] of Object.entries(names)) {
    await page.locator('select').selectOption(of);
    assert.equal((await rows(page)).length, count, of);
  }
  assert.equal((await rows(page))[0].at(-1), 'replaced by as much');
  await close();
});

test('the tree and the flame graph of a difference have signs, patterns and a legend', async () => {
  const { page, close } = await open(browser, difference, '#view=tree');
  assert.deepEqual((await treeRows(page)).slice(0, 3), [[1, 'main', '+19.5 KiB'], [2, 'shop::Serve', '+48.8 KiB'], [3, 'shop::Sessions::Of', '+48.8 KiB']]);
  assert.ok((await treeRows(page)).some(([, name, growth]) => name === 'shop::Cache::Fill' && growth === '−29.3 KiB'));
  await page.click('button:has-text("appeared")');
  assert.deepEqual((await treeRows(page))[0], [1, 'main', '107 KiB']);
  await go(page, '#view=flame');
  assert.match(await page.locator('.flame-legend').textContent(), /grown \+.*shrunk −/);
  assert.match(await page.locator('.frame.root').getAttribute('aria-label'), /\+19\.5 KiB \(\+178 blocks\).*48\.8 KiB grown, 29\.3 KiB shrunk/);
  const labels = await page.locator('.frame.user > span').allTextContents();
  assert.deepEqual(labels.slice(0, 3), ['± main', '+ shop::Serve', '− shop::Cache::Fill']);
  const patterns = await page.evaluate(() => ['.part-grown', '.part-shrunk'].map((one) => getComputedStyle(document.querySelector(`.frame ${one}`)).backgroundImage));
  assert.ok(patterns.every((one) => one.includes('gradient')) && patterns[0] !== patterns[1]);
  await page.click('button:has-text("gone")');
  assert.match(await page.locator('.frame.root').textContent(), /all · 88\.0 KiB/);
  await close();
});

test('two processes are compared by call site, and nothing is said of single blocks', async () => {
  const stacks = sample.shopChanges().slice(0, 3).map((one) => ({ ...one, appeared: [0, 0], gone: [0, 0] }));
  const path = sample.difference({ stacks, values: {
    same_process: false, seconds_between: -7200, compared: 'two processes: call sites are compared, by function and file, since lines may have moved' } });
  const { page, close } = await open(browser, path);
  assert.equal(await title(page), 'The second has 19.5 KiB more live (+178 blocks)');
  assert.match(await page.locator('.hero-why').textContent(), /the second was taken 2 h 0 min before the first.*lines may have moved/);
  assert.doesNotMatch(await page.locator('.tiles').textContent(), /Appeared/);
  await go(page, '#view=flame');
  assert.equal(await page.locator('button:has-text("appeared")').count(), 0);
  await close();
});

test('a difference of nothing says so, and what was mapped is told apart', async () => {
  const same = await open(browser, sample.difference({ stacks: [], kept: [100, 2] }));
  assert.equal(await title(same.page), 'As much is live as 61.00 s before');
  assert.match(await same.page.locator('main').textContent(), /Nothing has changed/);
  await same.close();
  const mapped = await open(browser, sample.difference({ mapped: [{ frames: sample.inCache, before: [4096, 1], after: [12_288, 3], appeared: [8192, 2] }] }));
  assert.match(await mapped.page.locator('section:has(#mapped)').textContent(), /\+8\.00 KiB \(\+2 mappings\), besides what is live.*\+8\.00 KiB\+2 mappings/);
  await mapped.close();
});

test('a screen reader finds landmarks, names and levels on both pages', async () => {
  for (const path of [snapshot, difference]) {
    const { page, close } = await open(browser, path, '#view=tree');
    assert.equal(await page.getByRole('main').count(), 1);
    assert.equal(await page.getByRole('navigation', { name: 'Views' }).count(), 1);
    assert.equal(await page.getByRole('treegrid').count(), 1);
    for (const view of ['overview', 'sites', 'tree', 'flame']) {
      await go(page, `#view=${view}`);
      await page.locator('#page-title').waitFor();
      const unnamed = await page.evaluate(() => [...document.querySelectorAll('button, a, input, select, summary, [role=treeitem]')]
        .filter((one) => !one.textContent.trim() && !one.getAttribute('aria-label') && !one.labels?.length).length);
      assert.equal(unnamed, 0, view);
      assert.equal(await page.locator('h1').count(), 1, view);
    }
    await close();
  }
});

test('every control of both pages is reached by Tab and shows that it is', async () => {
  for (const [path, names] of [[snapshot, ['Call tree', 'Search functions and files', 'by blocks']], [difference, ['Flame graph', 'Search functions and files']]]) {
    const { page, close } = await open(browser, path, '#view=sites');
    const seen = new Set();
    for (let times = 0; times < 40; times += 1) {
      await page.keyboard.press('Tab');
      const one = await page.evaluate(() => {
        const element = document.activeElement;
        return { name: element.getAttribute('aria-label') ?? element.textContent, isMarked: getComputedStyle(element).outlineStyle !== 'none', isBody: element === document.body };
      });
      if (one.isBody) break;
      assert.ok(one.isMarked, `${one.name} shows no focus`);
      seen.add(one.name);
    }
    for (const name of names) assert.ok(seen.has(name), name);
    await close();
  }
});

test('the keys lead to the views, and Help tells them', async () => {
  const { page, close } = await open(browser, snapshot);
  for (const [key, name] of [['2', 'Call sites'], ['3', 'Call tree'], ['4', 'Flame graph']]) {
    await page.keyboard.press(key);
    assert.equal(await title(page), name);
  }
  await page.keyboard.press('?');
  assert.match(await page.locator('dialog').textContent(), /overview, call sites, call tree, flame graph/);
  await page.keyboard.press('Escape');
  await page.keyboard.press('1');
  assert.match(await title(page), /live/);
  await go(page, '#view=timeline'); // of another page
  assert.match(await title(page), /live/);
  await close();
});

test('pages of real snapshots show the test’s blocks with their source', async () => {
  const [end, diff] = sample.realPages();
  const first = await open(browser, end, '#view=sites&q=windows.cpp');
  const found = await rows(first.page);
  assert.ok(found.some(([bytes]) => bytes === '200 B'), JSON.stringify(found));
  await first.page.locator('.site-rows li:has(summary:has-text("200 B")) summary').click();
  await first.page.locator('.source .hit').waitFor();
  assert.match(await first.page.locator('.source .hit').textContent(), /of a test/);
  await first.close();
  const second = await open(browser, diff, '#view=sites&of=new&q=windows.cpp');
  assert.ok((await rows(second.page)).some(([growth]) => growth === '+200 B'));
  await second.close();
});
