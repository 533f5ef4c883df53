/** The demo's dashboards in German, in a real browser: labels of the tenant's own values, and of no others, in any answer. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { login, manager, openTruth, regional } from './guest.js';
import { startHostPage } from './host-page.js';
import { type Product, startProduct } from './product.js';

/** `TEST_SCREENSHOTS=folder` keeps pictures there, to be looked at. */
const screenshots = process.env.TEST_SCREENSHOTS;

/** Every label of a value in an answer, with the stored value. */
const labelsIn = (text: string): readonly (readonly [string, string])[] =>
  text.split('\n').flatMap((line) => {
    const body = line === '' ? {} : JSON.parse(line);
    const answer = body.answer ?? body;
    const columns: readonly { valueLabels?: Record<string, string> }[] = answer.metaData?.columns ?? [];
    const options: readonly { value?: string; label?: string }[] = Array.isArray(answer.data) ? answer.data : [];
    return [
      ...columns.flatMap(({ valueLabels = {} }) => Object.entries(valueLabels)),
      ...options.flatMap(({ value, label }) =>
        value === undefined || label === undefined || value === label ? [] : [[value, label] as const],
      ),
    ];
  });

describe.skipIf(!hasChromium())('labels in the reader’s language', { timeout: 120_000 }, () => {
  let product: Product;
  let browser: Browser;
  /** An airport with few states, and the states of its rows. */
  let few = '';
  let own: readonly string[] = [];

  beforeAll(async () => {
    const truth = await openTruth();
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    const states = 'flights f JOIN airports a ON f.destination = a.iata';
    const [[origin] = []] = await truth.rows(
      `SELECT origin FROM ${states} GROUP BY 1 HAVING count(DISTINCT state) BETWEEN 2 AND 8 AND bool_or(state = 'CA') ORDER BY count(*) DESC LIMIT 1`,
    );
    few = String(origin);
    own = (await truth.rows(`SELECT DISTINCT state FROM ${states} WHERE origin = '${few}'`)).map(
      ([state]) => `${state}`,
    );
    truth.close();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
    await product?.remove();
  });

  type Look = (page: Page, answers: () => Promise<readonly string[]>, asked: readonly string[]) => Promise<void>;
  const show = async (token: string, dashboardId: string, look: Look, options: object = {}, query = '') => {
    const element = `<guestlist-dashboard id="d" token="${token}" service-url="${product.url}" dashboard-id="${dashboardId}" language="de"></guestlist-dashboard>`;
    const host = await startHostPage(product.url, () => element);
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'de-DE', ...options });
    try {
      const page = await context.newPage();
      const texts: Promise<string>[] = [];
      const asked: string[] = [];
      page.on('request', (request) => asked.push(`${request.url()} ${request.postData() ?? ''}`));
      page.on('response', (response) => {
        if (response.url().includes('/api/v2/guest/')) texts.push(response.text().catch(() => ''));
      });
      await page.goto(`${host.url}/${query}`);
      await page.locator('guestlist-card section[aria-busy="false"]').nth(3).waitFor();
      await look(page, () => Promise.all(texts), asked);
    } finally {
      await context.close();
      host.close();
    }
  };
  const picture = (page: Page, name: string) =>
    screenshots === undefined ? undefined : page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true });

  test('no answer has a label of a value that only other tenants have', async () => {
    const { token } = await login(product, manager(few));
    await show(token, `routes--${few}`, async (page, answers) => {
      await page.getByRole('heading', { name: 'Strecken', exact: true }).waitFor();
      await page.locator('guestlist-card').last().scrollIntoViewIfNeeded();
      await page.locator('guestlist-card section[aria-busy="false"]').nth(5).waitFor();
      await page.getByRole('button', { name: /^Zielstaat/ }).click();
      await page.getByRole('option', { name: 'Kalifornien' }).waitFor();
      await page.getByRole('combobox', { name: /^Zielstaat/ }).fill('Texas');
      const labels = (await answers()).flatMap(labelsIn);
      expect(labels).toContainEqual(['CA', 'Kalifornien']);
      for (const [stored] of labels) expect(own).toContain(stored);
      expect(await page.getByRole('columnheader', { name: 'Flughafen' }).count()).toBeGreaterThan(0);
    });
  });

  test('what was chosen by its label goes to the service as it is stored, and is shown by its label', async () => {
    const { token } = await login(product, manager('LAX'));
    await show(token, 'delays--LAX', async (page, _, asked) => {
      await page.getByRole('button', { name: /^Zielstaat/ }).click();
      await page.getByRole('combobox', { name: /^Zielstaat/ }).fill('kalif');
      await page.getByRole('option', { name: 'Kalifornien' }).click();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Zielstaat Kalifornien' }).waitFor();
      await expect.poll(() => asked.some((text) => text.includes('"Destination state":["CA"]'))).toBe(true);
      expect(asked.filter((text) => /"[^"]*":\[?"Kalifornien/.test(text))).toEqual([]);
      expect(new URL(page.url()).searchParams.getAll('Destination state')).toEqual(['CA']);
      await page.locator('guestlist-card .note').getByText('Zielstaat: Kalifornien').first().waitFor();
      await picture(page, 'delays-de');
    });
  });

  test('values of the address and of the token are shown by their labels', async () => {
    const { token } = await login(product, manager('LAX'));
    const see = (page: Page) => page.getByRole('button', { name: 'Zielstaat Nevada' }).waitFor();
    await show(token, 'delays--LAX', see, {}, '?Destination+state=NV');
    const { token: narrow } = await login(product, regional);
    await show(narrow, 'delays--SFO', async (page, answers) => {
      const labels = (await answers()).flatMap(labelsIn);
      for (const [stored] of labels) expect(stored).toBe('CA');
      const locked = page.getByRole('group', { name: 'Zielstaat' });
      if ((await locked.count()) > 0) await locked.getByText('Kalifornien').waitFor();
    });
  });

  test('the demo’s page is German in a German browser', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'de-DE' });
    try {
      const page = await context.newPage();
      await page.goto(`${product.url}/demo?user=lax-manager`);
      await page.getByRole('heading', { name: 'Verspätungen', exact: true }).waitFor();
      await page.locator('guestlist-card section[aria-busy="false"]').nth(3).waitFor();
      await picture(page, 'demo-de');
      expect(await page.locator('html').getAttribute('lang')).toBe('de');
      const text = await page.locator('body').innerText();
      expect(text).toMatch(/Sie dürfen sehen/);
      expect(text).not.toMatch(/\b(?:You|Flights|Delays|Routes|Airport|Average|Signed|The|min)\b/);
    } finally {
      await context.close();
    }
  });

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('a whole dashboard in German: %s, %i px', async (colorScheme, width) => {
    const { token } = await login(product, manager('LAX'));
    const options = { colorScheme, viewport: { width, height: 900 } };
    await show(
      token,
      'routes--LAX',
      async (page) => {
        await page.locator('guestlist-card').last().scrollIntoViewIfNeeded();
        await page.getByRole('columnheader', { name: /Mittlere Verspätung/ }).waitFor();
        await picture(page, `routes-de-${colorScheme}-${width}`);
        const titles = await page.locator('guestlist-card h3').allInnerTexts();
        expect(titles).toContain('Wohin die Flüge gehen');
        const shown = (await page.locator('guestlist-card').allInnerTexts()).join(' ');
        expect(shown).not.toMatch(/Flights|Airport\b|on time|Average/);
      },
      options,
    );
  });
});
