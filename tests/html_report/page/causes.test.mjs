// What tests fail for, by cause: each leads to its tests, and each test back to it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open } from './browser.mjs';
import * as sample from './sample.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const otherStack = [
  sample.frame('malloc', '', 0, '/usr/lib/x86_64-linux-gnu/libc.so.6'),
  sample.frame('disk::Write(char const*)', '/home/me/project/src/disk/write.cc', 7),
];
const lost = (values) => sample.finding({ reach: 'lost', ...values });
const noFile = { file: null, line: null, component: 'net' };
const overLost = (bytes) => sample.violation({ metric: 'lost_bytes', actual: bytes, ...noFile });

// Many tests fail at one line, one at another, one leaves descriptors open, one frees wrongly.
function manyCauses() {
  const windows = Array.from({ length: 12 }, (_, index) => sample.failing(`Pool.Case${index}`, {
    findings: [lost({ bytes: 10 + index })], violations: [overLost(10 + index)], lost: sample.amount(10 + index),
  }));
  windows.push(sample.failing('Disk.Both', {
    findings: [lost({ bytes: 5 }), lost({ bytes: 3, stack: otherStack })], violations: [overLost(8)], lost: sample.amount(8, 2),
  }));
  windows.push(sample.failing('Disk.Open', {
    left_behind: ['descriptor 7: /tmp/log'], file_descriptors: 2,
    violations: [sample.violation({ metric: 'file_descriptors', actual: 2, limit: 1 })], findings: [],
  }));
  windows.push(sample.failing('Disk.Free', {
    violations: [], findings: [],
    free_errors: [{ text: '41 B allocated by malloc and freed by delete', freed_at: sample.finding({ bytes: 0, blocks: 0, stack: otherStack }), made_at: sample.finding({ bytes: 0, blocks: 0 }) }],
  }));
  windows.push(sample.failing('Pool', { kind: 'suite', findings: [lost({ bytes: 1 })], violations: [overLost(1)] }));
  return sample.run(windows);
}

const opened = (fragment = '', options = {}) => open(browser, sample.report([manyCauses()]), fragment, options);

test('causes come first, with what they leave in all tests', async () => {
  const { page, close } = await opened();
  assert.equal(await page.locator('h1').textContent(), '15 of 15 tests and 1 suite are over budget');
  assert.equal(await page.locator('#causes').textContent(), '15 tests and 1 suite fail from 4 causes');
  assert.deepEqual(await page.locator('.cause h3 .function').allTextContents(),
    ['net::Pool::Grow', 'disk::Write', 'file descriptors of Disk.Open', 'disk::Write']);
  const first = page.locator('.cause').first();
  assert.match(await first.locator('.cause-numbers').textContent(), /^lost 192 B in 14 blocks$/);
  assert.match(await first.locator('.cause-tests').textContent(), /^fails 14 placesPool\.Case0Pool\.Case1Pool\.Case2all 14$/);
  assert.equal(await first.locator('.finding .call-site').count(), 1);
  assert.match(await first.locator('.allow pre').textContent(), /"stack": \["net::Pool::Grow"\], "bytes": 21, "blocks": 1/);
  assert.equal(await first.locator('.budget-lines').count(), 0);
  await close();
});

test('all tests of a cause are listed on request', async () => {
  const { page, close } = await opened();
  const tests = page.locator('.cause').first().locator('.cause-tests');
  await tests.locator('button').click();
  assert.equal(await tests.locator('a').count(), 14);
  assert.equal(await tests.locator('button').count(), 0);
  await close();
});

test('a cause leads to its tests and a test back to its causes', async () => {
  const { page, close } = await opened();
  await page.locator('.cause h3 a').first().click();
  assert.match(await page.locator('h1').textContent(), /net::Pool::Grow …\/src\/net\/pool\.cc:88/);
  assert.equal(await page.locator('.cause-tests a').count(), 14);
  await page.locator('.cause-tests a:has-text("Disk.Both")').click();
  assert.equal(await page.locator('h1').textContent(), 'Disk.Both');
  assert.deepEqual(await page.locator('.cause-links li').allTextContents(), [
    'net::Pool::Grow …/src/net/pool.cc:88 fails 14 places', 'disk::Write …/src/disk/write.cc:7 only this one']);
  await page.locator('.cause-links a').first().click();
  assert.match(await page.locator('h1').textContent(), /net::Pool::Grow/);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('h1').textContent(), 'Disk.Both');
  await close();
});

test('a limit without a call site, and a freeing error, are causes of their test', async () => {
  const { page, close } = await opened();
  const descriptors = page.locator('.cause:has-text("file descriptors of")');
  assert.match(await descriptors.textContent(), /file descriptors 2 of 1.*Disk\.Open.*budgets\/net\.leakgate\.json:14/);
  assert.match(await descriptors.locator('details').textContent(), /descriptor 7: \/tmp\/log/);
  const freed = page.locator('.cause:has-text("freed by delete")');
  await freed.locator('summary').first().click();
  assert.deepEqual(await freed.locator('.finding h3').allTextContents(), ['Freed at ', 'Allocated at ']);
  await close();
});

test('a cause that is not there says so', async () => {
  const { page, close } = await opened('#cause=99');
  assert.equal(await page.locator('h1').textContent(), 'No such cause');
  await close();
});

test('growth is told in words, and no budget where no file sets one', async () => {
  const growing = (values) => sample.finding({ reach: 'retained', disposition: 'steady', ...values });
  const over = (values) => ({ violations: [sample.violation({ metric: 'steady_blocks', actual: 1, ...noFile })], ...values });
  const run = sample.run([
    sample.failing('A.Same', over({ findings: [growing({ bytes: 64, series: [1, 1, 1] })] })),
    sample.failing('A.Other', over({ findings: [growing({ bytes: 8, series: [1, 3, 2], stack: otherStack })] })),
  ]);
  const { page, close } = await open(browser, sample.report([run]));
  const texts = await page.locator('.cause-numbers').allTextContents();
  assert.match(texts[0], /^growing 64 B in 1 block \(grows by 1 block each time\)$/);
  assert.match(texts[1], /^growing 8 B in 1 block \(grows by 1 to 3 blocks each time\)$/);
  for (const fragment of ['#', '#cause=1', '#view=tests', '#view=flame', '#view=timeline', '#test=A.Same']) {
    await page.goto(`${page.url().split('#')[0]}${fragment}`);
    assert.doesNotMatch(await page.locator('main').innerText(), /\bsteady\b|\bwindow\b|of 0 (B|blocks)|budget 0|default policy/i, fragment);
  }
  await close();
});

test('on a phone the table keeps both ends of a name', async () => {
  const run = sample.run(['fast', 'threadsafe'].map((way) => sample.test(`Styles/Death.LeaksInTheParent/${way}`)));
  const { page, close } = await open(browser, sample.report([run]), '#view=tests', { viewport: { width: 375, height: 740 } });
  const cells = page.locator('.grid .test-name');
  assert.deepEqual(await cells.locator('.own .cut-short').allTextContents(), ['LeaksInT…nt/fast', 'LeaksInT…eadsafe']);
  assert.deepEqual(await cells.evaluateAll((all) => all.map((one) => one.scrollWidth > one.closest('a').clientWidth)), [false, false]);
  await close();
});

test('a long name is cut in the middle, and whole in its title and on focus', async () => {
  const name = `ns::Table<std::map<int, std::vector<std::string>>>::${'Insert'.repeat(16)}::End`;
  const stack = [sample.frame(`${name}(int)`, '/src/table.cc', 3)];
  const one = sample.failing('A.B', { findings: [lost({ bytes: 8, stack, user_frame: 0 })], violations: [overLost(8)] });
  const { page, close } = await open(browser, sample.report([sample.run([one])]));
  const cut = page.locator('.cause h3 .cut-name');
  const short = await cut.locator('.cut-short').textContent();
  assert.match(short, /^ns::Table<…>::Insert.*….*::End$/);
  assert.ok(short.length <= 64, short);
  assert.equal(await cut.getAttribute('title'), name);
  assert.equal(await cut.locator('.cut-short').isVisible(), true);
  await page.locator('.skip').focus();
  while (!(await page.evaluate(() => document.activeElement.closest('.cause h3') !== null))) await page.keyboard.press('Tab');
  assert.equal(await cut.locator('.cut-short').isVisible(), false);
  assert.ok((await cut.locator('.cut-full').boundingBox()).width > 100);
  await close();
});

// Two tests that allocate too much at one line, and one of which that is not known.
function busyTests() {
  const site = (bytes, blocks, stack = sample.poolStack) => ({ bytes, blocks, user_frame: 1, stack_end: 'outermost', stack });
  const made = {
    quantity: 'allocated', bytes: 4000, blocks: 9, framework: sample.amount(300, 2), other_sites: 3, other: sample.amount(90, 3),
    sites: [site(3000, 2), site(610, 2, otherStack)],
  };
  const busy = (name, made_by) => sample.failing(name, {
    findings: [], violations: [sample.violation({ metric: 'allocated_bytes', actual: 4000, limit: 64 })],
    made_by: [made_by], temporary: sample.amount(96, 4),
  });
  return sample.run([busy('Pool.Busy', made), busy('Pool.Busier', made),
    busy('Pool.Unknown', { quantity: 'allocated', bytes: 0, blocks: 0, problem: 'confirmation is off', sites: [] })]);
}

test('who allocated too much is a cause, and is told in each test', async () => {
  const report = sample.report([busyTests()]);
  const overview = await open(browser, report);
  assert.deepEqual(await overview.page.locator('.cause h3 .function').allTextContents(),
    ['net::Pool::Grow', 'allocated of Pool.Unknown']);
  assert.match(await overview.page.locator('.cause').first().locator('.cause-tests').textContent(), /^fails 2 tests/);
  await overview.close();

  const { page, close } = await open(browser, report, '#view=test&test=Pool.Busy');
  const text = await page.locator('.made-by').textContent();
  assert.match(text, /^Allocated when the test was repeated alone: 3\.91 KiB in 9 blocks/);
  assert.match(text, /90 B in 3 blocks by 3 more call sites/);
  assert.match(text, /300 B in 2 blocks by GoogleTest itself$/);
  assert.deepEqual(await page.locator('.made-by .call-site .function').allTextContents(),
    ['net::Pool::Grow(unsigned long) (call site)', 'disk::Write(char const*) (call site)']);
  await close();

  const unknown = await open(browser, report, '#view=test&test=Pool.Unknown');
  assert.match(await unknown.page.locator('main').textContent(), /Who allocated it is not known: confirmation is off/);
  await unknown.close();
});
