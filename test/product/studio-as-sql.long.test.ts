/** “Turn into SQL” in Studio of the built product: what is said before, what it becomes, one undo, and a refusal. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { get } from './guest.js';
import { type Product, startProduct } from './product.js';
import { chooseUser, openStudioPage, shootPage, studioOf, violationsOf } from './studio-page.js';

type Metric = { readonly metricId: string; readonly definition: { readonly kind: string; readonly sql?: string } };

describe.skipIf(!hasChromium())('a chart that is turned into SQL', { timeout: 300_000 }, () => {
  let product: Product;
  let browser: Browser;
  let page: Page;
  let faults: readonly string[];

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    ({ page, faults } = await openStudioPage(browser, product, await studioOf(() => product).newLink()));
    page.setDefaultTimeout(60_000);
    await chooseUser(page);
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
    await product?.remove();
  });

  const metricOf = async (id: string): Promise<Metric | undefined> => {
    const query = new URLSearchParams({ dashboardId: 'delays', workspaceName: 'flights' });
    const { serviceToken } = product.credentials;
    type Content = { readonly data: { readonly data: { readonly metrics: readonly Metric[] } } };
    const { body } = await get<Content['data']>(
      `${product.url}/api/v2/data-app/dashboards/content?${query}`,
      serviceToken,
    );
    return body.data.metrics.find(({ metricId }) => metricId === id);
  };
  const openSql = async (id: string) => {
    await page.goto(`${product.url}/studio/dashboards/delays?workspace=flights&tab=new&metric=${id}`);
    const editor = page.locator('studio-metric-editor');
    await editor.getByRole('tab', { name: 'SQL' }).click();
    await editor.getByText('Marked: the scope of the tenant LAX').waitFor();
    return editor;
  };

  test('an author is told what changes, the text runs as it stands, and “Undo” brings the fields back', async () => {
    const before = await metricOf('flights-a-day');
    expect(before?.definition.kind).toBe('visual');
    const editor = await openSql('flights-a-day');
    await shootPage(page, 'as-sql-button');
    expect(await violationsOf(page)).toEqual([]);
    await editor.getByRole('button', { name: 'Turn into SQL' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Readers can no longer drill').waitFor();
    await shootPage(page, 'as-sql-asked');
    expect(await violationsOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Turn into SQL' }).click();
    await page.locator('studio-sql-metric').getByText('It can be answered.').waitFor();
    await shootPage(page, 'as-sql-turned');
    expect(await violationsOf(page)).toEqual([]);
    const turned = await metricOf('flights-a-day');
    expect(turned?.definition).toMatchObject({ kind: 'sql', sql: expect.stringMatching(/^SELECT\n/) });
    expect(turned?.definition.sql).not.toMatch(/LAX|gl_/);
    await page.getByRole('button', { name: 'Undo', exact: true }).first().click();
    await page.locator('studio-metric-editor').waitFor();
    expect(await metricOf('flights-a-day')).toEqual(before);
    expect(faults).toEqual([]);
  });

  test('a chart that no SELECT says stays as it is, and the reason stands beside the button', async () => {
    const editor = await openSql('flights-a-day');
    await editor.getByRole('tab', { name: 'Definition' }).click();
    await editor.getByText('The definition is valid.').waitFor();
    const { definition } = (await metricOf('flights-a-day')) ?? {};
    const calculations = [{ kind: 'runningTotal', name: 'So far', of: 'Flights' }];
    await editor.locator('.cm-content').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(JSON.stringify({ ...definition, calculations }));
    await editor.getByText('The definition is valid.').waitFor();
    await editor.getByRole('tab', { name: 'SQL' }).click();
    await editor.getByRole('button', { name: 'Turn into SQL' }).click();
    await editor.getByRole('alert').getByText('can’t be turned into SQL: it has calculations').waitFor();
    await shootPage(page, 'as-sql-refused');
    expect(await violationsOf(page)).toEqual([]);
    expect((await metricOf('flights-a-day'))?.definition).toEqual(definition);
  });
});
