// Makes the README's picture, docs/report.png, from the run that the README shows, of
// examples/no_rebuild:
//
//   npm ci && node picture.mjs BUILD_FOLDER
//
// The build has the examples: `cmake --build --preset dev`. CHROMIUM names the browser.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { crc32, deflateSync } from 'node:zlib';
import { chromium } from 'playwright-core';

const browserPath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const picture = process.env.LEAKGATE_PICTURE || fileURLToPath(new URL('../docs/report.png', import.meta.url));

const WIDTH = 1280;
const HEIGHT = 800;

function fail(text) {
  console.error(`picture: ${text}`);
  process.exit(2);
}

// The report of a run that fails, as it should.
function failingReport(build, folder) {
  const page = join(folder, 'report.html');
  const runner = join(build, 'bin/leakgate');
  const example = join(build, 'examples/example_no_rebuild');
  for (const needed of [runner, example, browserPath]) if (!existsSync(needed)) fail(`${needed} is not there; build it, or name another build folder`);
  mkdirSync(join(folder, 'build'));
  copyFileSync(example, join(folder, 'build/my_tests'));
  const run = spawnSync(runner, ['run', '--report', `html=${page}`, '--', 'build/my_tests'], { cwd: folder, stdio: 'inherit' });
  if (run.status !== 1) fail(`the run of ${example} ended with ${run.status} instead of 1`);
  return page;
}

// The browser's own PNG has about twice the bytes: it is made in a hurry.
async function pixelsOf(browser, png) {
  const blank = await browser.newPage();
  const base64 = await blank.evaluate(async (text) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${text}`)).blob());
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    const bytes = context.getImageData(0, 0, image.width, image.height).data;
    let binary = '';
    for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return btoa(binary);
  }, png.toString('base64'));
  return Buffer.from(base64, 'base64');
}

function chunk(type, content) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const length = Buffer.alloc(4);
  const check = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

// Rows of red, green and blue, each as it is: flat colours pack best so.
function pngOf(pixels) {
  const rows = Buffer.alloc(HEIGHT * (1 + 3 * WIDTH));
  for (let y = 0, to = 0; y < HEIGHT; y += 1) {
    rows[to++] = 0;
    for (let x = 0; x < WIDTH; x += 1) to += pixels.copy(rows, to, 4 * (y * WIDTH + x), 4 * (y * WIDTH + x) + 3);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

async function take(page) {
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--headless', '--no-sandbox', '--disable-gpu'] });
  const tab = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT }, colorScheme: 'light' });
  await tab.goto(pathToFileURL(page).href);
  await tab.locator('.cause').first().waitFor();
  writeFileSync(picture, pngOf(await pixelsOf(browser, await tab.screenshot())));
  await browser.close();
}

if (process.argv.length !== 3) fail('usage: node picture.mjs BUILD_FOLDER');
const folder = mkdtempSync(join(tmpdir(), 'leakgate-picture-'));
try {
  await take(failingReport(resolve(process.argv[2]), folder));
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`picture: ${picture}, ${statSync(picture).size} bytes`);
