/** The demo page of the real product in a real browser. Its numbers must equal those of the parquet file. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { type Failure, openTruth, post, session, type Truth } from './guest.js';
import { type Product, startProduct } from './product.js';

const joined = 'flights f LEFT JOIN airports a ON f.destination = a.iata';
const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat('en-US');

describe.skipIf(!hasChromium())('the demo page', () => {
  let product: Product;
  let truth: Truth;
  let browser: Browser;

  beforeAll(async () => {
    [product, truth, browser] = await Promise.all([startProduct(), openTruth(), launchChromium()]);
  });
  afterAll(async () => {
    await browser.close();
    truth.close();
    await product.stop();
    await product.remove();
  });

  /** Opens the page as a user, calls `look`, and asserts that the page had no error. */
  const visit = async (user: string, look: (page: Page) => Promise<void>, allowed: readonly string[] = []) => {
    const context = await browser.newContext({ viewport: { width: 1400, height: 1100 }, locale: 'en-US' });
    try {
      const page = await context.newPage();
      const complaints = complaintsOf(page, product.url);
      await page.addInitScript(
        "addEventListener('securitypolicyviolation', (event) => console.error('CSP: ' + event.violatedDirective + ' ' + event.blockedURI))",
      );
      await page.goto(`${product.url}/demo?user=${user}`);
      await look(page);
      expect(complaints.filter((complaint) => !allowed.some((part) => complaint.includes(part)))).toEqual([]);
    } finally {
      await context.close();
    }
  };

  test('needs one policy of Trusted Types, created once (highcharts#16667)', () =>
    visit('lax-manager', async (page) => {
      // Logged in by then.
      await page.locator('guestlist-card .value').first().waitFor();
      const policy = `default-src 'none'; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types lit-html`;
      await page.route('**/trusted', (route) =>
        route.fulfill({
          contentType: 'text/html',
          headers: { 'content-security-policy': policy },
          body: '<!doctype html><script type="module" src="/elements.js"></script><guestlist-dashboard token-url="/embed-token" dashboard-id="delays"></guestlist-dashboard>',
        }),
      );
      await page.goto(`${product.url}/trusted`);
      // The card of the value and the filters come with chunks, the charts with others.
      await page.locator('guestlist-card .value').waitFor();
      await page.locator('guestlist-filter-bar select').first().waitFor();
      await page.locator('guestlist-chart canvas').first().waitFor();
    }));

  const rows = async (sql: string): Promise<string[][]> =>
    (await truth.rows(sql)).map((row) => row.map((value) => (typeof value === 'number' ? number(value) : `${value}`)));
  const count = async (where: string): Promise<number> =>
    Number((await truth.rows(`SELECT count(*) FROM ${joined} WHERE ${where}`))[0]?.[0]);
  const share = async (where: string): Promise<string> => {
    const sql = `SELECT avg(CASE WHEN delay > 15 THEN 1.0 ELSE 0 END) FROM ${joined} WHERE ${where}`;
    return percent.format(Number((await truth.rows(sql))[0]?.[0]));
  };
  const days = (where: string): Promise<string[][]> =>
    rows(
      `SELECT strftime(date_trunc('day', date), '%b %-d, %Y'), count(*) FROM ${joined} WHERE ${where} GROUP BY date_trunc('day', date), 1 ORDER BY date_trunc('day', date)`,
    );

  /** Asserts that every chart of `delays` shows the file's numbers for the rows of `where`. */
  const checkDelays = async (page: Page, where: string): Promise<void> => {
    await drawn(page, 4);
    expect(await page.locator('guestlist-card .value').textContent()).toBe(await share(where));
    expect(await page.locator('guestlist-chart canvas').count()).toBe(3);
    const expected = await days(where);
    expect(expected.length).toBeGreaterThan(100);
    expect(await tableOf(page, 'Flights a day')).toEqual(expected);
    expect(await tableOf(page, 'Average delay by hour of departure')).toEqual(
      await rows(
        `SELECT CASE WHEN hour(date) % 12 = 0 THEN 12 ELSE hour(date) % 12 END || ' ' || CASE WHEN hour(date) < 12 THEN 'AM' ELSE 'PM' END, avg(delay) || ' min' FROM ${joined} WHERE ${where} GROUP BY hour(date) ORDER BY hour(date)`,
      ).then(inMinutes),
    );
    expect(await tableOf(page, 'Average delay by destination')).toEqual(
      await rows(
        `SELECT a.name, avg(delay) || ' min' FROM ${joined} WHERE ${where} GROUP BY 1 ORDER BY avg(delay) DESC, 1 LIMIT 15`,
      ).then(inMinutes),
    );
  };

  const airports = [
    ['lax-analyst', 'LAX'],
    ['atl-analyst', 'ATL'],
    ['lax-manager', 'LAX'],
  ] as const;
  test.each(airports)('shows %s the flights of %s, as the file has them', (user, airport) =>
    visit(user, (page) => checkDelays(page, `origin = '${airport}'`)),
  );

  test('differs from airport to airport: the comparison above would notice the wrong one', async () => {
    expect(await days("origin = 'LAX'")).not.toEqual(await days("origin = 'ATL'"));
    expect(await share("origin = 'LAX'")).not.toBe(await share("origin = 'ATL'"));
    expect(await share("origin = 'SFO'")).not.toBe(await share("origin = 'SFO' AND a.state = 'CA'"));
  });

  test('shows the regional user Californian destinations only, and the locked filter without a control', () =>
    visit('sfo-regional', async (page) => {
      await checkDelays(page, "origin = 'SFO' AND a.state = 'CA'");
      const californian = new Set((await truth.rows("SELECT name FROM airports WHERE state = 'CA'")).flat());
      const names = (await tableOf(page, 'Average delay by destination')).map(([name]) => name);
      expect(names.length).toBeGreaterThan(3);
      expect(names.filter((name) => !californian.has(name ?? ''))).toEqual([]);
      const locked = page.getByRole('group', { name: 'Destination state' });
      expect((await locked.innerText()).split(/\s*\n\s*/)).toEqual(['Destination state', 'CA', 'Set by your access']);
      expect(await page.getByRole('button', { name: /^Destination state/ }).count()).toBe(0);
    }));

  test('says below the number what is filtered, and shows the number of just that', () =>
    visit('lax-analyst', async (page) => {
      await drawn(page, 4);
      const single = page.locator('guestlist-card .single');
      expect(await single.locator('p').allInnerTexts()).toHaveLength(1);
      await page.getByRole('button', { name: /^Destination state/ }).click();
      await page.getByRole('option', { name: 'NV', exact: true }).click();
      await single.getByText('Destination state: NV').waitFor();
      await single.getByText(await share("origin = 'LAX' AND a.state = 'NV'"), { exact: true }).waitFor();
    }));

  test('chooses all states that a search finds, as many as the file has', () =>
    visit('lax-analyst', async (page) => {
      await drawn(page, 4);
      const found = `SELECT count(DISTINCT a.state) FROM ${joined} WHERE origin = 'LAX' AND a.state LIKE '%N%'`;
      const count = Number((await truth.rows(found))[0]?.[0]);
      expect(count).toBeGreaterThan(3);
      await page.getByRole('button', { name: /^Destination state/ }).click();
      await page.getByRole('combobox', { name: 'Search Destination state' }).fill('n');
      await page.getByRole('button', { name: `Select all ${count}`, exact: true }).click();
      await page.getByText(`${count} chosen`).waitFor();
      const value = await share("origin = 'LAX' AND a.state LIKE '%N%'");
      await page.locator('guestlist-card .single').getByText(value, { exact: true }).waitFor();
    }));

  test('shows the manager the routes, and the rows behind them', () =>
    visit('lax-manager', async (page) => {
      await drawn(page, 4);
      await page.getByRole('navigation', { name: 'Dashboards' }).getByRole('button', { name: 'Routes' }).click();
      await page.getByRole('heading', { name: 'Routes', exact: true }).waitFor();
      await drawn(page, 6);
      expect(await trimmed(page.locator('guestlist-card h3'))).toEqual([
        'Busiest routes',
        'Flights by distance',
        'Where flights go',
        'Spread of delays by day of the week',
        'Flights by state and month',
        'Top destinations',
      ]);
      const destinations = `SELECT destination, count(*) FROM ${joined} WHERE origin = 'LAX' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 12`;
      expect(await tableOf(page, 'Busiest routes')).toEqual(await rows(destinations));
      const top = await cellsOf(page.getByRole('region', { name: 'Top destinations, table' }));
      const places = `SELECT a.name, a.city, a.state, count(*) FROM ${joined} WHERE origin = 'LAX' GROUP BY ALL ORDER BY 4 DESC, 1 LIMIT 25`;
      expect(top.map((row) => row.slice(0, 4))).toEqual(await rows(places));
      await page.getByRole('button', { name: 'Rows: Busiest routes' }).click();
      const dialog = page.getByRole('dialog', { name: 'Rows behind Busiest routes' });
      await dialog.getByText(`1–50 of ${whole.format(await count("origin = 'LAX'"))}`).waitFor();
      const behind = await cellsOf(dialog);
      expect(behind).toHaveLength(50);
      expect(new Set(behind.map(([, origin]) => origin))).toEqual(new Set(['LAX']));
    }));

  test('shows the newcomer the refusal, word for word, and no chart', () =>
    visit(
      'den-newcomer',
      async (page) => {
        const alert = page.getByRole('alert');
        await alert.getByText('NO_POLICY').waitFor();
        const claims = { sub: 'den-newcomer', org_id: 'DEN', roles: [] };
        const answer = await post<Failure>(`${product.url}/embed-token`, {}, session(product, claims));
        expect(answer.body.error.code).toBe('NO_POLICY');
        // Each answer has its own reference.
        expect(await alert.textContent()).toContain(answer.body.error.message.replace(/ Reference: .*/, ''));
        expect(await page.locator('guestlist-dashboard, guestlist-card').count()).toBe(0);
      },
      ['status of 403'],
    ));
});

/**
 * Collects errors of the page, console errors (including violations of the content security policy) and requests to
 * other origins.
 */
const complaintsOf = (page: Page, origin: string): readonly string[] => {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.origin !== origin) complaints.push(`request to elsewhere: ${url.href}`);
  });
  return complaints;
};

const drawn = async (page: Page, cards: number): Promise<void> => {
  await page
    .locator('guestlist-card section[aria-busy="false"]')
    .nth(cards - 1)
    .waitFor();
  expect(await page.locator('guestlist-card').count()).toBe(cards);
  expect(await page.locator('guestlist-card [role=alert]').count()).toBe(0);
};

/** Returns the rows of a chart by its "Show as table" button. */
const tableOf = async (page: Page, metric: string): Promise<string[][]> => {
  const asTable = page.getByRole('button', { name: `Show as table: ${metric}`, exact: true });
  if ((await asTable.count()) > 0) await asTable.click();
  return cellsOf(page.getByRole('region', { name: `${metric}, table`, exact: true }));
};

const cellsOf = async (table: Locator): Promise<string[][]> => {
  await table.locator('tbody tr').first().waitFor();
  const lines = await table.locator('tbody tr').all();
  return Promise.all(lines.map((line) => trimmed(line.locator('td'))));
};

const trimmed = async (locator: Locator): Promise<string[]> =>
  (await locator.allTextContents()).map((text) => text.trim());

const number = (value: number): string => whole.format(value);

/** Writes `12.3456 min` as the page does: one decimal place, or two below one minute. */
const inMinutes = (lines: readonly string[][]): string[][] =>
  lines.map(([name = '', text = '']) => {
    const value = Number.parseFloat(text);
    const small = Math.abs(value) < 1;
    const written = new Intl.NumberFormat('en-US', {
      minimumFractionDigits: small || Number.isInteger(value) ? 0 : 1,
      maximumFractionDigits: small ? 2 : 1,
    }).format(value);
    return [name, `${written}\u00a0min`];
  });
