import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { post } from './guest.js';
import { type Product, startProduct } from './product.js';

import { chooseUser, codeIn, openStudioPage, studioOf, violationsOf } from './studio-page.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 120_000);
afterAll(async () => {
  await product.stop();
  await product.remove();
});

const { logIn, newLink } = studioOf(() => product);

describe('a login link', () => {
  test('is printed at the start and made by a command, and logs in once', async () => {
    const printed = codeIn(product.output());
    await logIn(printed);
    expect((await post(`${product.url}/studio/session`, { code: printed })).status).toBe(401);
    const made = await newLink();
    expect(made).toMatch(new RegExp(`^${product.url}/studio#code=`));
    await logIn(codeIn(made));
  });
});

describe.skipIf(!hasChromium())('in the browser', () => {
  let browser: Browser;
  let page: Page;
  let faults: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
    ({ page, faults } = await openStudioPage(browser, product, await newLink()));
  });
  afterAll(async () => {
    await browser?.close();
  });

  test('a person chooses a user and sees the dashboard of that user', async () => {
    await chooseUser(page);
    await page.getByRole('link', { name: 'Dashboards', exact: true }).first().click();
    await page.getByRole('link', { name: 'Delays', exact: true }).click();
    await page.locator('guestlist-card section[aria-busy="false"]').nth(3).waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });

  test.each(['', 'models/flights', 'policy', 'tenants/LAX', 'health'])(
    'the screen /studio/%s opens without a fault',
    async (path) => {
      await page.goto(`${product.url}/studio/${path}`);
      await page.locator('main h1').waitFor();
      expect([await page.locator('.failure').count(), faults]).toEqual([0, []]);
    },
  );
});
