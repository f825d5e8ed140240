// What was not judged is no pass: it is grey, counted, and said.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, names, open } from './browser.mjs';
import * as sample from './sample.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const skipped = (name) => sample.test(name, { test_result: 'skipped' });
const headOf = async (page) => page.locator('.hero').evaluate((hero) => ({
  title: hero.querySelector('h1').textContent, kind: [...hero.classList].find((name) => name.startsWith('v-')),
  colour: getComputedStyle(hero, '::before').backgroundColor,
}));
const dim = (page) => page.evaluate(() => {
  const probe = document.createElement('p');
  probe.className = 'dim';
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
});

for (const [what, run, title] of [
  ['only skipped tests', sample.run([skipped('A.A'), skipped('A.B')]), 'Nothing was judged: all 2 tests were skipped'],
  ['one skipped test', sample.run([skipped('A.A')]), 'Nothing was judged: the one test was skipped'],
  ['no test', sample.run([]), 'Nothing was judged: no test ran'],
  ['no test of a test binary', sample.run([sample.test('', { kind: 'program' })]), 'Nothing was judged: no test ran'],
  ['a run that was not measured', sample.run([], { verdict: 'inconclusive', reasons: ['the agent was not loaded'] }), 'Nothing was judged: the agent was not loaded'],
]) {
  test(`grey: ${what}`, async () => {
    const { page, close } = await open(browser, sample.report([run]));
    const head = await headOf(page);
    assert.equal(head.title, title);
    assert.equal(head.kind, 'v-not_judged');
    assert.equal(head.colour, await dim(page));
    assert.equal(await page.locator('.v-pass').count(), 0);
    assert.doesNotMatch(await page.locator('main').innerText(), /within/);
    await close();
  });
}

test('a program without tests is judged as a whole', async () => {
  const plain = sample.run([sample.test('', { kind: 'program' })]);
  const { page, close } = await open(browser, sample.report([{ ...plain, tracing: { ...plain.tracing, boundaries: 'none' } }]));
  assert.deepEqual([(await headOf(page)).kind, (await headOf(page)).title], ['v-pass', 'The program is within budget; it has no tests']);
  await close();
});

test('what was not looked into is neither lost nor retained, and said', async () => {
  const one = sample.test('A.A', { outstanding: sample.amount(88, 2) });
  const { page, close } = await open(browser, sample.report([sample.run([one])]));
  assert.match(await page.locator('.tiles').textContent(), /Outstanding88 B2 blocksLost0 B0 blocksRetained0 B0 blocksLost or retained88 B2 blocks: not looked into/);
  const told = await open(browser, sample.report([sample.run([sample.test('A.A', { outstanding: sample.amount(88, 2), lost: sample.amount(80, 1), retained: sample.amount(8, 1) })])]));
  assert.doesNotMatch(await told.page.locator('.tiles').textContent(), /not looked into/);
  await told.close();
  await close();
});

test('skipped tests are not among those within budget', async () => {
  const { page, close } = await open(browser, sample.report([sample.run([sample.test('A.A'), skipped('A.B'), skipped('A.C')])]));
  assert.equal((await headOf(page)).title, '1 of 3 tests is within budget; 2 were skipped');
  await page.click('.legend a:has-text("skipped")');
  assert.deepEqual((await names(page)).sort(), ['A.B', 'A.C']);
  await close();
});

test('the headline counts all that failed, and what was skipped or not judged', async () => {
  const run = sample.run([
    sample.failing('A.A'), sample.failing('A', { kind: 'suite' }), sample.failing('server', { kind: 'process', started_by: 'A.A' }),
    sample.failing('helper', { kind: 'process', started_by: 'A.A' }), skipped('A.B'), sample.test('A.C', { verdict: 'inconclusive', reason: 'it was interrupted' }),
    sample.test('A.D', { verdict: 'unconfirmed' }),
  ]);
  const { page, close } = await open(browser, sample.report([run]));
  assert.equal((await headOf(page)).title,
    '1 of 4 tests, 1 suite and 2 processes are over budget; 1 could not be confirmed, 1 was skipped and 1 was not judged');
  await close();
});

test('what is only warned of is over budget, and no failure', async () => {
  const path = sample.report([sample.run([sample.failing('A.A')], { mode: 'warn_only' })]);
  const { page, close } = await open(browser, path);
  assert.match(await page.locator('.hero').textContent(), /^✕over budget1 of 1 test is over budgetwarn only: nothing fails/);
  assert.equal(await page.locator('.v-failed').count(), 0);
  await close();
});

test('how it was measured is folded away', async () => {
  const { page, close } = await open(browser, sample.report([sample.usualRun()]));
  assert.equal(await page.locator('.diagnostics').evaluate((one) => one.open), false);
  await page.locator('.diagnostics summary').focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('.diagnostics dl').isVisible(), true);
  await close();
});

test('the flame graph tells lost from growing, not by colour alone', async () => {
  const other = [sample.frame('disk::Write()', '/src/write.cc', 7)];
  const findings = [
    sample.finding({ bytes: 64, reach: 'lost' }), sample.finding({ bytes: 32, reach: 'retained', disposition: 'steady', series: [1, 1], stack: other, user_frame: 0 }),
    sample.finding({ bytes: 32, blocks: 2, reach: 'retained', stack: other, user_frame: 0 }),
  ];
  const { page, close } = await open(browser, sample.report([sample.run([sample.failing('A.B', { findings })])]), '#view=flame');
  assert.match(await page.locator('.flame-legend').textContent(), /lost.*growing.*held/);
  const patterns = await page.locator('.flame-legend .swatch').evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundImage.slice(0, 34)));
  assert.equal(new Set(patterns).size, 3);
  const frame = (name) => page.locator(`.frame[aria-label^="${name}"]`);
  assert.match(await frame('net::Pool::Grow').getAttribute('aria-label'), /64 B lost$/);
  assert.match(await frame('disk::Write').getAttribute('aria-label'), /32 B growing$/);
  const share = await frame('disk::Write').evaluate((one) => one.querySelector('.part-growing').offsetWidth / one.clientWidth);
  assert.ok(share > 0.48 && share < 0.52, String(share));
  assert.deepEqual(await page.locator('.sizes tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))), [
    ['16 B – 31 B', '', '2', '32 B'], ['32 B – 63 B', '', '1', '32 B'], ['64 B – 127 B', '', '1', '64 B']]);
  assert.match(await page.locator('section:has(#sizes)').textContent(), /mean size of the blocks of each call stack/);
  await close();
});
