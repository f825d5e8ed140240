// The page of a recording: an interval is chosen, and everything follows it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open, status } from './browser.mjs';
import * as sample from './recording_sample.mjs';
import { frame, inMap, outer } from './snapshot_sample.mjs';

let browser;
let path;
before(async () => {
  browser = await launch();
  path = sample.recording();
});
after(() => browser.close());

const text = (page, selector) => page.locator(selector).first().textContent();
const interval = (page) => text(page, '.interval-text');
const tiles = (page) => page.locator('.tiles .fact').evaluateAll((all) => Object.fromEntries(all.map((one) => [
  one.querySelector('dt').textContent, [one.querySelector('dd').childNodes[0].textContent + [...one.querySelector('dd').childNodes].slice(1).filter((node) => node.nodeType === 3).map((node) => node.textContent).join(''),
    one.querySelector('.note')?.textContent ?? '']])));
const sites = (page) => page.locator('.site-rows > li').evaluateAll((all) => all.map((one) => [
  one.querySelector('.site-numbers > *').textContent, one.querySelector('.function').textContent]));
const lifetimes = (page) => page.locator('section:has(#lifetimes) tbody tr').evaluateAll((all) => all.map((row) => [row.cells[0].textContent, row.cells[2].textContent]));
const hash = (page) => page.evaluate(() => location.hash);
const go = (page, fragment) => page.goto(`${page.url().split('#')[0]}${fragment}`);
const until = (page, wanted) => page.waitForFunction((expected) => document.querySelector('.interval-text').textContent.startsWith(expected), wanted);

// Where a moment is on the chart.
async function xOf(page, seconds, whole = 10) {
  const box = await page.locator('.chart .u-over').boundingBox();
  return { x: box.x + (box.width * seconds) / whole, top: box.y, bottom: box.y + box.height };
}
async function press(page, from) {
  const at = await xOf(page, from);
  await page.mouse.move(at.x, at.top + 60);
  await page.mouse.down();
}
async function moveTo(page, to) {
  const at = await xOf(page, to);
  await page.mouse.move(at.x - 10, at.top + 60);
  await page.mouse.move(at.x, at.top + 60);
}
async function drag(page, from, to) {
  await press(page, from);
  await moveTo(page, to);
  await page.mouse.up();
}
// What is written on the chart from now on.
const watchCanvas = (page) => page.addInitScript(() => {
  window.drawn = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function record(words, x, y, ...rest) {
    window.drawn.push({ words, x, y });
    return fillText.call(this, words, x, y, ...rest);
  };
});

test('a recording says what it is, and what the whole of it allocated and left', async () => {
  const { page, close } = await open(browser, path);
  assert.equal(await text(page, 'h1'), 'shop (PID 4242): 84.0 KiB in 653 blocks allocated in 10.0 s');
  assert.equal(await page.title(), 'Overview · shop, PID 4242 · leakgate');
  assert.match(await text(page, '.hero-why'), /recorded from 2026-11-25 09:47:05 UTC on, for 10\.0 s/);
  assert.equal(await interval(page), 'Whole recording, 10.0 s');
  assert.deepEqual(await tiles(page), {
    Outstanding: ['39.1 KiB', '40 blocks: the impacting size'], Allocated: ['84.0 KiB', '653 blocks'], Temporary: ['3.91 KiB', '400 blocks, 61 % of them'],
    'Freed, from before': ['64 B', '1 block'], 'Live at begin, at end': ['64 B → 39.1 KiB', '1, 40 blocks'], Peak: ['78.2 KiB', '143 blocks, at 2.00 s, in ShopTest.First'],
  });
  assert.deepEqual(await sites(page), [['39.1 KiB', 'shop::Sessions::Open']]);
  assert.deepEqual(await lifetimes(page), [
    ['below 1 µs', '500'], ['1 – 10 µs', '0'], ['10 – 100 µs', '0'], ['100 µs – 1 ms', '0'], ['1 – 10 ms', '0'], ['10 – 100 ms', '0'], ['100 ms – 1 s', '0'], ['1 – 10 s', '113']]);
  assert.match(await text(page, '.frame.root'), /all · 39\.1 KiB/);
  await close();
});

test('what is dragged across is the interval, and all of the page follows at once', async () => {
  const { page, close } = await open(browser, path, '#of=total');
  await press(page, 4);
  await moveTo(page, 6);
  await until(page, '4.00 s to 6.00 s, 2.00 s'); // the button is still held
  assert.deepEqual((await tiles(page)).Allocated, ['4.88 KiB', '500 blocks']);
  assert.deepEqual(await sites(page), [['4.88 KiB', 'shop::Sessions::Of']]);
  assert.deepEqual((await lifetimes(page)).map(([, blocks]) => blocks), ['500', '0', '0', '0', '0', '0', '0', '0']);
  assert.match(await text(page, '.frame.root'), /all · 4\.88 KiB/);
  await moveTo(page, 8);
  await until(page, '4.00 s to 8.00 s');
  assert.deepEqual((await tiles(page)).Allocated, ['5.86 KiB', '510 blocks']);
  await page.mouse.up();
  await page.waitForFunction(() => /from=40&to=80/.test(location.hash));
  assert.deepEqual(await tiles(page), {
    Outstanding: ['1,000 B', '10 blocks: the impacting size; 1,000 B of it freed later'], Allocated: ['5.86 KiB', '510 blocks'], Temporary: ['3.91 KiB', '400 blocks, 78 % of them'],
    'Freed, from before': ['9.77 KiB', '100 blocks'], 'Live at begin, at end': ['78.2 KiB → 69.4 KiB', '143, 53 blocks'], Peak: ['78.2 KiB', '143 blocks, at 4.00 s, in ShopTest.First'],
  });
  await page.goBack();
  await until(page, 'Whole recording');
  await close();
});

test('of the whole, nothing is marked as chosen', async () => {
  const { page, close } = await open(browser, path);
  const height = () => page.locator('.chart .u-select').evaluate((one) => one.getBoundingClientRect().height);
  assert.equal(await height(), 0);
  await drag(page, 4, 6);
  await until(page, '4.00 s');
  assert.ok((await height()) > 100);
  await page.keyboard.press('Escape');
  await until(page, 'Whole recording');
  // The chart is drawn anew in a frame of its own, after the text.
  await page.waitForFunction(() => document.querySelector('.chart .u-select').getBoundingClientRect().height === 0);
  await close();
});

test('an edge of the interval can be taken hold of', async () => {
  const { page, close } = await open(browser, path, '#from=40&to=60');
  await drag(page, 6, 7.5);
  await until(page, '4.00 s to 7.50 s');
  await drag(page, 4, 2);
  await until(page, '2.00 s to 7.50 s');
  await drag(page, 8.5, 8.1); // backwards, and elsewhere
  await until(page, '8.10 s to 8.50 s');
  await close();
});

test('keys move the interval, and tell screen readers what it has', async () => {
  const { page, close } = await open(browser, path, '#from=40&to=60');
  await page.keyboard.press('i');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'chart recorded');
  assert.match(await page.locator('.chart.recorded').getAttribute('aria-label'), /arrow keys move it, with Shift its end/);
  const steps = [['ArrowRight', '4.10 s to 6.10 s'], ['ArrowLeft', '4.00 s to 6.00 s'], ['Shift+ArrowRight', '4.00 s to 6.10 s'], ['Shift+ArrowLeft', '4.00 s to 6.00 s'],
    ['Home', '0.00 s to 2.00 s'], ['ArrowLeft', '0.00 s to 1.90 s'], ['End', '8.10 s to 10.00 s'], ['ArrowRight', '8.20 s to 10.00 s']];
  for (const [key, wanted] of steps) {
    await page.keyboard.press(key);
    await until(page, wanted);
  }
  await page.waitForFunction(() => document.querySelector('.announcement').textContent.startsWith('8.20 s to 10.00 s, 1.80 s: 0 B in 0 blocks outstanding, 0 B in 0 blocks allocated'));
  assert.equal(await page.locator('.announcement').getAttribute('role'), 'status');
  assert.match(await hash(page), /from=82/);
  await page.keyboard.press('Escape');
  await until(page, 'Whole recording');
  await page.waitForFunction(() => document.querySelector('.announcement').textContent.startsWith('Whole recording, 10.0 s: 39.1 KiB in 40 blocks outstanding'));
  await close();
});

test('the ends have sliders of their own, told as moments', async () => {
  const { page, close } = await open(browser, path);
  await page.locator('#from').focus();
  for (let count = 0; count < 3; count += 1) await page.keyboard.press('ArrowRight');
  await until(page, '0.30 s to 10.00 s');
  assert.equal(await page.locator('#from').getAttribute('aria-valuetext'), '0.30 s');
  await page.locator('#to').focus();
  await page.keyboard.press('Home'); // it takes the other end with it
  await until(page, '0.00 s to 0.10 s');
  await page.keyboard.press('End');
  await until(page, 'Whole recording');
  await close();
});

test('a test is chosen from the list or by its slice, and the peak by its button', async () => {
  const { page, close } = await open(browser, path);
  await page.locator('.edge-buttons select').selectOption({ label: 'ShopTest.Second' });
  await until(page, '4.00 s to 9.00 s');
  const at = await xOf(page, 2);
  await page.mouse.click(at.x, at.bottom - 6);
  await until(page, '1.00 s to 4.00 s');
  assert.equal(await page.locator('.edge-buttons select').evaluate((one) => one.selectedOptions[0].textContent), 'ShopTest.First');
  await page.click('button:has-text("Whole recording")');
  await until(page, 'Whole recording');
  assert.equal(await page.locator('.edge-buttons select').inputValue(), '');
  await close();
});

test('each sum has its call sites, its tree and its flame graph', async () => {
  const wanted = { outstanding: '39.1 KiB', total: '84.0 KiB', temporary: '3.91 KiB', freed: '64 B', begin: '64 B', end: '39.1 KiB' };
  const { page, close } = await open(browser, path);
  for (const [of, bytes] of Object.entries(wanted)) {
    await page.locator('.toolbar.sums select').selectOption(of);
    await page.waitForFunction((expected) => document.querySelector('.frame.root').textContent === `all · ${expected}`, bytes);
    assert.match(await text(page, '.toolbar.sums p'), new RegExp(`: ${bytes.replace('.', '\\.')} in `));
  }
  await page.locator('.toolbar.sums select').selectOption('total');
  await page.locator('.site-rows summary').nth(2).click(); // the largest are Open and Fill
  assert.equal(await text(page, '.site-body > p'), '3.91 KiB in 400 blocks temporary; median lifetime below 1 µs');
  await page.click('nav a:has-text("Call tree")');
  assert.match(await hash(page), /of=total/);
  assert.match(await text(page, '.call-tree tbody tr'), /main.*84\.0 KiB/);
  assert.match(await text(page, '.call-tree thead'), /Allocated/);
  await close();
});

test('the interval holds in all views, and a zoom does not outlive it', async () => {
  const { page, close } = await open(browser, path, '#from=40&to=60&of=total');
  await page.keyboard.press('2');
  await page.waitForFunction(() => document.querySelector('h1').textContent === 'Call sites');
  await until(page, '4.00 s to 6.00 s');
  assert.match(await status(page), /^1 call site: 4\.88 KiB in 500 blocks/);
  await page.keyboard.press('4');
  await page.waitForFunction(() => document.querySelector('h1').textContent === 'Flame graph');
  await page.locator('.frame.user').first().click();
  await page.waitForFunction(() => location.hash.includes('zoom='));
  await drag(page, 1, 3);
  await until(page, '1.00 s to 3.00 s');
  assert.doesNotMatch(await hash(page), /zoom=/);
  await page.keyboard.press('Escape');
  await until(page, 'Whole recording');
  assert.match(await hash(page), /view=flame/);
  await close();
});

test('call sites are searched in the interval', async () => {
  const { page, close } = await open(browser, path, '#view=sites&of=total');
  await page.keyboard.press('/');
  await page.keyboard.type('cache');
  assert.match(await status(page), /^1 of 3 call sites: 29\.3 KiB in 3 blocks/);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.locator('.site-rows .stack').waitFor();
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelectorAll('.site-rows > li').length === 3);
  await close();
});

test('the chart names tests, marks and the peak, and no moment twice', async () => {
  for (const seconds of [1e-6, 0.013, 1, 10, 119, 121, 7_000, 200_000]) {
    const file = sample.recording({ seconds, tests: [['ShopTest.First', 0.1 * seconds, 0.5 * seconds]], marks: [['loaded', 0.6 * seconds], ['loaded', 0.601 * seconds]] });
    const { page, close } = await open(browser, file);
    await watchCanvas(page);
    await page.reload();
    await page.waitForFunction(() => window.drawn.some(({ words }) => words.startsWith('peak')));
    const drawn = await page.evaluate(() => window.drawn);
    const words = drawn.map((one) => one.words);
    assert.ok(words.includes('ShopTest.First') && words.includes('peak 78.2 KiB'), words.join());
    assert.equal(words.filter((one) => one === 'loaded').length, 1, 'a second one has no room');
    const bottom = Math.max(...drawn.map(({ y }) => y));
    const labels = drawn.filter(({ y }) => y === bottom).map((one) => one.words);
    assert.ok(labels.length >= 3, labels.join());
    assert.equal(new Set(labels).size, labels.length, labels.join());
    await close();
  }
});

test('what is missing is amber where it matters, and nothing is green', async () => {
  const values = { missing: ['12 events lost, in 1 span from 6.000 s to 6.500 s'], missing_spans: [{ begin_ns: 6e9, end_ns: 6.5e9 }], lost_since_ns: 6e9 };
  const { page, close } = await open(browser, sample.recording({ values }));
  assert.match(await text(page, '.hero .verdict'), /incomplete/);
  assert.match(await text(page, '.notice.uncertain'), /Missing from this recording12 events lost/);
  assert.match(await interval(page), /incomplete: events are missing/);
  await go(page, '#from=10&to=60'); // before they were lost
  await until(page, '1.00 s to 6.00 s, 5.00 s');
  assert.doesNotMatch(await interval(page), /incomplete/);
  await go(page, '#from=10&to=61');
  await until(page, '1.00 s to 6.10 s');
  assert.match(await interval(page), /incomplete/);
  const colours = await page.evaluate(() => {
    const probe = document.createElement('i');
    probe.style.color = 'var(--good)';
    document.body.append(probe);
    return { good: getComputedStyle(probe).color, all: [...document.querySelectorAll('*')].flatMap((one) => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor]) };
  });
  assert.equal(colours.all.filter((colour) => colour === colours.good).length, 1); // the probe's
  await close();
  const cut = await open(browser, sample.recording({ values: { missing: ['the recording was cut off'], is_cut_off: true } }));
  assert.match(await interval(cut.page), /incomplete/);
  await go(cut.page, '#to=99');
  await until(cut.page, '0.00 s to 9.90 s');
  assert.doesNotMatch(await interval(cut.page), /incomplete/);
  await cut.close();
  const unknown = await open(browser, sample.recording({ values: { missing: ['5 events lost'], is_incomplete: true } }), '#to=1');
  assert.match(await interval(unknown.page), /incomplete/);
  await unknown.close();
});

test('what the page leaves out is said, with the command that has it', async () => {
  const values = { file: "it's a.recording", interval: { from: 'test:Shop.All', to: 'end' }, shown: 'blocks of 1.0 KiB and more', options: ['--size', '1024..', '--filter', 'net::*'] };
  const { page, close } = await open(browser, sample.recording({ leftOut: 700, siteCount: 2_004, values, moreTests: 3, moreMarks: 1 }), '#to=50');
  assert.match(await text(page, '.interval'), /Not drawn: 3 more tests and 1 more mark\./);
  assert.match(await text(page, '.hero-why'), /only from 0\.00 s to 10\.00 s of it: from test:Shop\.All to end.*only blocks of 1\.0 KiB and more/);
  assert.match(await text(page, '.notice-line'),
    /the 4 largest of 704 call stacks; 500 B in 5 blocks outstanding of the others .*leakgate recording show 'it'\\''s a\.recording' --from test:Shop\.All --to 5\.000000000s --size 1024\.\. --filter 'net::\*' --group-by stack --weigh outstanding/);
  assert.equal((await tiles(page)).Outstanding[0], '78.7 KiB'); // with those
  await go(page, '#view=sites');
  assert.match(await page.locator('.notice-line').last().textContent(), /2,000 smaller call sites are not listed here.*--group-by site/);
  await close();
});

test('a recording of nothing, and an interval of nothing, say so', async () => {
  const { page, close } = await open(browser, sample.recording({ lives: [], tests: [], marks: [], bins: 1, seconds: 0 }));
  assert.match(await text(page, 'h1'), /0 B in 0 blocks allocated/);
  assert.match(await text(page, 'main'), /Nothing: what the interval allocated and did not free\..*Nothing was allocated and freed/);
  assert.equal(await page.locator('.edge-buttons select').count(), 0);
  await close();
  const quiet = await open(browser, path, '#from=97&to=99&of=total');
  for (const view of ['', 'sites', 'tree', 'flame']) {
    await go(quiet.page, `#from=97&to=99&of=total&view=${view}`);
    assert.match(await text(quiet.page, 'main'), /Nothing in this interval: all that the interval allocated\./);
  }
  await quiet.close();
});

test('places that a page does not have lead to the whole', async () => {
  for (const fragment of ['#from=-5&to=1e9', '#from=x&to=y', '#from=60&to=20', '#of=nothing']) {
    const { page, close } = await open(browser, path, fragment);
    assert.ok(/Whole recording|6\.00 s to 10\.00 s/.test(await interval(page)), fragment);
    await close();
  }
});

test('a real recording has the sums of `recording show`, as a whole and of a test', async () => {
  const { page: file, show } = sample.realRecording();
  const { page, close } = await open(browser, file);
  const shown = async () => {
    const all = await tiles(page);
    return Object.fromEntries(['Outstanding', 'Allocated', 'Temporary', 'Freed, from before'].map((name) => [name, Number(all[name][1].match(/^[\d,]+/)[0].replaceAll(',', ''))]));
  };
  const blocksOf = (one) => ({ Outstanding: one.inside_kept.blocks, Allocated: one.total.blocks, Temporary: one.temporary.blocks, 'Freed, from before': one.before_freed.blocks });
  assert.deepEqual(await shown(), blocksOf(show()));
  for (const name of ['Amounts.AllocatesAndFrees', 'Amounts.Replaces']) {
    await page.locator('.edge-buttons select').selectOption({ label: name });
    await page.waitForFunction(() => !document.querySelector('.interval-text').textContent.startsWith('Whole'));
    const wanted = show('--test', name);
    assert.deepEqual(await shown(), blocksOf(wanted), name);
    assert.ok(wanted.total.bytes > 0);
  }
  await page.locator('.toolbar.sums select').selectOption('total');
  await page.locator('.site-rows li:has(.position:text("windows.cpp")) summary').first().click();
  await page.locator('.site-body .source').first().waitFor();
  await close();
});

// The tree has names that are long and the same at many places.
test('frames of a drag are the large ones, and all of them when it rests', async () => {
  const lives = Array.from({ length: 400 }, (_, index) => ({ frames: [...outer, frame(`f${index}()`, '/src/f.cc', index + 1), ...inMap.slice(2)], birth: 10, death: sample.NEVER, bytes: 1000 + index, blocks: 1 }));
  const { page, close } = await open(browser, sample.recording({ lives }), '#view=flame&of=total');
  const count = () => page.locator('.frame').count();
  const all = await count();
  assert.ok(all > 400, `${all} frames`);
  await press(page, 0.5);
  await moveTo(page, 6);
  await until(page, '0.50 s to 6.00 s');
  assert.ok((await count()) < 20);
  await page.mouse.up();
  await page.waitForFunction((wanted) => document.querySelectorAll('.frame').length === wanted, all);
  await close();
});
