/** Restrictions that the user may know of are locked in the filter bar. Those that are hidden occur nowhere. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { choosePeriod, dateFilter } from '../suites/date-filter.js';
import { type GuestDashboard, get, login, openDashboard, post, regional } from './guest.js';
import { startHostPage } from './host-page.js';
import { type Product, startProduct } from './product.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const screenshots = process.env.TEST_SCREENSHOTS;

/** A day that is in no data, so that an answer which contains it tells the restriction. */
const hiddenDay = '1987-06-05';

/** What axe-core finds in the dashboard. */
const violationsIn = async (page: Page): Promise<unknown> => {
  await page.evaluate(axe);
  return page.evaluate(
    "axe.run('#d').then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))",
  );
};

describe.skipIf(!hasChromium())('a token with a shown and a hidden restriction', { timeout: 120_000 }, () => {
  let product: Product;
  let browser: Browser;
  let token: string;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    await login(product, regional);
    const entry = (values: object, isShowOnUrl: boolean) => ({ dashboardId: 'delays--SFO', values, isShowOnUrl });
    const made = await post<{ token: string }>(
      `${product.url}/api/v2/guest-token/create`,
      {
        clientId: 'SFO',
        dataAppName: 'flights',
        params: {
          allowedEmbeds: ['delays--SFO'],
          timezone: 'UTC',
          dashboardAppFilters: [
            entry({ 'Destination state': ['CA', 'NV'] }, true),
            entry({ Date: `${hiddenDay} - 2001-02-03` }, false),
          ],
        },
        permissions: { isEnableDownloadMetrics: true, isEnableUnderlyingData: true },
      },
      product.credentials.demoApiKey,
    );
    token = made.body.token;
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
    await product?.remove();
  });

  type Look = (page: Page, answers: () => Promise<readonly string[]>) => Promise<void>;
  const show = async (query: string, options: object, look: Look): Promise<void> => {
    const host = await startHostPage(
      product.url,
      () =>
        `<guestlist-dashboard id="d" token="${token}" service-url="${product.url}" dashboard-id="delays--SFO"></guestlist-dashboard>`,
    );
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US', ...options });
    try {
      const page = await context.newPage();
      const texts: Promise<string>[] = [];
      page.on('response', (response) => texts.push(response.text().catch(() => '')));
      await page.goto(`${host.url}/${query}`);
      await page.locator('guestlist-card section[aria-busy="false"]').nth(3).waitFor();
      await look(page, () => Promise.all(texts));
    } finally {
      await context.close();
      host.close();
    }
  };
  const shown = "document.querySelector('#d')";

  test('shows the one as a locked value, and the other in no answer', () =>
    show('', {}, async (page, answers) => {
      const locked = page.getByRole('group', { name: 'Destination state' });
      expect(await locked.innerText()).toMatch(/^Destination state\s+CA, NV\s+Set by your access$/);
      expect(await locked.locator('button, input, select').count()).toBe(0);
      const all = await answers();
      expect(all.filter((text) => text.includes('"appliedValue":["CA","NV"]')).length).toBe(1);
      expect(all.filter((text) => text.includes(hiddenDay))).toEqual([]);
      expect(await page.content()).not.toContain(hiddenDay);
      expect(page.url()).not.toContain('Date');
    }));

  test('the rows are those of both, whatever the URL, the page or a request says', () =>
    show('?Destination+state=TX&Date=1990-01-01..2001-12-31', {}, async (page) => {
      const value = page.locator('guestlist-card .value');
      await value.waitFor();
      expect(new URL(page.url()).searchParams.getAll('Destination state')).toEqual(['CA', 'NV']);
      const set = `(() => { try { ${shown}.setFilters({ 'Destination state': ['TX'] }); } catch (error) { return error.message; } })()`;
      expect(await page.evaluate(set)).toBe('The filter Destination state is locked: the token sets its value.');
      expect(await page.evaluate(`${shown}.getFilters()`)).not.toHaveProperty('Destination state');
      const { metrics } = await openDashboard(product, token, 'delays--SFO');
      const flights = metrics.find(({ name }) => name === 'Flights a day')?.metricId;
      const ask = async (dashboardFilter: object) => {
        const url = `${product.url}/api/v2/guest/metrics/${flights}/query`;
        const { body } = await post<{ data: readonly unknown[] }>(
          url,
          { dashboardId: 'delays--SFO', dashboardFilter },
          token,
        );
        return body.data.length;
      };
      expect(await ask({ 'Destination state': ['TX'] })).toBe(0);
      expect(await ask({ Date: '2001-02-04 - 2001-12-31' })).toBe(0);
      expect(await ask({})).toBe(34);
    }));

  test('tells the value of the shown one only, to who reads the answers', async () => {
    const paths = ['dashboards/delays--SFO', 'dashboards/delays--SFO/filters/Date/options'];
    const texts = await Promise.all(
      paths.map(async (path) => (await get<GuestDashboard>(`${product.url}/api/v2/guest/${path}`, token)).text),
    );
    expect(texts[0]).toContain('"appliedValue":["CA","NV"]');
    for (const text of texts) expect(text).not.toContain(hiddenDay);
  });

  test('has its filters behind one button on a phone, which counts those that are set', () =>
    show('', { viewport: { width: 390, height: 800 } }, async (page) => {
      expect(await dateFilter(page).isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Filters (1)' }).click();
      const sheet = page.getByRole('dialog', { name: 'Filters' });
      await choosePeriod(sheet, 'Last 90 Days');
      await sheet.getByRole('button', { name: 'Done' }).click();
      await sheet.waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: 'Filters (2)' }).waitFor();
      expect(new URL(page.url()).searchParams.get('Date')).toBe('Last 90 Days');
      await page.getByRole('button', { name: 'Filters (2)' }).click();
      await sheet.getByRole('button', { name: 'Clear filters' }).click();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
    }));

  test.each([
    ['light', 1280, 'en-US', 'ltr'],
    ['dark', 390, 'en-US', 'ltr'],
    ['light', 390, 'ar', 'rtl'],
  ] as const)('is accessible and fits: %s, %i px, %s', (colorScheme, width, locale, dir) =>
    show('', { viewport: { width, height: 900 }, colorScheme }, async (page) => {
      await page.evaluate(
        `document.body.style.background = '${colorScheme === 'dark' ? '#151b26' : '#fff'}'; document.documentElement.dir = '${dir}'; ${shown}.setAttribute('language', '${locale}'); ${shown}.setAttribute('theme', '${colorScheme}')`,
      );
      const locked = page.locator('guestlist-filter-bar .locked');
      if (width < 600) {
        if (screenshots) await page.screenshot({ path: `${screenshots}/closed-${colorScheme}-${locale}.png` });
        await page.getByRole('button', { name: locale === 'ar' ? 'عوامل التصفية (1)' : 'Filters (1)' }).click();
        await page.getByRole('dialog').waitFor();
      }
      await locked.getByText(locale === 'ar' ? 'محدد حسب صلاحياتك' : 'Set by your access').waitFor();
      expect(await violationsIn(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      if (screenshots) await page.screenshot({ path: `${screenshots}/locked-${colorScheme}-${width}-${locale}.png` });
    }),
  );
});
