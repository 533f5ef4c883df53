/** The side bar in a host's page of the built product: each token's own dashboards, and no others. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { until } from '../web/browser.js';
import { makeBoards } from './card-board.js';
import { analyst, login, post } from './guest.js';
import { startHostPage } from './host-page.js';
import { type Product, startProduct } from './product.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const screenshots = process.env.TEST_SCREENSHOTS;
const permissions = { isShowSideBar: true, isShowDashboardName: true };

describe.skipIf(!hasChromium())('the side bar', { timeout: 180_000 }, () => {
  let product: Product;
  let browser: Browser;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    await makeBoards(product);
    await Promise.all([login(product, analyst('LAX')), login(product, analyst('ATL'))]);
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
    await product?.remove();
  });

  /** Without `allowedEmbeds`, the token opens all of its client. */
  const mint = async (clientId: string, params: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const { url, credentials } = product;
    const answer = await post<{ token: string }>(
      `${url}/api/v2/guest-token/create`,
      { clientId, dataAppName: 'flights', params: { timezone: 'UTC', ...params }, permissions },
      credentials.demoApiKey,
    );
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body.token;
  };
  const show = async (
    token: string,
    dashboardId: string,
    look: (page: Page) => Promise<void>,
    { language = 'en', ...options }: BrowserContextOptions & { readonly language?: string } = {},
  ): Promise<void> => {
    const element = `<guestlist-dashboard token="${token}" service-url="${product.url}" dashboard-id="${dashboardId}" language="${language}"></guestlist-dashboard>`;
    const host = await startHostPage(product.url, () => element);
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(45_000);
      await page.goto(host.url);
      await page.locator('guestlist-card').first().waitFor();
      await page.locator('guestlist-side-bar li').first().waitFor({ state: 'attached' });
      await look(page);
      expect(await page.evaluate('violations')).toEqual([]);
    } finally {
      await context.close();
      host.close();
    }
  };
  const shoot = async (page: Page, name: string): Promise<void> => {
    if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/side-bar-${name}.png` });
  };
  const names = (page: Page): Promise<readonly string[]> =>
    page
      .locator('guestlist-side-bar li')
      .evaluateAll((items) => items.map(({ textContent }) => textContent?.trim() ?? ''));
  const faults = async (page: Page): Promise<unknown> => {
    await page.evaluate(axe);
    return page.evaluate(
      `axe.run('guestlist-dashboard').then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`,
    );
  };

  test('lists what the token of a tenant opens, and opens each of it', async () => {
    await show(await mint('LAX'), 'cards--LAX', async (page) => {
      const listed = await names(page);
      expect(listed).toHaveLength(3);
      for (const name of listed) {
        await page.getByRole('navigation').getByRole('button', { name, exact: true }).click();
        await page.locator('h2', { hasText: name }).waitFor();
        await page.locator('guestlist-card section[aria-busy=false]').first().waitFor();
        await until(() => page.locator('guestlist-side-bar [aria-current=page]').allInnerTexts()).toEqual([name]);
      }
      expect(await faults(page)).toEqual([]);
      await shoot(page, 'wide');
    });
  });

  test('a token of another tenant, or of fewer dashboards, lists its own alone', async () => {
    await show(await mint('LAX', { allowedEmbeds: ['large--LAX'] }), 'large--LAX', async (page) => {
      await shoot(page, 'one');
      expect(await names(page)).toEqual([await page.locator('h2[part=heading]').innerText()]);
    });
    await show(await mint('ATL'), 'delays--ATL', async (page) => {
      expect(await names(page)).toEqual([await page.locator('h2[part=heading]').innerText()]);
      expect(await names(page)).not.toContain('cards--LAX_LAX');
    });
  });

  test.each([
    ['narrow', { viewport: { width: 390, height: 844 } }],
    ['dark', { colorScheme: 'dark' }],
    ['arabic', { language: 'ar' }],
    ['narrow-arabic', { language: 'ar', viewport: { width: 390, height: 844 } }],
  ] as const)('has no fault of accessibility, %s', async (name, options) => {
    await show(
      await mint('LAX'),
      'cards--LAX',
      async (page) => {
        const fold = page.locator('guestlist-side-bar .fold');
        if (await fold.isVisible()) await fold.click();
        expect(await faults(page)).toEqual([]);
        await shoot(page, name);
      },
      options,
    );
  });
});
