// What the views show, and what clicks and typing do.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, names, open, status } from './browser.mjs';
import * as sample from './sample.mjs';

let browser;
let path;
before(async () => {
  browser = await launch();
  path = sample.report([sample.usualRun()]);
});
after(() => browser.close());

const opened = (fragment, options) => open(browser, path, fragment, options);

test('the overview begins with the verdict and why', async () => {
  const { page, close } = await opened('');
  assert.equal(await page.locator('h1').textContent(), '3 of 31 tests are over budget; 1 was not judged');
  assert.equal(await page.locator('#causes').textContent(), '3 tests fail from 2 call sites');
  assert.match(await page.locator('.cause .budget-lines').first().textContent(), /budgets\/net\.leakgate\.json:14 growing 64 B of 0 B/);
  assert.deepEqual(await page.locator('#components').evaluate((head) =>
    [...head.closest('section').querySelectorAll('tbody th')].map((cell) => cell.textContent)), ['net', 'disk']);
  await page.locator('.cause-tests a').first().click();
  assert.equal(await page.locator('h1').textContent(), 'DiskTest.Case3');
  await close();
});

test('a baseline tells what has changed', async () => {
  const better = sample.run([sample.test('HttpTest.Case3'), sample.failing('HttpTest.Case1')]);
  const { page, close } = await open(browser, sample.report([sample.usualRun()], { baseline: [better] }));
  const trend = page.locator('section:has(#trend)');
  assert.match(await trend.textContent(), /29 tests new, 0 gone/);
  assert.match(await trend.textContent(), /Newly over budget 3.*HttpTest\.Case3/);
  assert.match(await trend.textContent(), /No longer over budget 1HttpTest\.Case1/);
  assert.equal(await trend.locator('li:has-text("HttpTest.Case1") .number').textContent(), '−64 B');
  await close();
});

// A component's cell of a column of the overview.
const cellOf = async (page, component, column) => {
  const heads = await page.locator('section:has(#components) thead th').allTextContents();
  return page.locator(`section:has(#components) tbody tr:has(a:text-is("${component}")) > *`).nth(heads.indexOf(column)).textContent();
};

test('components are shown against the baseline', async () => {
  const of = (component, name, bytes, make = sample.test) =>
    make(name, { component, findings: bytes > 0 ? [sample.finding({ bytes })] : [] });
  const before = sample.run([
    of('net', 'A.More', 16), of('net', 'A.Over', 0), of('disk', 'A.Less', 64), of('disk', 'A.Fixed', 32, sample.failing), of('same', 'A.Same', 8),
  ]);
  const now = sample.run([
    of('net', 'A.More', 48), of('net', 'A.Over', 100, sample.failing), of('disk', 'A.Less', 16), of('disk', 'A.Fixed', 0), of('same', 'A.Same', 8),
    of('fresh', 'A.Fresh', 24),
  ]);
  const { page, close } = await open(browser, sample.report([now], { baseline: [before] }));
  const since = (component) => cellOf(page, component, 'Since the baseline');
  assert.equal(await since('net'), '+132 B, 1 newly over');
  assert.equal(await since('disk'), '−80 B, 1 no longer over');
  assert.equal(await since('same'), 'no change');
  assert.equal(await since('fresh'), 'not in it');
  const hidden = await page.locator('section:has(#components) .scroll-x').evaluate((table) => table.scrollWidth - table.clientWidth);
  assert.ok(hidden <= 0, `${hidden} pixels of the table are hidden`);
  await close();
});

test('without a baseline no component is compared', async () => {
  const { page, close } = await opened('');
  assert.doesNotMatch(await page.locator('section:has(#components)').textContent(), /baseline/);
  assert.equal(await page.locator('#trend').count(), 0);
  await close();
});

test('what passes since the baseline has it, or was not measured, is not called mended', async () => {
  const before = sample.run([sample.failing('A.Known'), sample.failing('A.Unsure'), sample.failing('A.Mended')]);
  const now = sample.run([
    sample.test('A.Known', { known: sample.amount(64), findings: [sample.finding({ disposition: 'known', baseline: 'known' })] }),
    sample.test('A.Unsure', { verdict: 'inconclusive', reason: 'it was interrupted' }),
    sample.test('A.Mended'),
  ]);
  const { page, close } = await open(browser, sample.report([now], { baseline: [before] }));
  const lists = await page.locator('.changes').evaluateAll((all) => all.map((one) => [
    one.querySelector('h3').textContent, ...[...one.querySelectorAll('a')].map((link) => link.title)]));
  assert.deepEqual(lists, [
    ['No longer over budget 1', 'A.Mended'], ['Over budget before, and known 1', 'A.Known'],
    ['Over budget before, not told now 1', 'A.Unsure'],
  ]);
  assert.equal(await cellOf(page, 'net', 'Since the baseline'), '−64 B, 1 no longer over');
  await close();
});

test('of a test that ran several times the worst is compared', async () => {
  const flaky = [sample.run([sample.test('A.B')]), sample.run([sample.failing('A.B')])];
  const { page, close } = await open(browser, sample.report(flaky, { baseline: [...flaky].reverse() }));
  assert.match(await page.locator('section:has(#trend)').textContent(), /0 tests new, 0 goneNothing that both ran has changed/);
  await close();
});

test('a binary that was renamed is compared by its tests', async () => {
  const before = sample.run([sample.failing('A.B'), sample.test('A.Gone')], { binary: 'build/old_test' });
  const { page, close } = await open(browser, sample.report([sample.run([sample.test('A.B')])], { baseline: [before] }));
  assert.match(await page.locator('section:has(#trend)').textContent(), /0 tests new, 1 goneNo longer over budget 1A\.B/);
  await page.goto(`${page.url().split('#')[0]}#test=A.B`);
  assert.match(await page.locator('.hero').textContent(), /baseline: over budget/);
  await close();
});

test('one is told in the singular, several in the plural', async () => {
  const one = sample.failing('A.One', {
    findings: [sample.finding()], growth: sample.amount(64, 1),
    violations: [sample.violation({ metric: 'outstanding_blocks', actual: 1 }), sample.violation({ metric: 'lost_blocks', actual: 2, limit: 1 })],
  });
  const less = sample.test('A.Less', { growth: sample.amount(-64, -1) });
  const { page, close } = await open(browser, sample.report([sample.run([one, less])]));
  assert.match(await page.locator('.cause').first().textContent(), /outstanding 1 block of 0 blocks/);
  assert.match(await page.locator('.cause').nth(1).textContent(), /lost 2 blocks of 1 block/);
  const text = async (fragment) => {
    await page.goto(`${page.url().split('#')[0]}${fragment}`);
    return page.locator('main').innerText();
  };
  for (const fragment of ['#', '#view=tests', '#view=timeline&from=1&to=1', '#view=flame', '#test=A.One', '#test=A.Less']) {
    assert.doesNotMatch(await text(fragment), /(^|[^\d.,])[+−-]?1 (blocks|tests|findings|frames|runs|call sites)\b/, fragment);
  }
  assert.match(await text('#test=A.One'), /Growth\s+\+64 B\s*\+1 block\b/i);
  assert.match(await text('#test=A.Less'), /Growth\s+−64 B\s*−1 block\b/i);
  assert.match(await text('#test=A.One'), /1 of 1 counts/);
  assert.match(await text('#view=timeline&from=1&to=1'), /\+1 block\b/);
  await close();
});

test('typing searches, and clearing shows all again', async () => {
  const { page, close } = await opened('#view=tests');
  await page.fill('#search', 'pool case3');
  assert.deepEqual(await names(page), ['PoolTest.Case3']);
  assert.match(await status(page), /1 of 31 tests/);
  await page.click('text=clear');
  assert.match(await status(page), /^31 tests/);
  await close();
});

test('verdicts, components and suites filter together', async () => {
  const { page, close } = await opened('#view=tests');
  await page.click('.chip:has-text("over budget")');
  assert.deepEqual((await names(page)).sort(), ['DiskTest.Case3', 'HttpTest.Case3', 'PoolTest.Case3']);
  await page.selectOption('select >> nth=0', 'net');
  assert.equal((await names(page)).length, 2);
  await page.selectOption('select >> nth=1', 'HttpTest');
  assert.deepEqual(await names(page), ['HttpTest.Case3']);
  await page.click('.chip:has-text("inconclusive")');
  assert.equal((await names(page)).length, 2);
  await close();
});

test('a column sorts down, up, and as before', async () => {
  const { page, close } = await opened('#view=tests');
  const head = page.locator('th.c-outstanding');
  await head.locator('button').click();
  assert.equal(await head.getAttribute('aria-sort'), 'descending');
  assert.deepEqual((await names(page)).slice(0, 3), ['DiskTest.Case3', 'PoolTest.Case3', 'HttpTest.Case3']);
  await head.locator('button').click();
  assert.equal(await head.getAttribute('aria-sort'), 'ascending');
  assert.equal((await names(page))[0], 'HttpTest.Case0');
  await head.locator('button').click();
  assert.equal(await head.getAttribute('aria-sort'), 'none');
  await close();
});

test('an interval of the timeline tells what its tests left', async () => {
  const { page, close } = await opened('#view=timeline');
  const fact = async (name) => (await page.locator(`.impact .fact:has(dt:text("${name}")) dd`).textContent());
  assert.match(await fact('Tests in the interval'), /^31/);
  assert.equal(await fact('Duration'), '3.10 sfrom 0 s');
  const plot = await page.locator('.chart .u-over').boundingBox();
  await page.mouse.move(plot.x + 2, plot.y + 60);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width * 0.1, plot.y + 60, { steps: 4 });
  await page.mouse.up();
  const tests = Number.parseInt(await fact('Tests in the interval'), 10);
  assert.ok(tests >= 3 && tests <= 5, `${tests} tests`);
  assert.match(await fact('Outstanding'), /^272 B2 blocks/); // 4 * 64 B, and 16 B
  assert.match(page.url(), /from=1&to=[345]/);
  await page.locator('#from').focus();
  for (let times = 0; times < 4; times += 1) await page.keyboard.press('ArrowRight');
  assert.match(await fact('Outstanding'), /^0 B/);
  await page.click('text=Whole run');
  assert.match(await fact('Tests in the interval'), /^31/);
  await close();
});

test('without times the timeline is in the tests’ order', async () => {
  const { page, close } = await open(browser, sample.report([sample.run([sample.test('A.A'), sample.failing('A.B')])]), '#view=timeline');
  assert.match(await page.locator('.page-head').textContent(), /Growth of the tests, accumulated, over tests in their order/);
  await close();
});

test('the flame graph zooms where it is clicked, and searches', async () => {
  const { page, close } = await opened('#view=flame');
  const widthOf = (name) => page.locator(`.frame[aria-label^="${name}"]`).first().evaluate((frame) => frame.offsetWidth);
  const all = await page.locator('.frame.root').evaluate((frame) => frame.offsetWidth);
  assert.ok((await widthOf('net::Pool::Grow')) < all - 2);
  await page.locator('.frame[aria-label^="net::Pool::Grow"]').first().click();
  assert.match(page.url(), /zoom=/);
  assert.equal(await widthOf('net::Pool::Grow'), all);
  await page.click('text=zoom out');
  assert.ok((await widthOf('net::Pool::Grow')) < all - 2);
  await page.fill('#search', 'pool::grow');
  assert.match(await status(page), /: 98 % match/);
  assert.equal(await page.locator('.frame.matched').count(), 1);
  assert.equal(await page.locator('.frame:has-text("operator new")').count(), 0);
  await page.click('text=all frames');
  assert.equal(await page.locator('.frame:has-text("operator new")').count(), 1);
  await close();
});

test('a test’s page shows the findings, the limit and what allows it', async () => {
  const { page, close } = await opened('#test=HttpTest.Case3', { permissions: ['clipboard-read', 'clipboard-write'] });
  assert.match(await page.locator('section:has(#limits)').textContent(), /budgets\/net\.leakgate\.json:14/);
  const card = page.locator('.finding').first();
  assert.match(await card.locator('.call-site').textContent(), /net::Pool::Grow\(unsigned long\)/);
  assert.deepEqual(await card.locator('.chain li').allTextContents(), ['g_pool (pool.cc:12)', 'std::vector node']);
  assert.equal(await card.locator('.series-bars span').count(), 40);
  assert.equal(await card.locator('.folded details').first().evaluate((details) => details.open), false);
  const entry = await page.locator('.allow pre').first().textContent();
  assert.match(entry, /"tests": \["HttpTest\.Case3"\], "limits": .*"reason"/);
  await page.locator('.allow .copy').first().click();
  await page.locator('.allow .copy.done').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), entry);
  await close();
});

test('a block that grows shows its bytes, and a suite says where its tests\u2019 memory is told', async () => {
  const growing = sample.finding({ reach: 'retained', disposition: 'steady', series: [0, 0], series_bytes: [1024, 2048] });
  const report = sample.report([sample.run([
    sample.failing('A.B', { findings: [growing] }),
    sample.failing('A', { kind: 'suite', findings: [sample.finding({ reach: 'lost' })] }),
  ])]);
  const { page, close } = await open(browser, report, '#test=A.B');
  assert.match(await page.locator('.series').getAttribute('aria-label'), /^Net bytes of each repetition: \+1\.00 KiB \+2\.00 KiB$/);
  assert.equal(await page.locator('text=is told with them').count(), 0);
  await page.goto(page.url().replace('#test=A.B', '#test=A&kind=suite'));
  await page.locator('text=What its tests left is told with them').waitFor();
  await close();
});

test('findings of one call site are allowed together, and others not at all', async () => {
  const lost = (values) => sample.finding({ reach: 'lost', ...values });
  const findings = [lost({ contents: '48690a00' }), lost({ bytes: 16, kind: 'malloc' }), sample.finding({ bytes: 8, disposition: 'one_time' })];
  const violations = [sample.violation({ metric: 'lost_bytes', file: null, line: null })];
  const { page, close } = await open(browser, sample.report([sample.run([sample.failing('A.B', { findings, violations })])]), '#test=A.B');
  assert.match(await page.locator('.finding .contents').textContent(), /^48 69 0a 00 +\|Hi\.\.\|$/);
  assert.deepEqual(await page.locator('.allow pre').allTextContents(),
    ['{ "stack": ["net::Pool::Grow"], "bytes": 80, "blocks": 2, "reason": "..." }']);
  await close();
});

test('the source around the user’s frame is shown where the file is there', async () => {
  // Only what is called like a source file is read.
  const directory = mkdtempSync(join(tmpdir(), 'leakgate-source-'));
  const here = join(directory, 'pool.cc');
  writeFileSync(here, 'import fs;\nimport assert;\n');
  const stack = [sample.frame('net::Pool::Grow()', here, 2)];
  const one = sample.failing('A.B', { findings: [sample.finding({ stack, user_frame: 0 })] });
  const { page, close } = await open(browser, sample.report([sample.run([one])]), '#test=A.B');
  assert.match(await page.locator('.source .hit').textContent(), /^2import assert/);
  await close();
  rmSync(directory, { recursive: true });
});

test('several runs are told apart', async () => {
  const one = sample.run([sample.failing('A.Same')]);
  const two = sample.run([sample.test('A.Same'), sample.test('A.Other')], { binary: 'build/other_test' });
  const { page, close } = await open(browser, sample.report([one, two]), '#test=A.Same&run=2');
  assert.match(await page.locator('.hero').textContent(), /pass.*run 2, other_test/);
  await page.goto(`${page.url().split('#')[0]}#view=tests&run=2`);
  assert.equal((await names(page)).length, 2);
  await close();
});

test('what the run’s own baseline has is told apart', async () => {
  const one = sample.failing('A.B', {
    known: sample.amount(16), known_violations: [sample.violation({ metric: 'growth_bytes' })],
    findings: [sample.finding({ baseline: 'new' }), sample.finding({ bytes: 16, disposition: 'known', baseline: 'known', stack: sample.poolStack.slice(1) })],
  });
  const { page, close } = await open(browser, sample.report([sample.run([one], { baseline: 'before.json' })]), '#test=A.B');
  assert.deepEqual(await page.locator('.tag').allTextContents(), ['new', 'counts against the budget', 'new since the baseline', 'new', 'known from the baseline']);
  assert.match(await page.locator('section:has(#known-limits)').textContent(), /growth bytes/);
  await close();
});
