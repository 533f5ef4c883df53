/** The documentation at /docs, in the built product: every link leads somewhere, the search finds, and nothing comes from elsewhere. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOfKind, userPages } from '../documents/blocks.js';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { request } from './guest.js';
import { type Product, startProduct } from './product.js';
import { violationsOf } from './studio-page.js';

const screenshots = process.env.TEST_SCREENSHOTS;
let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(async () => {
  await product.stop();
  await product.remove();
});

const read = (path: string) => request(`${product.url}${path}`);
const linksOf = (text: string): readonly string[] =>
  [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'));
const idsOf = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id));

test('every link from /docs leads to a page and to a heading that is there', async () => {
  const texts = new Map<string, string>();
  const broken: string[] = [];
  const visit = async (path: string): Promise<void> => {
    texts.set(path, '');
    const { status, text } = await read(path);
    if (status !== 200) broken.push(`${path}: ${status}`);
    texts.set(path, text);
    for (const link of linksOf(text)) {
      const [next = ''] = link.split('#');
      if (next.startsWith('/') && !texts.has(next)) await visit(next);
    }
  };
  await visit('/docs');
  for (const [path, text] of texts)
    for (const link of linksOf(text)) {
      const [, file = '', anchor] = /^([^#]*)(?:#(.*))?$/.exec(link) ?? [];
      const target = texts.get(file === '' ? path : file);
      if (anchor !== undefined && anchor !== '' && target !== undefined && !idsOf(target).has(anchor)) {
        broken.push(`${path}: ${link}`);
      }
    }
  expect(broken).toEqual([]);
  // Each page of docs/ can be reached from the first one.
  const wanted = userPages
    .filter((page) => page.startsWith('docs/'))
    .map((page) => `/${page.replace(/\.md$/, '').replace(/\/README$/, '')}`);
  expect(wanted.filter((path) => !texts.has(path))).toEqual([]);
  expect(texts.has('/docs/api')).toBe(true);
}, 120_000);

test('a page has no inline script or style, and loads from its own origin alone', async () => {
  const { headers, text } = await read('/docs/how-to/embedding');
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; connect-src 'self';/);
  expect(text).not.toMatch(/<style|\sstyle=|<script(?! type="module" src="\/docs\/)|\son\w+=/i);
  expect(linksOf(text.replaceAll(/<a [^>]*>/g, '')).filter((link) => !link.startsWith('/docs/'))).toEqual([]);
});

test.each([
  '/docs/',
  '/docs/nothing',
  '/docs/files/package.json',
  '/docs/..%2f..%2fpackage.json',
  '/docs/manifest.json',
])('%s is no page', async (path) => {
  expect((await read(path)).status).toBe(404);
});

test('a caller that takes no compressed answer gets the text', async () => {
  const { text, headers } = await request(`${product.url}/docs`, { headers: { 'accept-encoding': 'identity' } });
  expect(headers.get('content-encoding')).toBeNull();
  expect(text).toMatch(/^<!doctype html>/);
});

describe.runIf(hasChromium())('in a browser', () => {
  let browser: Browser;
  let page: Page;
  const seen: string[] = [];
  const faults: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
    page = await browser.newPage();
    page.on('request', (asked) => seen.push(asked.url()));
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
  });
  afterAll(() => browser.close());

  test('the search finds a page by words of its text, and Enter opens it', async () => {
    await page.goto(`${product.url}/docs`);
    await page.keyboard.press('/');
    await page.keyboard.type('refreshAfter');
    const results = page.locator('#results [role=option]');
    await results.first().waitFor();
    expect(await results.allTextContents()).toEqual(expect.arrayContaining([expect.stringContaining('embed-token')]));
    await page.locator('#search').fill('check which rows a tenant sees');
    await page.locator('#results', { hasText: 'Run this command' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await Promise.all([page.waitForURL('**/docs/how-to/check-tenancy'), page.keyboard.press('Enter')]);
  });

  test('the search of the documentation finds operations of the interface, and says when nothing is found', async () => {
    await page.locator('#search').fill('guest-token/create');
    await page.locator('#results a[href^="/docs/api/guest-tokens#"]').first().waitFor();
    await page.locator('#search').fill('xylophone quartz');
    await page.locator('#results .note').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('#results').isHidden()).toBe(true);
  });

  test('the search shows how to do a thing before the codes of errors, and a code that is pasted first', async () => {
    const hrefsOf = async (asked: string): Promise<readonly (string | null)[]> => {
      await page.locator('#search').fill('');
      await page.locator('#search').fill(asked);
      await page.locator('#results [role=option]').first().waitFor();
      return page.locator('#results a').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    };
    for (const asked of ['token expired', 'session', 'tenant', 'metric', 'datasource', 'log in', 'rate limit']) {
      const found = await hrefsOf(asked);
      const [guide, code] = ['how-to', 'reference/errors'].map((kind) =>
        found.findIndex((href) => href?.startsWith(`/docs/${kind}`)),
      );
      expect([asked, guide]).not.toEqual([asked, -1]);
      expect(code === -1 || Number(guide) < Number(code), `${asked}: ${found.join(' ')}`).toBe(true);
    }
    for (const code of ['TOKEN_EXPIRED', 'RATE_LIMITED'])
      expect((await hrefsOf(code))[0]).toBe(`/docs/reference/errors#${code.toLowerCase()}`);
    await page.keyboard.press('Escape');
  });

  test('a block of code is coloured, and its button copies the text of it and nothing else', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: product.url });
    await page.goto(`${product.url}/docs/how-to/embedding`);
    const block = page.locator('.code').first();
    expect(await block.locator('.string').count()).toBeGreaterThan(0);
    const text = await block.locator('code').textContent();
    await block.getByRole('button', { name: 'Copy' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
    await page.evaluate("Object.defineProperty(window, 'isSecureContext', { value: false })");
    await page.evaluate("navigator.clipboard.writeText('nothing')");
    await block.getByRole('button').click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(text);
  });

  test('each live example shows itself with the session of the demo, and without the demo says what to do', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${product.url}/docs/reference/elements`);
    const buttons = page.getByRole('button', { name: 'Show it here' });
    const count = await buttons.count();
    expect(count).toBe(blocksOfKind('live example').length);
    await page.route('**/demo/session', (route) => route.fulfill({ status: 404, json: {} }));
    await buttons.first().click();
    await page.getByText('Live examples need the demo').waitFor();
    await page.unroute('**/demo/session');
    faults.length = 0;
    for (let at = 0; at < count; at += 1) await buttons.first().click();
    const shown = page.locator('.live');
    for (let at = 0; at < count; at += 1) await shown.nth(at).locator('canvas').first().waitFor();
    await shown.nth(2).getByText('Alle', { exact: true }).first().waitFor();
    if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/docs-live.png`, fullPage: true });
    expect(faults).toEqual([]);
  });

  test('a link of the API reference as it was leads to its operation', async () => {
    await page.goto(`${product.url}/docs#create-data-app`);
    await page.waitForURL('**/docs/api#create-data-app');
    expect(await page.locator('#create-data-app').count()).toBe(1);
  });

  test.each(['light', 'dark'] as const)('axe finds nothing on the pages of each kind, %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    for (const path of [
      '',
      '/how-to/embedding',
      '/reference/logging',
      '/reference/policies',
      '/tutorials/first-chart',
    ]) {
      await page.goto(`${product.url}/docs${path}`);
      expect.soft([path, await violationsOf(page)]).toEqual([path, []]);
    }
  });

  test('a generated page says at its foot what it is generated from', async () => {
    await page.goto(`${product.url}/docs/reference/logging`);
    expect(await page.locator('main > :last-child').textContent()).toContain(
      'Generated by npm run docs from src/model/',
    );
  });

  test.each([
    { width: 360, colorScheme: 'light' },
    { width: 360, colorScheme: 'dark' },
    { width: 1440, colorScheme: 'light' },
    { width: 1440, colorScheme: 'dark' },
  ] as const)('fits a window of $width pixels, $colorScheme', async ({ width, colorScheme }) => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    for (const path of ['', '/about', '/how-to/deploy', '/reference/policies', '/reference/errors', '/results']) {
      await page.goto(`${product.url}/docs${path}`);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect([path, overflow]).toEqual([path, 0]);
    }
    const [ink, paper] = (await page.evaluate(
      '[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]',
    )) as readonly string[];
    const brightness = (color = '') =>
      (color.match(/\d+/g) ?? []).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
    expect(Math.abs(brightness(ink) - brightness(paper))).toBeGreaterThan(400);
    expect(brightness(paper) > 380).toBe(colorScheme === 'light');
  });

  test('nothing was asked of another origin, and nothing failed', () => {
    expect(seen.filter((url) => !url.startsWith(product.url) && !url.startsWith('data:'))).toEqual([]);
    expect(faults).toEqual([]);
  });
});
