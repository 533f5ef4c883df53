/**
 * Every page of the product, wide and narrow, light and dark: axe finds nothing, and no page scrolls sideways.
 * `TEST_SCREENSHOTS=FOLDER` keeps a picture of each.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../src/service/operations.js';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { chartsDashboard } from './chart-metrics.js';
import { analyst, login, manager, post } from './guest.js';
import { startHostPage } from './host-page.js';
import { type Product, startProduct } from './product.js';
import { openStudioPage, studioOf, violationsOf } from './studio-page.js';

const screenshots = process.env.TEST_SCREENSHOTS;
const widths = [1440, 1024, 390] as const;
const schemes = ['light', 'dark'] as const;

const studioScreens = [
  ['overview', ''],
  ['start', '/start'],
  ['sources', '/sources'],
  ['source', '/sources/flights'],
  ['models', '/models'],
  ['model', '/models/flights'],
  ['dashboards', '/dashboards'],
  ['canvas', '/dashboards/delays'],
  ['as-the-user', '/dashboards/delays?tab=view'],
  ['metrics', '/dashboards/delays?tab=metrics'],
  ['new-chart', '/dashboards/delays?tab=new'],
  ['sql-chart', '/dashboards/delays?tab=sql'],
  ['proposals', '/dashboards/delays?tab=propose'],
  ['filters', '/dashboards/delays?tab=filters'],
  ['history', '/dashboards/delays?tab=history'],
  ['definition', '/dashboards/delays?tab=definition'],
  ['rollouts', '/rollouts'],
  ['no-rollout', '/rollouts/x'],
  ['policy', '/policy'],
  ['embed', '/embed'],
  ['tenants', '/tenants'],
  ['tenant', '/tenants/LAX'],
  ['queries', '/queries'],
  ['tenant-reports', '/tenant-reports'],
  ['deliveries', '/deliveries'],
  ['tokens', '/tokens'],
  ['keys', '/keys'],
  ['audit', '/audit'],
  ['system', '/health'],
] as const;

const locales = [
  ['en', 'en-US'],
  ['de', 'de-DE'],
  ['ar', 'ar-EG'],
] as const;

/** Resolves when nothing on the page waits any more. */
const settled = async (page: Page): Promise<void> => {
  await page.waitForLoadState('networkidle');
  await expect.poll(() => page.locator('[aria-busy="true"]:visible').count(), { timeout: 60_000 }).toBe(0);
};

/** Looks at the page as it is in each size and scheme. `waits`: the page is meant to wait. */
const look = async (page: Page, name: string, waits = false): Promise<void> => {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      if (!waits) await settled(page);
      const found = await violationsOf(page);
      const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
      expect.soft([name, colorScheme, width, found, overflow > 0]).toEqual([name, colorScheme, width, [], false]);
      if (screenshots !== undefined)
        await page.screenshot({ path: `${screenshots}/${name}-${colorScheme}-${width}.png`, fullPage: width === 390 });
    }
  }
};

const long = 'of all flights that left more than fifteen minutes late, by the airport that they went to';

/** Opens a dashboard of forty charts of all types to the client LAX. */
const openForty = async ({ url, credentials: { demoApiKey } }: Product, language: string): Promise<string> => {
  const { metrics, ...rest } = chartsDashboard as { readonly metrics: readonly { readonly name: string }[] };
  const forty = Array.from({ length: 40 }, (_, index) => {
    const metric = metrics[index % metrics.length];
    if (metric === undefined) throw new Error('there are no charts');
    return { ...metric, metricId: `card-${index}`, name: `${index}. ${metric.name} ${long}` };
  });
  const layout = forty.map(({ metricId }, index) => ({
    metricId,
    x: (index % 3) * 4,
    y: Math.floor(index / 3) * 5,
    w: 4,
    h: 5,
  }));
  const made = await post(
    `${url}/api/v2/data-app/dashboard-embeds`,
    {
      ...{ dashboardId: `forty-${language}--LAX`, workspaceName: 'flights', clientId: 'LAX' },
      accessSettings: { ...operations.createDashboardEmbed.example?.input.accessSettings, datamartName: 'flights' },
      importDashboardData: { ...rest, metrics: forty, layout },
    },
    demoApiKey,
  );
  expect(made.body).toMatchObject({ error: null });
  const answer = await post<{ token: string }>(
    `${url}/api/v2/guest-token/create`,
    {
      ...{ clientId: 'LAX', dataAppName: 'flights', permissions: {} },
      params: { allowedEmbeds: [made.body.id], timezone: 'UTC' },
    },
    demoApiKey,
  );
  return answer.body.token;
};

describe.skipIf(!hasChromium())('each page, wide and narrow, light and dark', { timeout: 600_000 }, () => {
  let product: Product;
  let browser: Browser;
  let studio: { readonly context: BrowserContext; readonly page: Page };

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    await login(product, manager('LAX'));
    await login(product, analyst('ATL'));
    studio = await openStudioPage(browser, product, await studioOf(() => product).newLink());
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
    await product?.remove();
  });

  const open = async (locale: string): Promise<{ readonly context: BrowserContext; readonly page: Page }> => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    return { context, page };
  };

  test.each(studioScreens)('a screen of Studio has no fault: %s', async (name, path) => {
    const { page } = studio;
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${product.url}/studio${path}`);
    await page.locator('main h1').first().waitFor();
    await look(page, `studio-${name}`);
  });

  test.each(locales)('the demo, in %s', async (name, locale) => {
    const { context, page } = await open(locale);
    await page.goto(`${product.url}/demo?user=lax-manager`);
    await page.locator('guestlist-chart canvas').first().waitFor();
    await look(page, `demo-${name}`);
    await context.close();
  });

  test.each(locales)('a dashboard that fails, loads and is empty, in %s', async (name, locale) => {
    const { context, page } = await open(locale);
    await page.route('**/query', (route) => route.fulfill({ status: 503, json: {} }));
    await page.goto(`${product.url}/demo?user=lax-manager`);
    await page.locator('guestlist-card').nth(2).waitFor();
    await settled(page);
    await look(page, `failing-${name}`);
    await page.unroute('**/query');
    await page.route('**/query', () => undefined);
    await page.goto(`${product.url}/demo?user=lax-manager`);
    await page.locator('guestlist-card').nth(2).waitFor();
    await look(page, `loading-${name}`, true);
    await page.unroute('**/query');
    await page.goto(`${product.url}/demo?user=lax-manager&Date=1901-01-01..1901-01-02`);
    await page.locator('guestlist-card').nth(2).waitFor();
    await settled(page);
    await look(page, `empty-${name}`);
    await context.close();
  });

  test.each(locales)('a dashboard of forty cards with long names, in %s', async (language) => {
    const token = await openForty(product, language);
    const host = await startHostPage(
      product.url,
      () =>
        `<main><h1>Numbers</h1><guestlist-dashboard token="${token}" service-url="${product.url}" dashboard-id="forty-${language}--LAX" language="${language}"></guestlist-dashboard></main>`,
    );
    const { context, page } = await open('en-US');
    await page.goto(host.url);
    await page.locator('guestlist-chart canvas').nth(4).waitFor();
    await look(page, `forty-${language}`);
    await context.close();
    host.close();
  });

  test('the front door, a page that is not there, and the landing page of the demo', async () => {
    const { context, page } = await open('en-US');
    for (const [name, path] of [
      ['front-door', '/'],
      ['not-found', '/nothing-here'],
      ['landing', '/demo'],
    ] as const) {
      await page.goto(`${product.url}${path}`);
      await look(page, name);
    }
    await context.close();
  });

  test('each page of the documents', async () => {
    const { context, page } = await open('en-US');
    await page.goto(`${product.url}/docs`);
    const paths = (await page.evaluate(
      "[...new Set([...document.querySelectorAll('nav a[href^=\"/docs\"]')].map((link) => link.getAttribute('href').split('#')[0]))]",
    )) as readonly string[];
    expect(paths.length).toBeGreaterThan(40);
    for (const path of paths) {
      await page.goto(`${product.url}${path}`);
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme });
        for (const width of [1440, 390]) {
          await page.setViewportSize({ width, height: 900 });
          const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
          const found = width === 390 && colorScheme === 'dark' ? [] : await violationsOf(page);
          expect.soft([path, colorScheme, width, found, overflow > 0]).toEqual([path, colorScheme, width, [], false]);
        }
      }
    }
    await context.close();
  });
});
