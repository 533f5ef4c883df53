/** The theme studio of the documentation: charts of each type follow the choices, from the page's own numbers. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chartTypes } from '../../src/model/dashboard/chart.js';
import { decodeTheme } from '../../src/model/theme/design-tokens.js';
import { blocksOfKind } from '../documents/blocks.js';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { type Product, startProduct } from './product.js';
import { violationsOf } from './studio-page.js';

const screenshots = process.env.TEST_SCREENSHOTS;

test('the file that the theme studio begins with has no faults', () => {
  const [block, ...others] = blocksOfKind('theme studio');
  expect(others).toEqual([]);
  expect(decodeTheme(JSON.parse(block?.text ?? '')).faults).toEqual([]);
});

describe.runIf(hasChromium())('in a browser', () => {
  let product: Product;
  let browser: Browser;
  let page: Page;
  let element: Locator;
  const asked: string[] = [];
  const faults: string[] = [];

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    page = await browser.newPage({ viewport: { width: 1440, height: 1000 }, locale: 'en-US' });
    page.on('request', (request) => asked.push(request.url()));
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    await page.goto(`${product.url}/docs/how-to/theme-studio`);
    element = page.locator('guestlist-dashboard');
    await element.locator('canvas').first().waitFor();
  });
  afterAll(async () => {
    await browser.close();
    await product.stop();
    await product.remove();
  });

  const property = async (name: string): Promise<string> =>
    String(
      await page.evaluate(
        `getComputedStyle(document.querySelector('guestlist-dashboard')).getPropertyValue('${name}')`,
      ),
    ).trim();
  const tokens = async () => decodeTheme(JSON.parse((await page.locator('.tokens code').textContent()) ?? '')).theme;
  const shoot = async (name: string): Promise<void> => {
    if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/theme-studio-${name}.png` });
  };
  const expectAccessible = async (name: string): Promise<void> => {
    expect.soft([name, await violationsOf(page)]).toEqual([name, []]);
  };
  /** The picture of the first chart, which is drawn anew after a change. */
  const drawing = async (): Promise<string> =>
    (await element.locator('canvas').first().screenshot()).toString('base64');

  test('draws a chart of each type', async () => {
    const cards = element.locator('guestlist-card');
    await expect.poll(() => cards.count()).toBe(chartTypes.length);
    for (let at = 0; at < chartTypes.length; at += 1) {
      await cards.nth(at).scrollIntoViewIfNeeded();
      await cards.nth(at).locator('section[aria-busy="false"]').waitFor();
      await cards.nth(at).locator('canvas, table, .value').first().waitFor();
      expect(await cards.nth(at).getByRole('alert').count()).toBe(0);
    }
    await expectAccessible('light');
    await page.evaluate('window.scrollTo(0, 0)');
    await shoot('light-1440');
  });

  test('the charts and the file follow the colour, the radius, the font and the density', async () => {
    const before = await drawing();
    await page.getByLabel('Brand colour').fill('#c2185b');
    await expect.poll(() => property('--gl-accent')).toBe('#c2185b');
    await expect.poll(drawing).not.toBe(before);
    await page.getByLabel('Radius').fill('20');
    await page.getByLabel('Font').selectOption('Georgia');
    await page.getByLabel('Compact').check();
    await expect.poll(() => property('--gl-gap')).toBe('8px');
    expect(await property('--gl-radius')).toBe('20px');
    expect(await property('--gl-font')).toBe("'Georgia', serif");
    expect((await tokens()).light).toMatchObject({
      ...{ '--gl-accent': '#c2185b', '--gl-radius': '20px', '--gl-gap': '8px', '--gl-font': "'Georgia', serif" },
    });
    await shoot('brand');
  });

  test('shows the charts dark, from right to left, and as wide as a phone', async () => {
    const light = await property('--gl-accent');
    await page.getByLabel('Dark').check();
    await expect.poll(() => property('--gl-accent')).not.toBe(light);
    expect(await property('--gl-accent')).toBe((await tokens()).dark['--gl-accent']);
    await expectAccessible('dark');
    await shoot('dark');
    await page.getByLabel('Arabic').check();
    await element.locator('.root[dir=rtl]').waitFor();
    await expectAccessible('Arabic');
    await shoot('arabic');
    await page.getByLabel('Phone').check();
    await expect.poll(async () => (await element.boundingBox())?.width).toBeLessThanOrEqual(390);
    await expectAccessible('phone');
    await shoot('phone');
  });

  test('says which colours look alike', async () => {
    // The second of the usual series.
    await page.getByLabel('Brand colour').fill('#bb8946');
    await page.locator('.warnings li', { hasText: 'look alike' }).first().waitFor();
    await page.getByLabel('Brand colour').fill('#0a58ca');
    await expect.poll(() => page.locator('.warnings li').count()).toBe(0);
  });

  test('the button of the file copies the tokens that are shown', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: product.url });
    await page.getByLabel('Brand colour').fill('#00695c');
    await page.locator('.tokens').getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(decodeTheme(JSON.parse(copied)).theme.light['--gl-accent']).toBe('#00695c');
  });

  test.each(['light', 'dark'] as const)('fits a phone, %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 390, height: 900 });
    await page.getByLabel('Whole').check();
    const wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    await expect.poll(() => page.evaluate(wide)).toBe(0);
    await expectAccessible(`390 ${colorScheme}`);
    await page.getByLabel('Brand colour').scrollIntoViewIfNeeded();
    await shoot(`390-${colorScheme}`);
  });

  test('no question for data left the page, and nothing failed', () => {
    const data = asked.filter((url) => !/^\/(?:docs|elements\.js|charts)(?:\/|$)/.test(new URL(url).pathname));
    expect(data).toEqual([]);
    expect(asked.filter((url) => url.includes('/docs/inline'))).toEqual([]);
    expect(faults).toEqual([]);
  });
});
