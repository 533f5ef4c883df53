/** Own dashboards of guests in the page of the built product. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { until } from '../web/browser.js';
import { makeBoards, mintFor } from './card-board.js';
import { startHostPage } from './host-page.js';
import { type Product, startProduct } from './product.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const screenshots = process.env.TEST_SCREENSHOTS;
const makes = { isEnableCreateDashboard: true, isEnableManageMetrics: true, isShowDashboardName: true };

type Dashboard = { readonly metrics: readonly { readonly metricId: string; readonly name: string }[] };
type Board = { readonly id: string; readonly name: string; readonly version: number };

describe.skipIf(!hasChromium())('own dashboards', { timeout: 180_000 }, () => {
  let product: Product;
  let browser: Browser;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    await makeBoards(product);
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
    await product?.remove();
  });

  const show = async (
    token: string,
    look: (page: Page) => Promise<void>,
    options: BrowserContextOptions = {},
  ): Promise<void> => {
    const element = `<guestlist-dashboard token="${token}" service-url="${product.url}" dashboard-id="cards--LAX"></guestlist-dashboard>`;
    const host = await startHostPage(product.url, () => element);
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US', ...options });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(45_000);
      await page.goto(host.url);
      await page.locator('guestlist-card').first().waitFor();
      await look(page);
      expect(await page.evaluate('violations')).toEqual([]);
    } finally {
      await context.close();
      host.close();
    }
  };
  const faults = async (page: Page): Promise<unknown> => {
    await page.evaluate(axe);
    return page.evaluate(
      `axe.run('guestlist-dashboard').then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`,
    );
  };
  const shoot = async (page: Page, name: string): Promise<void> => {
    if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/board-${name}.png`, fullPage: true });
  };
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const send = async (token: string, method: string, path: string, body?: object) => {
    const answer = await fetch(`${product.url}/api/v2/guest/dashboards/cards--LAX${path === '' ? '' : `/${path}`}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as { readonly data: Board & readonly Board[] };
  };
  const write = async (page: Page, kind: string, text: string): Promise<void> => {
    await button(page, kind).click();
    await page.locator('[name="text"]').fill(text);
    await button(page, 'Apply').click();
  };

  test('a guest makes one of chosen cards with a heading and a tab, edits, shares and deletes it', async () => {
    const token = await mintFor(product, makes, { userIdentifier: 'mia' });
    const reader = await mintFor(product, { isShowDashboardName: true }, { userIdentifier: 'otto' });
    await show(token, async (page) => {
      await shoot(page, 'before');
      await button(page, 'New dashboard').focus();
      await page.keyboard.press('Enter');
      await page.getByRole('textbox', { name: 'Name' }).fill('Mornings');
      for (const card of ['States', 'Total']) await page.getByRole('checkbox', { name: card, exact: true }).check();
      await write(page, 'Add a heading', 'Before noon');
      await write(page, 'Add a tab', 'Totals');
      await page.getByRole('button', { name: /^Before noon: column 1, row/ }).focus();
      for (let press = 0; press < 3; press += 1) await page.keyboard.press('ArrowUp');
      await page.locator('guestlist-board-editor guestlist-card section[aria-busy="false"]').nth(1).waitFor();
      await shoot(page, 'editor');
      expect(await faults(page)).toEqual([]);
      await page.getByRole('button', { name: /^States: column/ }).focus();
      await page.keyboard.press('Delete');
      await page.getByRole('status').getByText('States is removed. Undo brings it back.').waitFor();
      await page.locator('guestlist-board-editor .hold:focus').waitFor();
      expect(await page.getByRole('checkbox', { name: 'States', exact: true }).isChecked()).toBe(false);
      await page.keyboard.press('Control+z');
      await page.getByRole('button', { name: /^States: column/ }).waitFor();
      await button(page, 'Save').click();
      await page.getByRole('heading', { name: 'Before noon' }).waitFor();
      await until(() => page.locator('guestlist-card').count()).toBe(2);
      await page.locator('guestlist-card section[aria-busy="false"]').nth(1).waitFor();
      await shoot(page, 'shown');
      expect(await faults(page)).toEqual([]);
      await button(page, 'Edit Mornings').click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Evenings');
      await page.getByRole('checkbox', { name: 'Total', exact: true }).uncheck();
      await button(page, 'Remove Tab: Totals').click();
      await button(page, 'Save').click();
      await until(() => page.locator('guestlist-card').count()).toBe(1);
      await button(page, 'Share Evenings with everyone').click();
      await until(async () => (await send(reader, 'GET', 'boards')).data.map(({ name }) => name)).toEqual(['Evenings']);
      await page.getByLabel('Dashboard', { exact: true }).selectOption({ index: 0 });
      await until(() => page.locator('guestlist-card').count()).toBe(6);
    });
    await show(reader, async (page) => {
      expect(await button(page, 'New dashboard').count()).toBe(0);
      await page.getByLabel('Dashboard', { exact: true }).selectOption({ label: 'Evenings' });
      await until(() => page.locator('guestlist-card').count()).toBe(1);
      expect(await page.getByRole('button', { name: /Evenings/ }).count()).toBe(0);
    });
    await show(token, async (page) => {
      await page.getByLabel('Dashboard', { exact: true }).selectOption({ label: 'Evenings' });
      await button(page, 'Delete Evenings').click();
      await button(page, 'Cancel').click();
      await button(page, 'Delete Evenings').click();
      await button(page, 'Delete for good').click();
      await until(() => page.getByLabel('Dashboard', { exact: true }).count()).toBe(0);
      expect((await send(token, 'GET', 'boards')).data).toEqual([]);
      await until(() => page.locator('guestlist-card').count()).toBe(6);
    });
  });

  test('a change in another tab is told, not overwritten; a taken name too', async () => {
    const token = await mintFor(product, makes, { userIdentifier: 'nina' });
    for (const name of ['First', 'Second']) await send(token, 'POST', 'boards', { name, layout: [] });
    await show(token, async (page) => {
      await page.getByLabel('Dashboard', { exact: true }).selectOption({ label: 'First' });
      await page.getByText('There is nothing on this dashboard yet').waitFor();
      await shoot(page, 'empty');
      await button(page, 'Edit First').click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Second');
      await button(page, 'Save').click();
      await page.getByRole('alert').getByText('There is a dashboard of this name already').waitFor();
      const { data } = await send(token, 'GET', 'boards');
      await send(token, 'PUT', `boards/${data[0]?.id}`, { version: 1, name: 'Elsewhere' });
      await page.getByRole('textbox', { name: 'Name' }).fill('Third');
      await button(page, 'Save').click();
      await page.getByRole('alert').getByText('This dashboard was changed elsewhere meanwhile').waitFor();
      await shoot(page, 'changed');
      await page.route('**/boards/**', (route) => route.abort());
      await button(page, 'Save').click();
      await page.getByRole('alert').getByText('The analytics service can’t be reached.').waitFor();
    });
  });

  test("a dashboard of one's own fits a phone, in the dark and from right to left", async () => {
    const token = await mintFor(product, makes, { userIdentifier: 'omar' });
    const { metrics } = (await send(token, 'GET', '')).data as unknown as Dashboard;
    const total = metrics.find(({ name }) => name === 'Total');
    const layout = [{ metricId: total?.metricId, x: 0, y: 1, w: 6, h: 2 }];
    const tiles = [{ kind: 'heading', tileId: 'h', text: 'عنوان', x: 0, y: 0, w: 12, h: 1 }];
    expect((await send(token, 'POST', 'boards', { name: 'صباح', layout, tiles })).data.version).toBe(1);
    const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const };
    await show(
      token,
      async (page) => {
        await page.evaluate("document.body.style.background = '#0b0f16'");
        await page.evaluate("document.querySelector('guestlist-dashboard').language = 'ar'");
        await page.getByLabel('لوحة المعلومات', { exact: true }).selectOption({ label: 'صباح' });
        await until(() => page.locator('guestlist-card').count()).toBe(1);
        await shoot(page, 'phone');
        await button(page, 'تعديل صباح').click();
        await page.getByRole('checkbox', { name: 'Bars', exact: true }).check();
        await shoot(page, 'phone-editor');
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
        expect(await faults(page)).toEqual([]);
      },
      phone,
    );
  });
});
