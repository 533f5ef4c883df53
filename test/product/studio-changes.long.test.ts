/** Studio before a roll-out and after a migration: which cards whom a policy closes, and how a model follows its database. */
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { runOnFile } from '../suites/duckdb-file.js';
import { flightsFile } from '../suites/flights.js';
import { get, request } from './guest.js';
import { type Product, startProduct } from './product.js';
import { chooseUser, openStudioPage, shootPage, studioOf, violationsOf } from './studio-page.js';

/** Renames, drops, adds and retypes columns below the model of the demo. */
const migration = [
  'ALTER TABLE airports RENAME COLUMN city TO town',
  'ALTER TABLE airports DROP COLUMN country',
  'ALTER TABLE airports ALTER latitude TYPE VARCHAR',
  'ALTER TABLE flights ADD COLUMN gate VARCHAR',
  'CREATE TABLE crews (id BIGINT PRIMARY KEY, origin VARCHAR)',
];
/** No relationship leads from tenants to airports, so no card of it can be restricted to a state. */
const islanded = {
  ...{ metricId: 'tenants', name: 'Tenants', lineage: [], placement: 'METRIC' },
  definition: {
    ...{ kind: 'visual', chart: { type: 'singleValue' }, from: { schemaName: 'main', tableName: 'tenants' } },
    measures: [{ name: 'Tenants', aggregate: 'COUNT' }],
  },
};
const target = { dashboardId: 'delays', workspaceName: 'flights' };

let product: Product;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-changes-'));
  const dataDir = join(folder, 'data');
  await mkdir(join(dataDir, 'demo'), { recursive: true });
  const path = join(dataDir, 'demo/flights.duckdb');
  await copyFile(await flightsFile(), path);
  await runOnFile(path, migration);
  product = await startProduct({ dataDir });
  const { url, credentials } = product;
  const content = `${url}/api/v2/data-app/dashboards/content`;
  const bearer = credentials.serviceToken;
  type Content = { data: { metrics: readonly object[]; layout: readonly object[] }; digest: string };
  const { body } = await get<Content>(`${content}?${new URLSearchParams(target)}`, bearer);
  const { data, digest } = body;
  const layout = [...data.layout, { metricId: 'tenants', x: 0, y: 90, w: 4, h: 3 }];
  const written = await request(content, {
    method: 'PUT',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ ...target, expectedDigest: digest },
      content: { ...data, layout, metrics: [...data.metrics, islanded] },
    }),
  });
  expect([written.status, written.text]).toEqual([200, expect.any(String)]);
}, 180_000);
afterAll(async () => {
  await product?.stop();
  await rm(folder, { recursive: true, force: true });
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

  const open = (path: string) => page.goto(`${product.url}/studio/${path}`);

  test('before a roll-out each role has the number of its closed cards, with the restriction and its line', async () => {
    await open('rollouts?template=delays');
    const panel = page.locator('studio-cards');
    const regional = panel
      .locator('.profile', { hasText: /As “analyst” and “regional”, 1 of \d+ cards can’t be shown/ })
      .first();
    await regional.waitFor({ timeout: 60_000 });
    await regional.locator('summary').click();
    await expect
      .poll(() => regional.innerText())
      .toMatch(
        /“regional users see destinations of their own state” \(flights\.yaml:\d+:\d+\) restricts by “Destination state”/,
      );
    expect(await violationsOf(page)).toEqual([]);
    await shootPage(page, 'cards');
  });

  test('under “View as” the chosen user’s cards come first', async () => {
    await chooseUser(page);
    await open('dashboards/delays?tab=view');
    const panel = page.locator('studio-cards');
    await panel.locator('summary', { hasText: 'Who can’t see which cards?' }).click();
    await panel.locator('li', { hasText: /lena/ }).waitFor({ timeout: 60_000 });
    expect(await violationsOf(page)).toEqual([]);
    await shootPage(page, 'cards-view');
  });

  test('the changes of a database are decided on the page of the model, and saved', async () => {
    await open('models/flights');
    const panel = page.locator('studio-model-sync');
    await panel.getByText('main.airports.city').first().waitFor({ timeout: 60_000 });
    expect(await violationsOf(page)).toEqual([]);
    await shootPage(page, 'model-sync');
    const names = await panel.locator('.changes > li code').allInnerTexts();
    expect(names).toEqual(
      expect.arrayContaining(['main.airports.city', 'main.airports.country', 'main.flights.gate', 'main.crews']),
    );
    await panel.getByLabel('Decision about main.flights.gate').selectOption('leaveOut');
    await panel.getByLabel('Decision about main.airports.country').selectOption('remove');
    await panel.getByRole('button', { name: /^Save \d+ changes$/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save all the same' }).click();
    await panel.getByText('The database has what this model says').waitFor({ timeout: 30_000 });
    await shootPage(page, 'model-synced');
  });
});
