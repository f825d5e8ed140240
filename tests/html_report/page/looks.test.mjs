// Pictures of every view, dark and light, on a desk, a phone and on paper. A person may
// look at them in `screenshots`; what a program can tell of them is checked here.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { launch, open } from './browser.mjs';
import * as sample from './sample.mjs';

const VIEWS = { overview: '#', tests: '#view=tests', timeline: '#view=timeline', flame: '#view=flame', test: '#test=HttpTest.Case3', cause: '#cause=1' };
const SCREENS = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  phone: { viewport: { width: 375, height: 740 }, colorScheme: 'light' },
  'phone-dark': { viewport: { width: 375, height: 740 }, colorScheme: 'dark' },
};
const FOLDER = 'screenshots';

let browser;
let path;
before(async () => {
  mkdirSync(FOLDER, { recursive: true });
  browser = await launch();
  path = sample.report([sample.usualRun()], { baseline: [sample.earlierRun()] });
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
    const { page, close } = await open(browser, path, '', options);
    for (const [view, fragment] of Object.entries(VIEWS)) {
      await page.goto(`${page.url().split('#')[0]}${fragment}`);
      await page.waitForTimeout(60);
      const png = await page.screenshot({ path: `${FOLDER}/${view}-${screen}.png` });
      assert.deepEqual(sizeOf(png), options.viewport, view);
      const { distinct, commonest } = await coloursOf(page, png);
      assert.ok(distinct > 60 && commonest < 0.97, `${view}: ${distinct} colours, one on ${commonest}`);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${view} is ${overflow} pixels too wide`);
      if (!screen.endsWith('dark')) await page.screenshot({ path: `${FOLDER}/${view}-${screen}-full.png`, fullPage: true });
    }
    await close();
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

test('long names break instead of widening a phone', async () => {
  const long = 'VeryLongNameWithoutAnyPlaceToBreakIt'.repeat(8);
  const stack = [sample.frame(`ns::${long}<${long}>::Make()`, `/src/${long}/${long}.cc`, 12)];
  const one = sample.failing(`${long}.${long}`, {
    component: long, findings: [sample.finding({ stack, user_frame: 0, holder: `${long} -> ${long}` })],
    violations: [sample.violation({ file: `/budgets/${long}.json`, reason: long })],
  });
  const wide = sample.report([sample.run([one], { reasons: [long], binary: `/bin/${long}` })]);
  const { page, close } = await open(browser, wide, '', SCREENS.phone);
  for (const fragment of ['#', '#cause=1', '#view=tests', '#view=timeline', '#view=flame', `#test=${long}.${long}`]) {
    await page.goto(`${page.url().split('#')[0]}${fragment}`);
    await page.waitForTimeout(30);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${fragment.slice(0, 20)} is ${overflow} pixels too wide`);
  }
  await close();
});
