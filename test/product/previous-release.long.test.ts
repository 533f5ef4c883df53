/** The elements of the previous release with this service, and these elements with the previous service. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { unpackPrevious } from '../suites/previous-release.js';
import { until } from '../web/browser.js';
import { login, manager } from './guest.js';
import { startHostPage } from './host-page.js';
import { type Product, startProduct } from './product.js';

describe.skipIf(!hasChromium())('releases with each other', { timeout: 120_000 }, () => {
  let unpacked: Awaited<ReturnType<typeof unpackPrevious>>;
  let browser: Browser;
  let previous: Product;
  let current: Product;

  beforeAll(async () => {
    unpacked = await unpackPrevious();
    [previous, current, browser] = await Promise.all([
      startProduct({ root: unpacked.folder }),
      startProduct(),
      launchChromium(),
    ]);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    for (const product of [previous, current]) {
      await product?.stop();
      await product?.remove();
    }
    await unpacked?.remove();
  });

  const visit = async (elements: Product, service: Product, look: (page: Page) => Promise<void>): Promise<void> => {
    const { token } = await login(service, manager('LAX'));
    const host = await startHostPage(
      elements.url,
      () =>
        `<guestlist-dashboard token="${token}" service-url="${service.url}" dashboard-id="delays--LAX"></guestlist-dashboard>`,
      service.url,
    );
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US' });
    try {
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      await page.goto(host.url);
      await page.locator('guestlist-card section[aria-busy="false"]').nth(3).waitFor();
      await look(page);
      expect(await page.evaluate('violations')).toEqual([]);
      expect(complaints).toEqual([]);
    } finally {
      await context.close();
      host.close();
    }
  };

  /** What a guest does: reads, filters, filters by a mark's menu, sees rows, downloads, prints. */
  const work = async (page: Page): Promise<void> => {
    const value = page.locator('guestlist-card .value');
    expect(await value.innerText()).toBe('22.2%');
    expect(await page.locator('guestlist-chart canvas').count()).toBe(3);
    await page.getByRole('button', { name: /^Destination state/ }).click();
    await page.getByRole('option', { name: 'CA', exact: true }).click();
    await page.keyboard.press('Escape');
    await until(() => value.innerText()).not.toBe('22.2%');
    await page.getByRole('button', { name: 'Show as table: Flights a day' }).click();
    await page.locator('guestlist-card td').first().waitFor();
    await page.getByRole('button', { name: 'Rows: Flights a day' }).click();
    await page.getByRole('dialog').locator('td').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Download: Flights a day' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'CSV' }).click();
    expect((await download).suggestedFilename()).toBe('Flights a day.csv');
    expect(await page.pdf({ format: 'A4' })).toBeInstanceOf(Buffer);
  };

  test('the elements of the previous release work with this service', () => visit(previous, current, work));

  test('these elements work with the service of the previous release', () => visit(current, previous, work));
});
