/** Studio proposes rollups of what was asked, adds one to the model, and says why none is built where they are off. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { analyst, ask, login, openDashboard } from './guest.js';
import { type Product, startProduct } from './product.js';
import { openStudioPage, shootPage, studioOf, violationsOf } from './studio-page.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
  const { token, embeds } = await login(product, analyst('LAX'));
  const [{ id } = { id: '' }] = embeds;
  const { metrics } = await openDashboard(product, token, id);
  for (const { name } of metrics) await ask(product, token, id, name);
}, 180_000);
afterAll(async () => {
  await product?.stop();
  await product?.remove();
});

const { newLink } = studioOf(() => product);

describe.skipIf(!hasChromium())('in the browser', { timeout: 120_000 }, () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchChromium();
    ({ page } = await openStudioPage(browser, product, await newLink()));
  }, 120_000);
  afterAll(() => browser?.close());

  test('a proposal is added to the model by one button, and one asks for its build', async () => {
    await page.goto(`${product.url}/studio/models/flights`);
    const panel = page.locator('studio-model-rollups');
    await panel.getByText('This model has none.').waitFor({ timeout: 60_000 });
    await panel.getByRole('button', { name: 'Propose rollups of what was asked' }).click();
    const add = panel.getByRole('button', { name: /^Add to the model: / });
    await add.first().waitFor({ timeout: 60_000 });
    await panel.locator('summary').click();
    expect(await violationsOf(page)).toEqual([]);
    await panel.scrollIntoViewIfNeeded();
    await shootPage(page, 'rollups-proposed');
    const label = (await add.first().getAttribute('aria-label')) ?? '';
    const [, name = ''] = /^Add to the model: (.*)$/.exec(label) ?? [];
    await add.first().click();
    const build = panel.getByRole('button', { name: `Build ${name}` });
    await build.waitFor({ timeout: 60_000 });
    const off = panel.getByText('Rollups are off: the operator sets rollups.folder.');
    await off.waitFor();
    await build.click();
    await off.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await shootPage(page, 'rollups-added');
  });
});
