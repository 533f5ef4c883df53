/** The elements in pages that are not simple: shadow trees, a sandboxed frame of another origin, and a WebView. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, FrameLocator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { typeDates } from '../suites/date-filter.js';
import { analyst, login } from './guest.js';
import { type Product, startProduct } from './product.js';

const webView =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.0.0 Mobile Safari/537.36';

describe.skipIf(!hasChromium())('the elements in a host', { timeout: 120_000 }, () => {
  let product: Product;
  let browser: Browser;
  let host: Server;
  let hostUrl: string;
  let token: string;
  const pages = new Map<string, string>();

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    token = (await login(product, analyst('LAX'))).token;
    host = createServer(({ url = '' }, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(pages.get(url) ?? '');
    });
    await new Promise<void>((done) => host.listen(0, '127.0.0.1', done));
    // Another site than the product's, as a browser sees it.
    hostUrl = `http://localhost:${(host.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser.close();
    host.close();
    await product.stop();
    await product.remove();
  });

  const script = () => `<script type="module" src="${product.url}/elements.js"></script>`;
  const element = () =>
    `<guestlist-dashboard token="${token}" service-url="${product.url}" dashboard-id="delays--LAX"></guestlist-dashboard>`;
  const html = (body: string) => `<!doctype html><html lang="en"><title>host</title><body>${body}</body></html>`;

  const visit = async (look: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US', ...options });
    try {
      const page = await context.newPage();
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(String(error)));
      await look(page);
      expect(faults).toEqual([]);
    } finally {
      await context.close();
    }
  };
  const drawn = async (where: Page | FrameLocator): Promise<void> => {
    await where.locator('guestlist-card section[aria-busy="false"]').nth(3).waitFor();
    await where.locator('guestlist-chart canvas').nth(2).waitFor();
    expect(await where.locator('guestlist-card [role=alert]').count()).toBe(0);
  };
  const filter = async (where: Page | FrameLocator): Promise<void> => {
    await typeDates(where, { from: '2001-06-01' });
    await where.getByRole('img', { name: /^Flights a day.* from Jun 1, 2001/ }).waitFor();
  };

  test('works in nested shadow trees, whose host hears its events', () =>
    visit(async (page) => {
      const inner = `<template shadowrootmode="open">${element()}</template>`;
      const outer = `<div id="outer"><template shadowrootmode="open"><div>${inner}</div></template></div>`;
      pages.set('/shadow', html(`${outer}${script()}`));
      await page.addInitScript(
        "window.heard = []; for (const name of ['guestlist-loaded', 'guestlist-filter-change']) document.addEventListener(name, ({ type, target }) => heard.push([type, target.id]));",
      );
      await page.goto(`${hostUrl}/shadow`);
      await drawn(page);
      await filter(page);
      expect(await page.evaluate('heard')).toEqual([
        ['guestlist-loaded', 'outer'],
        ['guestlist-filter-change', 'outer'],
      ]);
    }));

  test('works in a sandboxed frame of another site, without storage and cookies', () =>
    visit(async (page) => {
      pages.set(
        '/frame',
        html(`<iframe sandbox="allow-scripts" width="1200" height="800" src="${hostUrl}/inner"></iframe>`),
      );
      pages.set(
        '/inner',
        html(
          `<script>try { localStorage.length; } catch { window.isWithoutStorage = true; }</script>${element()}${script()}`,
        ),
      );
      await page.goto(`${hostUrl}/frame`);
      const frame = page.frameLocator('iframe');
      await drawn(frame);
      await filter(frame);
      expect(await frame.locator('body').evaluate(() => Reflect.get(globalThis, 'isWithoutStorage'))).toBe(true);
    }));

  test('works in a WebView that shows a text of the app, without an address', () =>
    visit(
      async (page) => {
        await page.setContent(html(`${element()}${script()}`));
        await drawn(page);
        await filter(page);
        const fits = 'document.documentElement.scrollWidth <= innerWidth';
        expect(await page.evaluate(fits)).toBe(true);
      },
      { userAgent: webView, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    ));
});
