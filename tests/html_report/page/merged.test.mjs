// Merged runs: by program where each test had a process, and over time where there is a history.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, names, open } from './browser.mjs';
import * as sample from './sample.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

// As CTest runs two binaries: a process a test.
const ctest = () => [...Array.from({ length: 6 }, (_, index) => sample.run([index === 2 ? sample.failing(`A.T${index}`) : sample.test(`A.T${index}`)])),
  sample.run([sample.test('B.T0')], { binary: 'build/disk_test' })];

test('a process a test is told by program', async () => {
  const { page, close } = await open(browser, sample.report(ctest()));
  assert.equal(await page.locator('.program').textContent(), '2 programs');
  assert.deepEqual(await page.locator('section:has(#runs) tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))),
    [['✕failed', 'build/http_test', '6', '6', '1'], ['✓pass', 'build/disk_test', '1', '1', '0']]);
  await page.click('section:has(#runs) a:has-text("disk_test")');
  assert.deepEqual(await names(page), ['B.T0']);
  await page.selectOption('select:has(option:text-is("all programs"))', { label: 'http_test' });
  assert.equal((await names(page)).length, 6);
  assert.equal(await page.locator('option:has-text("all runs")').count(), 0);
  await page.goto(`${page.url().split('#')[0]}#test=A.T2`);
  assert.doesNotMatch(await page.locator('.hero').textContent(), /run \d|timeline/);
  await close();
});

test('one test alone has no timeline', async () => {
  const { page, close } = await open(browser, sample.report(ctest()), '#view=timeline');
  assert.equal(await page.locator('.chart').count(), 0);
  assert.match(await page.locator('main').textContent(), /Each test ran in a process of its own: there is no timeline that they share/);
  await close();
  const mixed = await open(browser, sample.report([...ctest(), sample.usualRun()]), '#view=timeline');
  await mixed.page.locator('.chart .u-over').waitFor();
  assert.equal(await mixed.page.locator('.page-head select').count(), 0);
  await mixed.close();
});

// The labels that a canvas draws are read where they are drawn.
test('no axis repeats a label', async () => {
  const close_together = (begin, step) => sample.run(Array.from({ length: 6 }, (_, index) => sample.test(`A.T${index}`, {
    begin_seconds: 100 + index * step, end_seconds: 100 + index * step + step / 2,
    live_bytes: { begin: begin + index * 8, end: begin + index * 8 + 8 },
  })));
  for (const run of [close_together(3 * 2 ** 20, 0.0001), close_together(1000, 1), sample.run([sample.test('A.A'), sample.test('A.B')])]) {
    const { page, close } = await open(browser, sample.report([run]));
    await page.evaluate(() => {
      window.labels = [];
      const draw = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function fillText(text, ...rest) { window.labels.push(text); return draw.call(this, text, ...rest); };
      location.hash = '#view=timeline';
    });
    await page.waitForFunction(() => window.labels.length > 2);
    const labels = (await page.evaluate(() => window.labels)).filter(Boolean);
    await page.waitForTimeout(50);
    const all = (await page.evaluate(() => window.labels)).filter(Boolean);
    const drawn = all.slice(all.length - labels.length);
    for (const unit of [/ B$|iB$/, / µs$| ms$| s$/]) {
      const ofUnit = drawn.filter((label) => unit.test(label));
      assert.ok(new Set(ofUnit).size >= ofUnit.length / (all.length / labels.length), ofUnit.join(', '));
    }
    await close();
  }
});

test('a history shows what the tests left over time', async () => {
  const tests = (bytes, isOver) => sample.run([
    (isOver ? sample.failing : sample.test)('A.A', { findings: bytes > 0 ? [sample.finding({ bytes })] : [] }), sample.test('A.B')]);
  const path = sample.mergedReport([tests(96, true)], [
    [tests(0, false), 'aaaa', '2026-01-01T12:00:00Z'], [tests(32, false), 'bbbb', '2026-01-02T12:00:00Z'],
    [sample.run([sample.failing('C.C')], { binary: 'build/other' }), 'bbbb', '2026-01-02T12:00:00Z'],
    [tests(96, true), 'cccc', '2026-01-03T12:00:00Z'], // this very run
  ]);
  const { page, close } = await open(browser, path);
  assert.deepEqual(await page.locator('section:has(#history) tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))), [
    ['this report', '2', '1', '96 B', '+64 B'], ['bbbb 2026-01-02 12:00', '2', '0', '32 B', '+32 B'], ['aaaa 2026-01-01 12:00', '2', '0', '0 B', '–']]);
  assert.match(await page.locator('.history-bars').getAttribute('aria-label'), /over 3 moments: first 0 B, now 96 B, at most 96 B/);
  await close();
});

test('a history without the program says so, and without one nothing is said', async () => {
  const path = sample.mergedReport([sample.run([sample.test('A.A')])], [[sample.run([], { binary: 'build/other' }), 'aaaa', '2026-01-01T12:00:00Z']]);
  const { page, close } = await open(browser, path);
  assert.match(await page.locator('section:has(#history)').textContent(), /The history has no earlier run of this program/);
  await close();
  const plain = await open(browser, sample.report([sample.usualRun()]));
  assert.equal(await plain.page.locator('#history').count(), 0);
  await plain.close();
});
