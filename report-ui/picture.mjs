// Makes the README's picture, docs/report.png, from a real run of many_causes:
//
//   npm ci && node picture.mjs BUILD_FOLDER
//
// The build has the fixtures: `cmake --build --preset dev`. CHROMIUM names the browser.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const browserPath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const picture = process.env.LEAKGATE_PICTURE ?? fileURLToPath(new URL('../docs/report.png', import.meta.url));

function fail(text) {
  console.error(`picture: ${text}`);
  process.exit(2);
}

// The report of a run that fails, as it should.
function failingReport(build, folder) {
  const page = join(folder, 'report.html');
  const runner = join(build, 'bin/leakgate');
  const suite = join(build, 'fixtures/many_causes_listener');
  for (const needed of [runner, suite, browserPath]) if (!existsSync(needed)) fail(`${needed} is not there; build it, or name another build folder`);
  const run = spawnSync(runner, ['run', '--quiet', '--report', `html=${page}`, '--', suite], { stdio: 'ignore' });
  if (run.status !== 1) fail(`the run of ${suite} ended with ${run.status} instead of 1`);
  return page;
}

async function take(page) {
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--headless', '--no-sandbox', '--disable-gpu'] });
  const tab = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  await tab.goto(pathToFileURL(page).href);
  await tab.locator('.cause').first().waitFor();
  await tab.screenshot({ path: picture });
  await browser.close();
}

if (process.argv.length !== 3) fail('usage: node picture.mjs BUILD_FOLDER');
const folder = mkdtempSync(join(tmpdir(), 'leakgate-picture-'));
try {
  await take(failingReport(resolve(process.argv[2]), folder));
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`picture: ${picture}, ${execFileSync('stat', ['-c', '%s', picture], { encoding: 'utf8' }).trim()} bytes`);
