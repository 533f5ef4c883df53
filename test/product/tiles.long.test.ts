/** Headings, texts, pictures and tabs of the built product: on a page with a strict policy, and on paper. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tile } from '../../src/model/dashboard/tile.js';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { makeBoards, mintFor } from './card-board.js';
import { get, request } from './guest.js';
import { startHostPage } from './host-page.js';
import { type Product, startProduct } from './product.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
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
  // No card stands on these until a user arranges them: then they are not shown.
  { tileId: 'late', kind: 'tab', text: 'Delays', x: 0, y: 3, w: 12, h: 1 },
  { tileId: 'empty', kind: 'tab', text: 'Nothing is here', x: 0, y: 4, w: 12, h: 1 },
  { tileId: 'days', kind: 'tab', text: 'Days', x: 0, y: 5, w: 12, h: 1 },
  { tileId: 'i', kind: 'image', source: `data:image/png;base64,${red}`, alt: 'Our logo', x: 8, y: 1, w: 4, h: 2 },
];

describe.skipIf(!hasChromium())('tiles of a dashboard', { timeout: 120_000 }, () => {
  let product: Product;
  let browser: Browser;
  let host: Awaited<ReturnType<typeof startHostPage>>;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    await makeBoards(product, tiles);
    const common = await mintFor(product);
    host = await startHostPage(product.url, (path) => {
      const [theme, token = common] = path.split('?');
      return `<guestlist-dashboard theme="${theme}" token="${token}" service-url="${product.url}" dashboard-id="cards--LAX"></guestlist-dashboard>`;
    });
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
  ] as const)('tiles of a dashboard are drawn: %s, %i pixels', async (theme, width) => {
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

  const places = [
    ['States', 0, 4],
    ['Bars', 6, 4],
    ['Months', 0, 8],
    ['Days', 6, 8],
    ['Total', 0, 15],
    ['Daily', 6, 15],
  ] as const;

  /** A user's own arrangement puts the cards on the tabs. */
  const onTabs = async (user: string): Promise<string> => {
    const token = await mintFor(product, { isEnableCustomizeLayout: true }, { userIdentifier: user });
    const path = `${product.url}/api/v2/guest/dashboards/cards--LAX`;
    type Board = {
      readonly data: { readonly metrics: readonly { readonly metricId: string; readonly name: string }[] };
    };
    const { metrics } = (await get<Board>(path, token)).body.data;
    const idOf = (name: string) => metrics.find((metric) => metric.name === name)?.metricId;
    const layout = places.map(([name, x, y]) => ({ metricId: idOf(name), x, y, w: 6, h: 4 }));
    const tabs = { late: 3, empty: 13, days: 14 };
    const stay = tiles.flatMap(({ tileId, kind, x, y, w, h }) => (kind === 'tab' ? [] : [{ tileId, x, y, w, h }]));
    const moved = Object.entries(tabs).map(([tileId, y]) => ({ tileId, x: 0, y, w: 12, h: 1 }));
    const answer = await request(`${path}/layout`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ layout, tiles: [...stay, ...moved] }),
    });
    if (answer.status !== 200) throw new Error(answer.text);
    return token;
  };
  const show = async (theme: string, width: number, token: string): Promise<{ page: Page; asked: string[] }> => {
    const page = await browser.newPage({ viewport: { width, height: 1000 }, reducedMotion: 'reduce', locale: 'en-US' });
    const asked: string[] = [];
    page.on('request', (sent) => {
      if (!sent.url().endsWith('/query')) return;
      const { metrics } = sent.postDataJSON() as { readonly metrics: readonly { readonly metricId: string }[] };
      asked.push(...metrics.map(({ metricId }) => metricId));
    });
    await page.goto(`${host.url}/${theme}?${token}`);
    return { page, asked };
  };
  const shownCards = (page: Page): Promise<readonly string[]> =>
    page
      .locator('guestlist-card:visible')
      .evaluateAll((all) => all.map((card) => card.shadowRoot?.querySelector('h3')?.textContent ?? ''));

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('tabs: only the chosen one asks; %s, %i pixels', async (theme, width) => {
    const { page, asked } = await show(theme, width, await onTabs(`ann-${theme}`));
    await page.locator('guestlist-card section[aria-busy="false"]').nth(3).waitFor();
    expect(await page.getByRole('tab').allTextContents()).toEqual(['Delays', 'Days']);
    expect(await shownCards(page)).toEqual(['States', 'Bars', 'Months', 'Days']);
    expect(asked).toHaveLength(4);
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, `tabs-${theme}-${width}.png`) });
    await page.getByRole('tab', { name: 'Days' }).click();
    await page.getByRole('tabpanel', { name: 'Days' }).locator('section[aria-busy="false"]').nth(1).waitFor();
    expect(await shownCards(page)).toEqual(['Total', 'Daily']);
    expect(new Set(asked).size).toBe(6);
    expect(asked).toHaveLength(6);
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, `tabs-2-${theme}-${width}.png`) });
    if (theme === 'dark') await page.evaluate("document.body.style.background = '#0b0f16'");
    await page.evaluate(axe);
    expect(
      await page.evaluate(
        `axe.run('guestlist-dashboard').then((all) => all.violations.map(({ id, nodes }) => [id, nodes.map((each) => each.html)]))`,
      ),
    ).toEqual([]);
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('tab', { name: 'Delays', selected: true }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('tab', { name: 'Days', selected: true }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    expect(await page.evaluate('violations')).toEqual([]);
    await page.close();
  });

  test('on paper all tabs are one below the other, with their titles', async () => {
    const { page } = await show('dark', 1280, await onTabs('bob'));
    await page.locator('guestlist-card section[aria-busy="false"]').nth(3).waitFor();
    const printed = page.evaluate(`new Promise((resolve) => {
      window.print = () => {
        const { shadowRoot } = document.querySelector('guestlist-dashboard');
        const items = shadowRoot.querySelectorAll('guestlist-tabs, guestlist-tile, guestlist-card');
        resolve([...items].filter((item) => item.checkVisibility()).map((item) => item.shadowRoot.querySelector('h3, canvas, p')?.textContent));
      };
      document.querySelector('guestlist-dashboard').print();
    })`);
    expect(await printed).toEqual([
      ...['Flights <img src=x>', 'How to read this:', ''],
      ...['Delays', 'States', 'Bars', 'Months', 'Days'],
      ...['Days', 'Total', 'Daily'],
    ]);
    await page.getByRole('tab', { name: 'Days' }).waitFor();
    if (screenshots !== undefined)
      await page.pdf({ path: join(screenshots, 'tabs.pdf'), format: 'A4', printBackground: true });
    await page.close();
  });

  test('a user arranges cards over tabs, and moves a tab, by keyboard', async () => {
    const { page } = await show('light', 1280, await onTabs('cleo'));
    await page.getByRole('button', { name: 'Arrange cards' }).click();
    await page.getByRole('group', { name: 'Arrange cards' }).waitFor();
    if (screenshots !== undefined)
      await page.screenshot({ path: join(screenshots, 'tabs-arrange.png'), fullPage: true });
    await page.getByRole('button', { name: /^Total: column 1/ }).focus();
    for (const _ of ['Days', 'Nothing', 'a card']) await page.keyboard.press('ArrowUp');
    await page.getByRole('button', { name: /^Tab: Delays/ }).focus();
    await page.keyboard.press('ArrowUp');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('tab').nth(1).waitFor();
    await page.locator('guestlist-card:visible').nth(4).waitFor();
    expect(await page.getByRole('tab').allTextContents()).toEqual(['Delays', 'Days']);
    expect((await shownCards(page)).toSorted()).toEqual(['Bars', 'Days', 'Months', 'States', 'Total']);
    const tabpanel = page.getByRole('tabpanel', { name: 'Delays' });
    expect(await tabpanel.locator('guestlist-tile').count()).toBe(2);
    await page.close();
  });
});
