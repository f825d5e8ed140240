// A real Chromium, and pages that must make no request and log no error.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

export const launch = () => chromium.launch({ // with a fresh profile of its own
  executablePath: process.env.CHROMIUM,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});

export async function open(browser, path, fragment = '', options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const problems = [];
  const url = pathToFileURL(path).href;
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => { if (message.type() === 'error') problems.push(`console: ${message.text()}`); });
  page.on('dialog', (dialog) => { problems.push(`dialog: ${dialog.message()}`); return dialog.dismiss(); });
  context.on('request', (request) => {
    const isOwn = request.url().split('#')[0] === url || request.url().startsWith('data:');
    if (!isOwn) problems.push(`request: ${request.url()}`);
  });
  await page.goto(url + fragment);
  return {
    page,
    close: async () => {
      await context.close();
      assert.deepEqual(problems, []);
    },
  };
}

// The names in the table, as far as they are drawn.
export const names = (page) => page.locator('.grid tbody .test-name').allTextContents();
export const status = (page) => page.locator('.result').textContent();
