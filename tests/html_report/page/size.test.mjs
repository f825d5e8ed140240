// 5,000 tests with 50,000 findings: quick to open, to filter and to walk through. The
// limit of a second is what is promised; what a slow machine takes is told as well.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { launch, open } from './browser.mjs';
import * as sample from './sample.mjs';
import * as recordings from './recording_sample.mjs';
import * as snapshots from './snapshot_sample.mjs';

const LIMIT_MS = Number(process.env.LEAKGATE_UI_LIMIT_MS ?? 2500); // generous: other work may run
let browser;
let path;
before(async () => {
  browser = await launch();
  path = sample.report([sample.largeRun()]);
});
after(() => browser.close());

// Until the browser has drawn what came of `act`.
const drawn = (page, act, argument) => page.evaluate(async ([source, value]) => {
  const begin = performance.now();
  new Function('value', source)(value);
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  return performance.now() - begin;
}, [act, argument]);

const TYPE = 'const box = document.getElementById("search"); box.value = value; box.dispatchEvent(new Event("input", { bubbles: true }))';

// From a reload to the first picture, in milliseconds.
async function openingOf(page) {
  await page.waitForTimeout(300);
  await page.reload();
  return Math.round(await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => {
    const [navigation] = performance.getEntriesByType('navigation');
    const paint = performance.getEntriesByType('paint').find((one) => one.name === 'first-contentful-paint');
    done(Math.max(navigation.loadEventEnd, paint?.startTime ?? 0));
  }, 50)))));
}

test('opens, filters and changes views quickly', async () => {
  const figures = { 'size MB': (statSync(path).size / 1e6).toFixed(1) };
  const { page, close } = await open(browser, path, '#view=tests', { bypassCSP: true });
  figures['open ms'] = await openingOf(page);
  figures['filter ms'] = Math.round(await drawn(page, TYPE, 'number123'));
  assert.match(await page.locator('.result').textContent(), /11 of 5,000 tests/);
  figures['unfilter ms'] = Math.round(await drawn(page, TYPE, ''));
  figures['sort ms'] = Math.round(await drawn(page, 'document.querySelector(".c-outstanding button").click()'));
  for (const view of ['', 'view=timeline', 'view=flame', 'test=Suite0.TestNumber0']) {
    figures[`${view.replace(/^\w+=/, '') || 'overview'} ms`] = Math.round(await drawn(page, 'location.hash = value; dispatchEvent(new Event("hashchange"))', view));
    await page.waitForTimeout(50);
  }
  assert.ok((await page.locator('tr').count()) < 200);
  console.log(`html_report: ${Object.entries(figures).map(([name, value]) => `${name} ${value}`).join(', ')}`);
  for (const [name, value] of Object.entries(figures)) {
    if (name.endsWith(' ms')) assert.ok(value < LIMIT_MS, `${name}: ${value}`);
  }
  await close();
});

test('only the rows in view are in the page, wherever it is scrolled', async () => {
  const { page, close } = await open(browser, path, '#view=tests&sort=name');
  assert.ok((await page.locator('.grid tbody tr').count()) < 80);
  await page.locator('.grid tbody a').first().focus();
  await page.keyboard.press('End');
  await page.waitForFunction(() => document.activeElement.closest('tr')?.getAttribute('aria-rowindex') === '5001');
  assert.ok((await page.locator('.grid tbody tr').count()) < 80);
  await close();
});

// As many frames as a page holds at most (PageLimits).
test('a snapshot of as many frames as fit opens and changes views quickly', async () => {
  const stacks = snapshots.manyStacks(4_300); // of 60,000 frames
  const large = { snapshot: snapshots.snapshot({ stacks }), difference: snapshots.difference({
    stacks: stacks.map(({ frames, bytes, blocks }, index) => (index % 2 === 0 ? { frames, after: [bytes, blocks], appeared: [bytes, blocks] } : { frames, before: [bytes, blocks], gone: [bytes, blocks] })) }) };
  for (const [name, file] of Object.entries(large)) {
    const figures = { 'size MB': (statSync(file).size / 1e6).toFixed(1) };
    const { page, close } = await open(browser, file, '', { bypassCSP: true });
    figures['open ms'] = await openingOf(page);
    for (const view of ['sites', 'tree', 'flame', 'overview']) {
      figures[`${view} ms`] = Math.round(await drawn(page, 'location.hash = `view=${value}`; dispatchEvent(new Event("hashchange"))', view));
    }
    await page.goto(`${page.url().split('#')[0]}#view=sites`);
    figures['filter ms'] = Math.round(await drawn(page, TYPE, 'function123'));
    assert.ok((await page.evaluate(() => document.querySelectorAll('*').length)) < 8000);
    console.log(`html_report: ${name}: ${Object.entries(figures).map(([key, value]) => `${key} ${value}`).join(', ')}`);
    for (const [key, value] of Object.entries(figures)) {
      if (key.endsWith(' ms')) assert.ok(value < LIMIT_MS, `${name}: ${key}: ${value}`);
    }
    await close();
  }
});

// 50 ms are promised for each step of a drag, on a machine that has nothing else to do.
test('a recording of as many lives as fit opens quickly, and follows a drag', async () => {
  const file = recordings.largeRecording(snapshots.manyStacks(2_800)); // of 40,000 frames
  const figures = { 'size MB': (statSync(file).size / 1e6).toFixed(1) };
  assert.ok(statSync(file).size < 20e6);
  const { page, close } = await open(browser, file, '#of=total', { bypassCSP: true });
  figures['open ms'] = await openingOf(page);
  for (const view of ['sites', 'tree', 'flame', 'overview']) {
    figures[`${view} ms`] = Math.round(await drawn(page, 'location.hash = `of=total&view=${value}`; dispatchEvent(new Event("hashchange"))', view));
    const steps = [];
    const box = await page.locator('.chart .u-over').boundingBox();
    await page.evaluate(() => { Element.prototype.setPointerCapture = () => {}; }); // there is no such pointer
    const send = `const [type, x] = value; document.querySelector(".chart .u-over").dispatchEvent(new PointerEvent(type, { button: 0, pointerId: 1, bubbles: true, clientX: x, clientY: ${box.y + 40} }))`;
    await drawn(page, send, ['pointerdown', box.x + 100]);
    for (let step = 0; step < 30; step += 1) steps.push(await drawn(page, send, ['pointermove', box.x + 130 + 25 * step]));
    await drawn(page, send, ['pointerup', box.x + 130 + 25 * 29]);
    figures[`drag in ${view} ms`] = Math.round(steps.sort((a, b) => a - b)[15]);
    await page.waitForTimeout(50);
  }
  console.log(`html_report: recording: ${Object.entries(figures).map(([key, value]) => `${key} ${value}`).join(', ')}`);
  for (const [key, value] of Object.entries(figures)) {
    if (key.endsWith(' ms')) assert.ok(value < LIMIT_MS, `${key}: ${value}`);
  }
  await close();
});
