/** A page whose script is of an earlier release than the service: the parts that the script names are gone. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { makeBoards, mintFor } from './card-board.js';
import { startHostPage } from './host-page.js';
import { type Product, startProduct } from './product.js';

const screenshots = process.env.TEST_SCREENSHOTS;
const part = /\/charts\/([\w-]+?)-[\w-]{8}\.js$/;

describe.skipIf(!hasChromium())('parts that are gone after an upgrade', { timeout: 120_000 }, () => {
  let product: Product;
  let browser: Browser;
  let host: Awaited<ReturnType<typeof startHostPage>>;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    await makeBoards(product);
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

  /** Opens the page. `isGone` says for each request of a part, by its name and how often it was asked, whether it fails. */
  const visit = async (
    isGone: (name: string, count: number) => boolean,
    look: (page: Page, asked: ReadonlyMap<string, number>) => Promise<void>,
  ) => {
    const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce' });
    const page = await context.newPage();
    const asked = new Map<string, number>();
    await page.route(part, (route) => {
      const name = part.exec(route.request().url())?.[1] ?? '';
      asked.set(name, (asked.get(name) ?? 0) + 1);
      const headers = { 'access-control-allow-origin': '*' };
      return isGone(name, asked.get(name) ?? 0) ? route.fulfill({ status: 404, headers }) : route.continue();
    });
    await page.goto(`${host.url}/light`);
    await look(page, asked).finally(() => context.close());
  };
  const bars = (page: Page) => page.locator('guestlist-card', { has: page.getByRole('heading', { name: 'Bars' }) });

  test('a part that fails once is asked for again by itself', () =>
    visit(
      (name, count) => (name === 'cartesian' || name === 'controls') && count === 1,
      async (page, asked) => {
        await bars(page).locator('canvas').waitFor();
        await page.waitForFunction("customElements.get('guestlist-multi-select') !== undefined");
        expect(asked.get('controls')).toBe(2);
        expect(asked.get('cartesian')).toBe(2);
        expect(await page.getByRole('button', { name: 'Reload the page' }).count()).toBe(0);
      },
    ));

  test('a part that is gone leaves the other cards', () =>
    visit(
      (name) => name === 'cartesian',
      async (page) => {
        await bars(page).getByRole('button', { name: 'Reload the page' }).waitFor();
        await page.getByRole('region', { name: 'Total', exact: true }).locator('.value').waitFor();
        await page.getByRole('cell', { name: 'CA', exact: true }).first().waitFor();
      },
    ));

  test('where all parts are gone, the page says to reload it', async () => {
    let isUpgraded = true;
    await visit(
      () => isUpgraded,
      async (page, asked) => {
        const reload = bars(page).getByRole('button', { name: 'Reload the page' });
        await reload.waitFor();
        await bars(page).getByText('A part of the page could not be loaded.').waitFor();
        // Two cards need the part.
        expect(asked.get('cartesian')).toBeLessThanOrEqual(4);
        // Tables and numbers come with the controls.
        for (const name of ['States', 'Total'])
          await page
            .getByRole('region', { name, exact: true })
            .getByRole('button', { name: 'Reload the page' })
            .waitFor();
        if (screenshots) await page.screenshot({ path: `${screenshots}/upgrade.png`, fullPage: true });
        isUpgraded = false;
        await reload.click();
        await bars(page).locator('canvas').waitFor();
        await page.getByRole('cell', { name: 'CA', exact: true }).first().waitFor();
        expect(await page.getByRole('button', { name: 'Reload the page' }).count()).toBe(0);
      },
    );
  });
});
