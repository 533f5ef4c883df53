/** Headings, texts and pictures between the cards of the built product: on a page with a strict policy, and on paper. */
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tile } from '../../src/domain/dashboard/tile.js';
import { hasChromium, launchChromium } from '../web/chromium.js';
import { makeBoards, mintFor } from './card-board.js';
import { startHostPage } from './host-page.js';
import { type Product, startProduct } from './product.js';

const screenshots = process.env.TEST_SCREENSHOTS;
const red = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const tiles: readonly Tile[] = [
  { tileId: 'h', kind: 'heading', text: 'Flights <img src=x>', x: 0, y: 0, w: 12, h: 1 },
  {
    tileId: 't',
    kind: 'text',
    text: 'How to **read** this:\n- *Delays* at the gate\n- [The rules](https://example.com/rules)\n- [Not a link](javascript:alert)',
    x: 0,
    y: 1,
    w: 8,
    h: 2,
  },
  { tileId: 'i', kind: 'image', source: `data:image/png;base64,${red}`, alt: 'Our logo', x: 8, y: 1, w: 4, h: 2 },
];

describe.skipIf(!hasChromium())('tiles of a dashboard', { timeout: 120_000 }, () => {
  let product: Product;
  let browser: Browser;
  let host: Awaited<ReturnType<typeof startHostPage>>;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    await makeBoards(product, tiles);
    const token = await mintFor(product);
    host = await startHostPage(
      product.url,
      (theme) =>
        `<guestlist-dashboard theme="${theme}" token="${token}" service-url="${product.url}" dashboard-id="cards--LAX"></guestlist-dashboard>`,
    );
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    host.close();
    await product.stop();
    await product.remove();
  });

  test.each([
    ['light', 1280],
    ['light', 390],
    ['dark', 1280],
    ['dark', 390],
  ] as const)('%s, %i pixels', async (theme, width) => {
    const page = await browser.newPage({ viewport: { width, height: 1000 }, reducedMotion: 'reduce', locale: 'en-US' });
    await page.goto(`${host.url}/${theme}`);
    await page.locator('guestlist-card').first().waitFor();
    const items = page.locator('guestlist-tile, guestlist-card');
    expect(await items.evaluateAll((all) => all.slice(0, 4).map(({ localName }) => localName))).toEqual([
      ...['guestlist-tile', 'guestlist-tile', 'guestlist-tile'],
      'guestlist-card',
    ]);
    expect(await page.getByRole('heading', { name: 'Flights <img src=x>' }).isVisible()).toBe(true);
    expect(await page.getByRole('img', { name: 'Our logo' }).count()).toBe(1);
    const widths = () =>
      page.locator('guestlist-tile canvas').evaluateAll((all) => all.map((each) => each.clientWidth));
    await expect.poll(widths).toEqual([1]);
    const links = page.locator('guestlist-tile a');
    expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual([
      'https://example.com/rules',
    ]);
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, `tiles-${theme}-${width}.png`) });
    const boxes = await Promise.all((await items.all()).map((item) => item.boundingBox()));
    const [, , picture, card] = boxes;
    expect((card?.y ?? 0) >= (picture?.y ?? 0) + (picture?.height ?? 0)).toBe(true);
    expect(await page.evaluate('violations')).toEqual([]);
    await page.close();
  });
});
