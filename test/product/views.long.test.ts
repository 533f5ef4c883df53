/**
 * What users make on a dashboard of the built product: saved views in the filter bar, and metrics in the editor.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { until } from '../web/browser.js';
import { makeBoards, mintFor } from './card-board.js';
import { startHostPage } from './host-page.js';
import { type Product, startProduct } from './product.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const screenshots = process.env.TEST_SCREENSHOTS;

const violationsIn = async (page: Page): Promise<unknown> => {
  await page.evaluate(axe);
  return page.evaluate(
    "axe.run('guestlist-dashboard').then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))",
  );
};

describe.skipIf(!hasChromium())('saved views', { timeout: 120_000 }, () => {
  let product: Product;
  let browser: Browser;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    await makeBoards(product);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
    await product?.remove();
  });

  const show = async (
    user: string,
    permissions: Readonly<Record<string, boolean>>,
    look: (page: Page) => Promise<void>,
    { query = '', ...options }: BrowserContextOptions & { readonly query?: string } = {},
  ): Promise<void> => {
    const token = await mintFor(product, permissions, { userIdentifier: user });
    const host = await startHostPage(
      product.url,
      () =>
        `<guestlist-dashboard token="${token}" service-url="${product.url}" dashboard-id="cards--LAX"></guestlist-dashboard>`,
    );
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US', ...options });
    try {
      const page = await context.newPage();
      await page.goto(`${host.url}/${query}`);
      await page.locator('guestlist-card section[aria-busy="false"]').nth(5).waitFor();
      await look(page);
    } finally {
      await context.close();
      host.close();
    }
  };
  const shoot = (page: Page, name: string) =>
    screenshots === undefined ? undefined : page.screenshot({ path: `${screenshots}/views-${name}.png` });
  const open = async (page: Page, name: string) => {
    await page.getByRole('button', { name, exact: true }).click();
    return page.getByRole('dialog', { name: 'Saved views' });
  };
  const filtersOf = (page: Page) => page.evaluate("document.querySelector('guestlist-dashboard').getFilters()");
  const choose = async (page: Page) => {
    await page.getByRole('button', { name: /^Airport/ }).click();
    await page.getByRole('option').nth(1).click();
    await page.keyboard.press('Escape');
  };
  const all = { isEnableCreateDashboardView: true, isEnableManageMetrics: true };
  const own = { isEnableCreateDashboardView: true, isEnableManageMetrics: false };

  test('a manager saves, shares and sets the view that the dashboard opens with; others open with it and may not change it', async () => {
    let filters: unknown;
    await show('mia', all, async (page) => {
      await choose(page);
      filters = await filtersOf(page);
      expect(filters).toEqual({ Airport: [expect.any(String)] });
      const dialog = await open(page, 'Views');
      await dialog.getByText('There are no saved views yet').waitFor();
      await shoot(page, 'empty');
      await dialog.getByLabel('Save the current filters').fill('One airport');
      await dialog.getByLabel('Share with everyone').check();
      await dialog.getByRole('button', { name: 'Save', exact: true }).click();
      await dialog.getByRole('button', { name: /^One airport/ }).waitFor();
      await dialog.getByRole('button', { name: 'Open the dashboard with One airport' }).click();
      await dialog.getByText('Shared · Default').waitFor();
      await shoot(page, 'shared');
      expect(await violationsIn(page)).toEqual([]);
      await dialog.getByLabel('Save the current filters').fill('One airport');
      await page.keyboard.press('Enter');
      await dialog.getByRole('alert').getByText('There is a view of this name already').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'One airport', exact: true }).waitFor();
    });
    await show('omar', own, async (page) => {
      expect(await filtersOf(page)).toEqual(filters);
      const dialog = await open(page, 'One airport');
      await dialog.getByText('Shared · Default').waitFor();
      expect(await dialog.getByRole('button').allInnerTexts()).toHaveLength(3);
      await shoot(page, 'reader');
    });
    await show('omar', own, async (page) => expect(await filtersOf(page)).toEqual({ Airport: ['none'] }), {
      query: '?Airport=none',
    });
    await show('nina', { isEnableCreateDashboardView: false }, async (page) => {
      expect(await filtersOf(page)).toEqual(filters);
      expect(await page.locator('guestlist-views').count()).toBe(0);
    });
  });

  test('a user opens, and deletes, an own view; on a phone, too', () =>
    show(
      'omar',
      own,
      async (page) => {
        await page.getByRole('button', { name: /^Filters/ }).click();
        await page.getByRole('button', { name: 'Clear filters' }).click();
        // A user may write a name before the list has come.
        let list: Route | undefined;
        await page.route('**/views', async (route) => {
          if (route.request().method() === 'GET' && list === undefined) list = route;
          else await route.continue();
        });
        const dialog = await open(page, 'Views');
        await dialog.getByLabel('Save the current filters').fill('Nothing');
        await until(() => list !== undefined).toBe(true);
        await page.keyboard.press('Enter');
        await dialog.getByRole('button', { name: /^Nothing/ }).waitFor();
        await page.unroute('**/views');
        await dialog.getByRole('button', { name: /^One airport/ }).click();
        await until(async () => Object.keys((await filtersOf(page)) as object)).toEqual(['Airport']);
        await page.route('**/views', (route) => route.abort());
        const failing = await open(page, 'One airport');
        await failing.getByRole('alert').getByText('The analytics service can’t be reached.').waitFor();
        await page.keyboard.press('Escape');
        await page.unroute('**/views');
        const again = await open(page, 'One airport');
        await shoot(page, 'phone');
        await again.getByRole('button', { name: /^Nothing/ }).click();
        await until(() => filtersOf(page)).toEqual({});
        const last = await open(page, 'Nothing');
        await last.getByRole('button', { name: 'Delete Nothing' }).click();
        await until(() => last.getByRole('button', { name: /^Nothing/ }).count()).toBe(0);
      },
      { viewport: { width: 390, height: 844 } },
    ));

  type Seen = { readonly page: Page; readonly asked: string[] };
  const showEditor = async (
    permissions: Readonly<Record<string, boolean>>,
    look: (seen: Seen) => Promise<void>,
    options: BrowserContextOptions = {},
  ): Promise<void> => {
    const token = await mintFor(product, permissions);
    const host = await startHostPage(
      product.url,
      () =>
        `<guestlist-editor token="${token}" service-url="${product.url}" dashboard-id="cards--LAX"></guestlist-editor>`,
    );
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US', ...options });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
      await page.goto(host.url);
      await look({ page, asked });
      expect(await page.evaluate('violations')).toEqual([]);
    } finally {
      await context.close();
      host.close();
    }
  };
  const shot = (page: Page, name: string) =>
    screenshots === undefined
      ? undefined
      : page.screenshot({ path: `${screenshots}/editor-${name}.png`, fullPage: true });
  const faultsOfEditor = async (page: Page): Promise<unknown> => {
    await page.evaluate(axe);
    return page.evaluate(
      "axe.run('guestlist-editor').then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))",
    );
  };
  const build = async (page: Page): Promise<void> => {
    const button = (name: RegExp) => page.getByRole('button', { name }).first();
    await page.getByLabel('Search fields').fill('delay');
    await button(/^Measure Delay/).click();
    await page.getByRole('combobox', { name: /^Measure Delay/ }).selectOption('AVG');
    await page.getByLabel('Search fields').fill('state');
    await button(/^Split by .*state/i).click();
    await page.getByLabel('Search fields').fill('');
    await page.locator('guestlist-card canvas').waitFor();
  };

  const looks: readonly [string, BrowserContextOptions][] = [
    ['light-1440', {}],
    ['dark-1440', { colorScheme: 'dark' }],
    ['light-390', { viewport: { width: 390, height: 844 } }],
    ['dark-390', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
  ];
  test.each(looks)('a guest builds a metric from fields (%s)', (name, options) =>
    showEditor(
      {},
      async ({ page }) => {
        await page.getByText(/^Choose a field: /).waitFor();
        await build(page);
        await shot(page, name);
        expect(await faultsOfEditor(page)).toEqual([]);
      },
      options,
    ),
  );

  test('the editor saves what it shows, undoes and redoes, and says why a chart does not fit', () =>
    showEditor({}, async ({ page, asked }) => {
      await build(page);
      await page.getByRole('button', { name: 'Undo' }).click();
      await until(() => page.getByRole('button', { name: /^Remove .*state/i }).count()).toBe(0);
      await page.getByRole('button', { name: 'Redo' }).click();
      await page.getByRole('button', { name: /^Remove .*state/i }).waitFor();
      const gauge = page.getByRole('button', { name: /^gauge/ });
      expect(await gauge.getAttribute('aria-disabled')).toBe('true');
      await gauge.getByText('Fields to split by, at most: 0').waitFor();
      await page.getByRole('button', { name: /^pie chart/ }).click();
      await page.locator('guestlist-card canvas').waitFor();
      await page.getByLabel('Name', { exact: true }).fill('Delay by state');
      await page.keyboard.press('Tab');
      await page.getByRole('heading', { name: 'Delay by state' }).waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText(/^Choose a field: /).waitFor();
      expect(asked.filter((each) => /^POST .*\/metrics$/.test(each))).toHaveLength(1);
      await show('mia', own, async (board) => {
        await board.getByRole('heading', { name: 'Delay by state' }).waitFor();
      });
    }));

  test('without a permission for metrics, the editor shows nothing and asks for no field', () => {
    const none = ['isEnableMetricUpdation', 'isEnableArchiveMetrics', 'isEnableManageMetrics'];
    const permissions = Object.fromEntries([['isDisableMetricCreation', true], ...none.map((name) => [name, false])]);
    return showEditor(permissions, async ({ page, asked }) => {
      await page.locator('guestlist-editor[absent]').waitFor({ state: 'attached' });
      expect(await page.locator('guestlist-editor-panel, guestlist-own-metrics').count()).toBe(0);
      expect(asked.filter((each) => /\/(?:fields|metrics)$/.test(each))).toEqual([]);
    });
  });
});
