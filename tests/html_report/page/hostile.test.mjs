// Names from elsewhere stay text, whatever they say.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { launch, open } from './browser.mjs';
import * as recordings from './recording_sample.mjs';
import * as sample from './sample.mjs';
import * as snapshots from './snapshot_sample.mjs';

const ATTACKS = [
  '<script>window.hit=1;alert(1)</script>',
  '</script><script>window.hit=1;alert(2)</script>',
  '<!--<script>window.hit=1</script>-->',
  '<img src=x onerror="window.hit=1">',
  '"><svg onload=window.hit=1>',
  'javascript:window.hit=1',
  "'-alert(1)-' &lt;b&gt; \u2028\u2029 \u0000",
];

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

function hostileRun(text) {
  const stack = [sample.frame(`${text}::f(int)`, `/src/${text}.cc`, 1, `/lib/${text}.so`)];
  const one = sample.failing(`S.${text}`, {
    component: text, owner: text, reason: text, source_file: text, source_line: 3, left_behind: [text], reach_problem: text,
    violations: [sample.violation({ file: text, reason: text, component: text })],
    findings: [sample.finding({ stack, user_frame: 0, holder: `${text} -> ${text}`, explanation: text, thread: text, allowance: '' })],
    free_errors: [{ text, freed_at: sample.finding({ stack }), made_at: sample.finding({ stack }) }],
  });
  return sample.run([one], { binary: text, arguments: [text], reasons: [text], failures: [text], warnings: [text] });
}

for (const text of ATTACKS) {
  test(`stays text: ${JSON.stringify(text)}`, async () => {
    const path = sample.report([hostileRun(text), hostileRun(text)], { baseline: [hostileRun('other')] });
    const { page, close } = await open(browser, path);
    const fragments = ['', '#view=tests', '#view=timeline', '#view=flame', `#${new URLSearchParams({ test: `S.${text}` })}`];
    for (const fragment of fragments) {
      await page.goto(`${page.url().split('#')[0]}${fragment}`);
      await page.waitForTimeout(30);
      assert.equal(await page.evaluate(() => window.hit), undefined);
      assert.equal(await page.evaluate(() => document.querySelectorAll('img, #app svg, #app script').length), 0);
    }
    const shown = await page.locator('h1').textContent();
    assert.equal(shown, `S.${text.replaceAll('\u0000', '\u0000')}`);
    await close();
  });
}

for (const text of ATTACKS) {
  test(`stays text in pages of snapshots and recordings: ${JSON.stringify(text)}`, async () => {
    const frames = [...snapshots.outer, snapshots.frame(`${text}::f(int)`, `/src/${text}.cc`, 1, `/lib/${text}.so`), snapshots.frame('', '', 0, text)];
    const values = { image: `/bin/${text}`, name: `/bin/${text}`, file: text, occasion: text, missing: [text], filter: text, lines: [['taken', text], ['command', text], ['state', text], ['machine', text]] };
    const one = snapshots.snapshot({
      stacks: [{ frames, bytes: 8, blocks: 1, first: text, last: `${text}2` }], values, problems: [[text, text]], mapped: [{ frames, bytes: 1, blocks: 1 }], freed: [{ frames, bytes: 1, blocks: 1 }],
      groups: { window: [[text, text, 8, 1], ['x', '', 0, 1]] }, leftOut: [1, 1, 1], sources: [[`/src/${text}.cc`, 1, text]],
    });
    const change = { frames, before: [1, 1], after: [9, 2], appeared: [8, 1] };
    const side = { file: text, image: text, pid: 1, occasion: text, lines: [['command', text]] };
    const two = snapshots.difference({ stacks: [change], mapped: [change], values: { from: side, to: side, compared: text, missing: [text], problems: [text], filter: text } });
    const recorded = recordings.recording({
      lives: [{ frames, birth: 3, death: 5, decade: 2, bytes: 8, blocks: 1 }], problems: [[text, text]], tests: [[text, 1, 4]], marks: [[text, 2]], leftOut: 1, sources: [[`/src/${text}.cc`, 1, text]],
      values: { image: text, name: text, file: text, occasion: text, test: text, command_line: [text], host: text, kernel: text, missing: [text], shown: text, interval: { from: text, to: text } },
    });
    for (const path of [one, two, recorded]) {
      const { page, close } = await open(browser, path);
      for (const fragment of ['', '#view=sites', '#view=tree', '#view=flame', `#${new URLSearchParams({ view: 'sites', q: text, of: text })}`]) {
        await page.goto(`${page.url().split('#')[0]}${fragment}`);
        await page.waitForTimeout(30);
        await page.evaluate(() => { for (const one of document.querySelectorAll('details')) one.open = true; });
        assert.equal(await page.evaluate(() => window.hit), undefined);
        assert.equal(await page.evaluate(() => document.querySelectorAll('img, #app svg, #app script').length), 0);
      }
      await close();
    }
  });
}

test('the policy forbids what the page does not need', async () => {
  const text = readFileSync(sample.report([sample.usualRun()]), 'utf8');
  assert.match(text, /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:;/);
  assert.doesNotMatch(text.slice(0, 2000), /unsafe/);
  assert.equal(text.match(/<script/g).length, 2);
});

test('a script that gets in all the same is not run', async () => {
  const { page } = await open(browser, sample.report([sample.usualRun()]));
  const ran = await page.evaluate(() => {
    const script = document.createElement('script');
    try { script.textContent = 'window.hit = 1'; document.body.append(script); } catch { /* refused earlier */ }
    return window.hit;
  });
  assert.equal(ran, undefined);
});
