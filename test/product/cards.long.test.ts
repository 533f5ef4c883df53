/** What a guest does with the cards of the built product: marks that filter, drilling, rows, large tables. */
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { type CardBoard, describedAs, makeBoards, mintFor } from './card-board.js';
import { startHostPage } from './host-page.js';
import { type Product, startProduct } from './product.js';

const until = <T>(read: () => Promise<T> | T) => expect.poll(read, { timeout: 30_000, interval: 50 });

/** `TEST_SCREENSHOTS=folder` keeps pictures there, to be looked at. */
const screenshots = process.env.TEST_SCREENSHOTS;

describe.skipIf(!hasChromium())('the cards of the product', { timeout: 120_000 }, () => {
  let product: Product;
  let browser: Browser;
  let host: Awaited<ReturnType<typeof startHostPage>>;
  const tokens = new Map<string, string>();

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    await makeBoards(product);
    tokens.set('plain', await mintFor(product, { isEnableUnderlyingData: false }));
    tokens.set('rows', await mintFor(product, { isEnableUnderlyingData: true }));
    // The path of the page: the name of the token, and the dashboard.
    host = await startHostPage(product.url, (path) => {
      const [token = '', board = '', theme = 'light', language = 'en'] = path.split('/');
      return `<guestlist-dashboard language="${language}" theme="${theme}" token="${tokens.get(token)}" service-url="${product.url}" dashboard-id="${board}"></guestlist-dashboard>`;
    });
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    host.close();
    await product.stop();
    await product.remove();
  });

  type Sent = { readonly path: string; readonly body: Readonly<Record<string, unknown>> };

  const visit = async (
    token: string,
    board: CardBoard,
    look: (page: Page, sent: Sent[]) => Promise<void>,
    options: BrowserContextOptions = {},
    changed?: (answer: string) => string,
  ) => {
    const viewport = { width: 1280, height: 1000 };
    const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce', viewport, ...options });
    try {
      const page = await context.newPage();
      const complaints: string[] = [];
      const sent: Sent[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('request', (request) => {
        if (request.method() !== 'POST') return;
        sent.push({ path: new URL(request.url()).pathname, body: JSON.parse(request.postData() ?? '{}') });
      });
      if (changed !== undefined) {
        await page.route('**/api/v2/guest/**', async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, body: changed(await response.text()) });
        });
      }
      await page.goto(
        `${host.url}/${token}/${board}/${options.colorScheme ?? 'light'}/${options.locale?.slice(0, 2) ?? 'en'}`,
      );
      await page.locator('guestlist-card').first().waitFor();
      await settled(page);
      await look(page, sent);
      expect(await page.evaluate('violations')).toEqual([]);
      expect(complaints).toEqual([]);
    } finally {
      await context.close();
    }
  };

  const settled = (page: Page) => until(() => page.locator('guestlist-card section[aria-busy="true"]').count()).toBe(0);
  const cardOf = (page: Page, name: string): Locator =>
    page.locator('guestlist-card', { has: page.getByRole('heading', { name, exact: true }) });
  const chip = (page: Page, label: string): Locator => page.getByRole('button', { name: `Remove filter ${label}` });
  const statesIn = async (page: Page, card: string): Promise<readonly string[]> => {
    const texts = await cardOf(page, card).locator('tbody tr td:nth-child(2)').allTextContents();
    return [...new Set(texts.map((text) => text.trim()))];
  };

  test('what the host says of a dashboard is read under its name, also where the name is not shown', async () => {
    const shown = await mintFor(product, { isShowDashboardName: true });
    const hidden = await mintFor(product, { isShowDashboardName: false });
    tokens.set('named', shown).set('nameless', hidden);
    await visit('named', 'large--LAX', async (page) => {
      const [name, said] = [page.locator('guestlist-dashboard h2').first(), page.getByText(describedAs)];
      const [above, below] = [await name.boundingBox(), await said.boundingBox()];
      expect(below?.y ?? 0).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0) - 1);
    });
    await visit('nameless', 'large--LAX', (page) => page.getByText(describedAs).waitFor());
    await visit('named', 'cards--LAX', async (page) => {
      expect(await page.locator('guestlist-dashboard .description').count()).toBe(0);
    });
  });

  test('a card whose answer was kept says of when its data is, in the language of its reader', async () => {
    const looks = [
      { name: 'light', locale: 'en-US', colorScheme: 'light', width: 1280, said: /^Showing data of Nov 29, 06:00 AM$/ },
      { name: 'dark', locale: 'en-US', colorScheme: 'dark', width: 1280, said: /^Showing data of Nov 29, 06:00 AM$/ },
      { name: 'narrow', locale: 'de-DE', colorScheme: 'light', width: 360, said: /^Daten von 29\. Nov\., 06:00$/ },
    ] as const;
    for (const { name, width, said, ...look } of looks) {
      const viewport = { width, height: 1000 };
      await visit(
        'plain',
        'cards--LAX',
        async (page) => {
          await until(() => page.locator('.marked').first().textContent()).toMatch(said);
          const [note, body] = [page.locator('.marked').first(), page.locator('guestlist-card .body').first()];
          const [below, above] = [await note.boundingBox(), await body.boundingBox()];
          expect(below?.y ?? 0).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0) - 1);
          if (screenshots) await page.screenshot({ path: `${screenshots}/kept-${name}.png` });
        },
        { ...look, viewport, timezoneId: 'UTC' },
        (text) => text.replaceAll('"totalRecords":', '"asOf":"2025-11-29T06:00:00.000Z","totalRecords":'),
      );
    }
  });

  test('a mark of a table filters the cards with its column, and a second click removes the filter', () =>
    visit('plain', 'cards--LAX', async (page, sent) => {
      await until(() => statesIn(page, 'Months').then((states) => states.length)).toBeGreaterThan(3);
      const total = await cardOf(page, 'Total').locator('.value').textContent();
      const mark = cardOf(page, 'States').getByRole('button', { name: 'CA', exact: true });
      const count = await cardOf(page, 'States').locator('tbody tr').count();
      sent.length = 0;
      await mark.click();
      await page.getByRole('menuitem', { name: 'Filter the other charts' }).click();
      await chip(page, 'State: CA').waitFor();
      await until(() => statesIn(page, 'Months')).toEqual(['CA']);
      expect(await cardOf(page, 'States').locator('tbody tr').count()).toBe(count);
      expect(await cardOf(page, 'Total').locator('.value').textContent()).toBe(total);
      await cardOf(page, 'Total').getByText('Not filtered by State: CA').waitFor();
      // One request for all cards that the mark filters; the own card and those without the column keep their answers.
      expect(sent).toHaveLength(1);
      if (screenshots) await page.screenshot({ path: `${screenshots}/cards-marked.png` });
      await mark.click();
      await page.getByRole('menuitem', { name: 'Remove filter' }).click();
      await until(() => statesIn(page, 'Months').then((states) => states.length)).toBeGreaterThan(3);
      await until(() => chip(page, 'State: CA').count()).toBe(0);
    }));

  test('a mark of a chart filters at once if nothing else can be done, and its chip removes the filter', () =>
    visit('plain', 'cards--LAX', async (page) => {
      const canvas = cardOf(page, 'Bars').locator('canvas');
      await canvas.click({ position: { x: 90, y: 150 } });
      const chips = page.getByRole('group', { name: 'Filters from charts' }).getByRole('button');
      await until(() => chips.count()).toBe(1);
      const label = (await chips.textContent())?.trim() ?? '';
      await until(() => statesIn(page, 'Months')).toEqual([label.replace('State: ', '')]);
      await canvas.click({ position: { x: 250, y: 150 } });
      await until(async () => (await chips.textContent())?.trim()).not.toBe(label);
      expect(await chips.count()).toBe(1);
      await chips.click();
      await until(() => chips.count()).toBe(0);
      await until(() => statesIn(page, 'Months').then((states) => states.length)).toBeGreaterThan(3);
    }));

  test('a brushed period filters the cards whose groups it does not split', () =>
    visit('plain', 'cards--LAX', async (page) => {
      const days = () => cardOf(page, 'Daily').locator('tbody tr').count();
      const months = await cardOf(page, 'Months').locator('tbody tr').count();
      const detail = { column: 'Day', from: '2001-02-01T00:00:00', last: '2001-02-10T00:00:00' };
      await cardOf(page, 'Days')
        .locator('guestlist-chart')
        .evaluate((chart, period) => chart.dispatchEvent(new CustomEvent('period', { detail: period })), detail);
      await chip(page, 'Day: Feb 1, 2001 – Feb 10, 2001').waitFor();
      await until(days).toBe(10);
      expect(await cardOf(page, 'Months').locator('tbody tr').count()).toBe(months);
      await chip(page, 'Day: Feb 1, 2001').click();
      await until(days).toBeGreaterThan(100);
    }));

  test('rows behind a mark, where the token allows them, by keyboard alone', () =>
    visit('rows', 'cards--LAX', async (page, sent) => {
      const mark = cardOf(page, 'States').getByRole('button', { name: 'NV', exact: true });
      await mark.focus();
      await page.keyboard.press('Enter');
      const menu = page.getByRole('menu', { name: 'State: NV' });
      await menu.waitFor();
      if (screenshots) await page.screenshot({ path: `${screenshots}/cards-menu.png` });
      expect(
        await menu
          .getByRole('menuitem')
          .allTextContents()
          .then((all) => all.map((text) => text.trim())),
      ).toEqual(['Filter the other charts', 'Drill down', 'Show rows']);
      await page.keyboard.press('Escape');
      await until(() => menu.count()).toBe(0);
      await until(() => mark.evaluate((button) => button.matches(':focus'))).toBe(true);
      await page.keyboard.press('Enter');
      await menu.waitFor();
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Rows behind States' });
      await dialog.locator('td').first().waitFor();
      const states = await dialog.locator('tbody tr td:nth-child(3)').allTextContents();
      expect([...new Set(states.map((text) => text.trim()))]).toEqual(['NV']);
      expect(sent.at(-1)?.body).toMatchObject({ crossFilter: [{ columnName: 'State', value: 'NV' }] });
    }));

  test('a table of more rows than one answer is sorted and paged by the service, and says which rows it shows', () =>
    visit('plain', 'large--LAX', async (page, sent) => {
      const large = cardOf(page, 'Large');
      const rows = large.getByRole('status').filter({ hasText: / of / });
      const first = (offset: number) => large.locator(`tr[aria-rowindex="${offset + 2}"] td`);
      await until(() => rows.textContent()).toMatch(/^1–10,000 of [\d,]+$/);
      const before = await first(0).first().textContent();
      await large.getByRole('button', { name: 'Next' }).click();
      await until(() => rows.textContent()).toMatch(/^10,001–20,000 of /);
      expect(sent.at(-1)?.body).toMatchObject({ offset: 10_000, limit: 10_000 });
      expect(await first(10_000).first().textContent()).not.toBe(before);
      const count = Number(await large.getByRole('table').getAttribute('aria-rowcount'));
      expect(await rows.textContent()).toContain(`of ${(count - 1).toLocaleString('en-US')}`);
      if (screenshots) await page.screenshot({ path: `${screenshots}/cards-page.png` });
      await large.getByRole('button', { name: 'Flights' }).click();
      await until(() => rows.textContent()).toMatch(/^1–10,000 of /);
      expect(sent.at(-1)?.body).toMatchObject({ sort: [{ name: 'Flights', direction: 'DESC' }] });
      expect(sent.at(-1)?.body).not.toHaveProperty('offset');
      const most = Number(await first(0).nth(2).textContent());
      expect(most).toBeGreaterThan(1);
      await large.getByRole('button', { name: 'Next' }).click();
      await until(() => rows.textContent()).toMatch(/^10,001–20,000 of /);
      expect(sent.at(-1)?.body).toMatchObject({ sort: [{ name: 'Flights' }], offset: 10_000 });
      await large.getByRole('button', { name: 'Previous' }).click();
      await until(() => rows.textContent()).toMatch(/^1–10,000 of /);
      expect(Number(await first(0).nth(2).textContent())).toBe(most);
    }));

  test('drilling stops at the end of the path, and the trail leads back', () =>
    visit('plain', 'cards--LAX', async (page) => {
      const card = cardOf(page, 'States');
      await card.getByRole('button', { name: 'TX', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Drill down' }).click();
      // The title is what the card shows now.
      const drilled = cardOf(page, 'Flights and Average delay by City');
      await drilled.getByRole('columnheader', { name: 'City' }).waitFor();
      await until(() => drilled.locator('tbody td button').count()).toBe(0);
      await drilled.getByRole('button', { name: 'All', exact: true }).click();
      await card.getByRole('columnheader', { name: 'State' }).waitFor();
    }));
});
