// Links into the page, the back button, and everything by keyboard.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, names, open } from './browser.mjs';
import * as sample from './sample.mjs';

let browser;
let path;
before(async () => {
  browser = await launch();
  path = sample.report([sample.usualRun()]);
});
after(() => browser.close());

const title = (page) => page.locator('h1').textContent();
const focused = (page) => page.evaluate(() => document.activeElement.textContent);

test('a link leads to a test, and one that is not there says so', async () => {
  const { page, close } = await open(browser, path, '#test=PoolTest.Case3');
  assert.equal(await title(page), 'PoolTest.Case3');
  assert.equal(await page.title(), 'PoolTest.Case3 · http_test · leakgate');
  await page.goto(`${page.url().split('#')[0]}#test=No.Such`);
  assert.equal(await title(page), 'No such test');
  await close();
});

test('the back button goes back, with the filter as it was', async () => {
  const { page, close } = await open(browser, path, '#view=tests');
  await page.click('.chip:has-text("over budget")');
  await page.locator('.grid tbody a').first().click();
  await page.locator('.test').waitFor();
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll('.grid tbody .test-name').length === 3);
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll('.grid tbody .test-name').length > 20);
  await close();
});

test('the keyboard alone searches, opens, walks on and comes back', async () => {
  const { page, close } = await open(browser, path);
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  await press('/');
  await page.waitForFunction(() => document.activeElement.id === 'search');
  await page.keyboard.type('case3');
  await press('ArrowDown', 'ArrowDown');
  assert.equal(await focused(page), 'PoolTest.Case3');
  await press('Enter');
  assert.equal(await title(page), 'PoolTest.Case3');
  await press('ArrowRight');
  assert.equal(await title(page), 'PoolTest.Case4');
  await press('Escape', 'Escape');
  await page.locator('.grid').waitFor();
  assert.deepEqual(await names(page), ['DiskTest.Case3', 'PoolTest.Case3', 'HttpTest.Case3']);
  await press('Escape');
  await page.waitForFunction(() => document.querySelectorAll('.grid tbody .test-name').length > 20);
  await press('3');
  assert.equal(await title(page), 'Timeline');
  await press('4');
  assert.equal(await title(page), 'Flame graph');
  await page.waitForFunction(() => document.activeElement.id === 'page-title');
  await page.locator('.frame.root').focus();
  await press('ArrowDown', 'ArrowDown', 'Enter');
  await page.waitForURL(/zoom=0\.0/);
  await press('Escape');
  await page.waitForURL((url) => !url.href.includes('zoom'));
  await press('?');
  assert.equal(await page.locator('dialog').evaluate((dialog) => dialog.open), true);
  await press('Escape', '1');
  assert.match(await title(page), /over budget/);
  await close();
});

test('every control is reached by Tab and shows that it is', async () => {
  const { page, close } = await open(browser, path, '#view=tests');
  const seen = new Set();
  for (let times = 0; times < 40; times += 1) {
    await page.keyboard.press('Tab');
    const one = await page.evaluate(() => {
      const element = document.activeElement;
      const style = getComputedStyle(element);
      const row = element.closest('tr');
      const isMarked = style.outlineStyle !== 'none' || (row && getComputedStyle(row).boxShadow !== 'none');
      return { name: element.getAttribute('aria-label') ?? element.textContent, isMarked, isBody: element === document.body };
    });
    if (one.isBody) break;
    assert.ok(one.isMarked, `${one.name} shows no focus`);
    seen.add(one.name);
  }
  for (const name of ['Skip to the content', 'Timeline', 'Search tests', 'Test', 'Peak live']) assert.ok(seen.has(name), name);
  await close();
});

test('a screen reader finds landmarks, a table and names', async () => {
  const { page, close } = await open(browser, path, '#view=tests');
  assert.equal(await page.getByRole('banner').count(), 1);
  assert.equal(await page.getByRole('main').count(), 1);
  assert.equal(await page.getByRole('navigation', { name: 'Views' }).count(), 1);
  assert.equal(await page.getByRole('table', { name: 'Tests' }).getAttribute('aria-rowcount'), '32');
  assert.equal(await page.getByRole('columnheader').count(), 10);
  assert.equal(await page.getByRole('searchbox', { name: 'Search tests' }).count(), 1);
  const unnamed = await page.evaluate(() => [...document.querySelectorAll('button, a, input, select')]
    .filter((one) => !one.textContent.trim() && !one.getAttribute('aria-label') && !one.labels?.length).length);
  assert.equal(unnamed, 0);
  await close();
});

test('the theme follows the system until it is chosen, and is kept', async () => {
  const { page, close } = await open(browser, path, '', { colorScheme: 'dark' });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.keyboard.press('t');
  assert.notEqual(await background(), dark);
  await page.reload();
  assert.notEqual(await background(), dark);
  await page.click('#theme');
  assert.equal(await background(), dark);
  await close();
});
