/**
 * Studio from nothing to tenants, in one run: a database of real data, a model, metrics of eight charts, a policy with a
 * regional role, a roll-out by canary to 50 tenants, a tenant's own edit, a second edition with a conflict, and the way
 * back. Each step is described once, and done by two hands: a pointer, and the keyboard alone. No JSON is typed.
 * Afterwards the installation holds what the same steps by API leave.
 */
import { createSecretKey, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadNorthwind } from '../fixtures/northwind/load.js';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { type EmbedToken, get, post } from './guest.js';
import { type Hand, keyboard, pointer } from './hand.js';
import { startHostPage } from './host-page.js';
import { type Product, startProduct } from './product.js';
import { type Installation, readInstallation, renameAsGuest, runByApi } from './studio-run-api.js';

const secret = randomBytes(48).toString('base64url');
const policy = `version: 1
dataApp: shop
workspace: northwind
datamart: northwind
session:
  claims: { org: string, roles: list<string>, region: string }
  tenant: claims.org
  roles: claims.roles
templates: {}
rules: []
`;
const changedPolicy = policy.replace(
  'templates: {}\nrules: []\n',
  `templates:
  sales:
    name: Sales
    accessSettings: { isAllowMetricCreation: true, isAllowMetricUpdate: true }
rules:
  - name: clerks see sales
    when: '"clerk" in user.roles'
    grant: { templates: [sales], permissions: [isShowDashboardName, isEnableCustomizeLayout] }
  - name: managers change metrics
    when: '"manager" in user.roles'
    grant: { templates: [sales], permissions: [isEnableMetricUpdation] }
restrictions:
  - name: regional clerks see what their own office sold
    when: '"regional" in user.roles'
    restrict:
      dashboardFilters:
        Office: user.claims.region
      show: true
`,
);

const tenantCount = 50;
/** Each with its chart, on the fields that are pressed for it. */
const metrics = [
  ['Freight in all', ['Measure Freight'], 'single value'],
  ['Freight by country', ['Measure Freight', 'Split by Ship country'], 'bar chart'],
  ['Freight by month', ['Measure Freight', 'Split by Order date'], 'line chart'],
  ['Freight by carrier', ['Measure Freight', 'Split by Ship via'], 'pie'],
  ['Freight over time', ['Measure Freight', 'Split by Order date'], 'area'],
  ['Freight, listed', ['Measure Freight', 'Split by Ship country'], 'table'],
  ['Freight in rows', ['Measure Freight', 'Split by Ship country'], 'row chart'],
  ['Freight, share', ['Measure Freight', 'Split by Ship country'], 'doughnut'],
] as const;
const names = metrics.map(([name]) => name);
/** The names after the first roll-out, and after the second. */
const second = names.map((name) => (name === 'Freight by month' ? 'Freight each month' : name));
/** What the tenant made of them that changed its copy. */
const edited = [...second.map((name) => (name === 'Freight in all' ? 'Our freight' : name)), 'Of our own'];
const third = second.map((name) => (name === 'Freight in all' ? 'Freight, total' : name));

/** Makes a metric in the editor, which is the same for an author in Studio and for a guest on a host's page. */
const make = async (
  page: Page,
  hand: Hand,
  [name, fields, chart]: readonly [string, readonly string[], string],
): Promise<void> => {
  const editor = page.locator('guestlist-editor');
  const field = (label: string) => editor.getByRole('button', { name: label, exact: true }).first();
  await field(fields[0] ?? '').waitFor();
  for (const one of fields) await hand.press(field(one));
  const charts = editor.locator('section.charts');
  await hand.press(charts.getByRole('button', { name: new RegExp(`^${chart}`, 'i') }));
  await editor.locator('guestlist-card section[aria-busy="false"]').waitFor();
  await hand.write(editor.getByLabel('Name', { exact: true }), name);
  await hand.press(editor.getByRole('button', { name: 'Save' }));
  await editor.getByText('Saved').waitFor({ state: 'attached' });
};

type Board = { readonly metrics: readonly { readonly metricId: string; readonly name: string }[] };

const sessionOf = (org: string, claims: object = {}): string =>
  jwt.sign({ sub: `clerk-${org}`, org, roles: ['clerk'], ...claims }, createSecretKey(Buffer.from(secret)), {
    expiresIn: 600,
  });
const logIn = async (product: Product, org: string, claims?: object): Promise<EmbedToken> => {
  const ask = () => post<EmbedToken>(`${product.url}/embed-token`, {}, sessionOf(org, claims));
  // Asked once more, since the server may have closed the idle connection that the first request takes.
  const answer = await ask().catch(ask);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
};
const boardOf = async (product: Product, org: string): Promise<Board> => {
  const { token } = await logIn(product, org);
  return (await get<{ data: Board }>(`${product.url}/api/v2/guest/dashboards/sales--${org}`, token)).body.data;
};
const namesAt = async (product: Product, org: string): Promise<readonly string[]> =>
  (await boardOf(product, org)).metrics.map(({ name }) => name);

/** An installation with nothing in it but its configuration and an empty policy. */
const startEmpty = async (database: OwnDatabase) => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-studio-'));
  await mkdir(join(folder, 'data'));
  const { hostname, port } = new URL(database.url);
  const settings = `datasources:\n  allowedHosts: ['${hostname}:${port || 5432}']\ngateway:\n  policies: ./policy.yaml\n`;
  await writeFile(join(folder, 'guestlist.yaml'), settings);
  await writeFile(join(folder, 'policy.yaml'), policy);
  const env = { GUESTLIST_CONFIG: join(folder, 'guestlist.yaml'), GUESTLIST_HOST_JWT_SECRET: secret };
  const product = await startProduct({ dataDir: join(folder, 'data'), env });
  const stop = async (): Promise<void> => {
    await product.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { product, stop };
};

const isPossible = hasChromium() && (await isPostgresThere());
const hands = [['a pointer', pointer] as const, ['the keyboard alone', keyboard] as const];

describe.skipIf(!isPossible)('Studio from nothing to 50 tenants', { timeout: 600_000 }, () => {
  let database: OwnDatabase;
  let customers: readonly string[];
  let tenants: readonly string[];
  /** What the steps by API leave. */
  let expected: Installation;

  beforeAll(async () => {
    database = await createOwnDatabase();
    customers = await loadNorthwind(database.url);
    tenants = customers.slice(0, tenantCount);
    const { product, stop } = await startEmpty(database);
    try {
      const logInAll = async (): Promise<void> => {
        for (const org of tenants) await logIn(product, org);
      };
      const managed = async (org: string) => (await logIn(product, org, { roles: ['clerk', 'manager'] })).token;
      await runByApi(product, { database: database.url, policy: changedPolicy, tenants, logInAll, managed });
      expected = await readInstallation(product, tenants);
    } finally {
      await stop();
    }
  }, 600_000);
  afterAll(() => database?.drop());

  describe.each(hands)('with %s', (_, handOf) => {
    let product: Product;
    let stop: (() => Promise<void>) | undefined;
    let browser: Browser;
    let page: Page;
    let hand: Hand;
    let startedAt: number;

    beforeAll(async () => {
      ({ product, stop } = await startEmpty(database));
      browser = await launchChromium();
      page = await (await browser.newContext({ viewport: { width: 1440, height: 1000 }, locale: 'en-US' })).newPage();
      hand = handOf(page);
      startedAt = performance.now();
    }, 120_000);
    afterAll(async () => {
      console.info(`the run took ${Math.round((performance.now() - startedAt) / 1000)} s`);
      await browser?.close();
      await stop?.();
    });

    const link = (name: string) => page.getByRole('link', { name, exact: true }).first();
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const all = async (orgs: readonly string[]) => Promise.all(orgs.map((org) => namesAt(product, org)));

    test('an owner builds it all in the browser', async () => {
      await page.goto(/studio\s+(\S+)/.exec(product.output())?.[1] ?? '');
      await hand.press(button('Create it'));
      await page.getByText('The data app shop is there.').waitFor();

      await hand.press(link('Sources'));
      await page.getByRole('heading', { name: 'Sources' }).waitFor();
      await hand.press(link('Connect a database'));
      const { hostname, port, username, password, pathname } = new URL(database.url);
      await hand.write(page.getByLabel(/^Name/), 'northwind');
      await hand.write(page.getByLabel(/^Host/), hostname);
      await hand.write(page.getByLabel('Port'), port || '5432');
      await hand.write(page.getByLabel('Database', { exact: true }), pathname.slice(1));
      await hand.write(page.getByLabel(/^User/), decodeURIComponent(username));
      await hand.write(page.getByLabel('Password'), decodeURIComponent(password));
      await hand.press(button('Connect'));
      await page.getByRole('heading', { name: 'northwind' }).waitFor();

      await hand.press(link('Describe its tables'));
      await page.getByRole('heading', { name: 'New model of northwind' }).waitFor();
      expect(await page.getByLabel(/^Which table has one row/).inputValue()).toBe('public.customers');
      const everybodys = 'Everybody’s: all tenants read every row';
      await hand.choose(page.getByLabel('Whose rows public.employees holds'), everybodys);
      await hand.press(button('Create the model'));
      await page.getByRole('heading', { name: 'northwind', exact: true }).waitFor();

      await hand.press(link('Dashboards'));
      await hand.press(button('New dashboard'));
      await hand.write(page.getByLabel('Name', { exact: true }), 'Sales');
      await hand.write(page.getByLabel(/^Id/), 'sales');
      await hand.press(button('Create'));
      await page.getByRole('heading', { name: 'Sales' }).waitFor();
      await hand.press(link('Filters'));
      await hand.write(page.getByLabel(/^Name/), 'Office');
      await hand.choose(page.locator('select[name=column]'), 'Employees: Country');
      await hand.press(button('Add the filter'));
      await page.getByText('The filter “Office” is added.').waitFor();

      await hand.press(link('Policy'));
      await hand.press(button('Change'));
      await hand.write(page.getByRole('textbox', { name: 'The changed policy' }), changedPolicy);
      await hand.press(button('Put in force'));
      await page.getByText('The changed policy is in force.').waitFor();

      await hand.press(page.getByRole('button', { name: /^View as/ }));
      const dialog = page.getByRole('dialog', { name: 'View as a tenant’s user' });
      await hand.press(dialog.getByText('Advanced'));
      await hand.write(dialog.getByRole('combobox', { name: 'Tenant' }), tenants[0] ?? '');
      await hand.write(dialog.getByRole('textbox', { name: /^User/ }), 'clara');
      await hand.write(dialog.getByRole('textbox', { name: /^roles/ }), 'clerk');
      await hand.press(dialog.getByRole('button', { name: 'View as this user' }));

      await hand.press(link('Dashboards'));
      await hand.press(link('Sales'));
      await hand.press(page.locator('summary', { hasText: /^Add$/ }));
      await hand.press(link('Chart'));
      for (const metric of metrics) await make(page, hand, metric);

      await hand.press(link('Charts'));
      await page.getByRole('textbox', { name: 'Name of Freight, share' }).waitFor();
    });

    test('50 tenants get it, each with its own rows; a regional clerk sees what one office sold', async () => {
      for (const org of tenants) await logIn(product, org);
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      const truth = async (org: string, where = 'true') => {
        const from = 'public.orders join public.employees using (employee_id)';
        const sql = `select coalesce(sum(freight), 0) as sum from ${from} where customer_id = $1 and ${where}`;
        return Number((await client.query(sql, [org])).rows[0]?.sum);
      };
      const freightOf = async (org: string, claims?: object) => {
        const { token } = await logIn(product, org, claims);
        const { metrics: cards } = await boardOf(product, org);
        const id = cards.find(({ name }) => name === 'Freight in all')?.metricId;
        const { body } = await post<{ data: readonly Record<string, number>[] }>(
          `${product.url}/api/v2/guest/metrics/${id}/query`,
          { dashboardId: `sales--${org}` },
          token,
        );
        return Number(Object.values(body.data[0] ?? {})[0]);
      };
      const [, org = ''] = tenants;
      expect(await namesAt(product, org)).toEqual(names);
      const whole = await truth(org);
      expect(await freightOf(org)).toBeCloseTo(whole, 2);
      const regional = await freightOf(org, { roles: ['clerk', 'regional'], region: 'UK' });
      expect(regional).toBeCloseTo(await truth(org, "employees.country = 'UK'"), 2);
      expect(regional).toBeGreaterThan(0);
      expect(regional).toBeLessThan(whole);
      await client.end();
    });

    const rename = async (from: string, to: string): Promise<void> => {
      await hand.press(link('Dashboards'));
      await hand.press(link('Sales'));
      await hand.press(link('Charts'));
      await hand.write(page.getByRole('textbox', { name: `Name of ${from}` }), to);
      await page.getByText(`“${from}” is now “${to}”.`).waitFor();
    };
    const planRollout = async (): Promise<void> => {
      await hand.press(page.getByRole('link', { name: 'Roll out', exact: true }));
      await page.getByRole('heading', { name: 'Roll out sales' }).waitFor();
    };
    const state = (text: string) => page.locator('.badge', { hasText: text }).first().waitFor();

    test('an edition goes to a canary of two tenants, then to more of them, and to all 50', async () => {
      await rename('Freight by month', 'Freight each month');
      await planRollout();
      const [first, next, ...others] = tenants;
      await hand.write(page.getByLabel(/^First, only these tenants/), `${first}, ${next}`);
      await hand.write(page.getByLabel(/^Then in steps/), '50, 100');
      await hand.press(button('Roll out to the first'));
      await state('paused');
      expect(await all([first ?? '', next ?? '', others[0] ?? ''])).toEqual([second, second, names]);
      await hand.press(button('Continue'));
      // Every copy of the step has it, and none of the next.
      await page.getByRole('row', { name: /^50 % \d+ applied *$/ }).waitFor();
      await page.getByRole('row', { name: /^100 % \d+ waiting *$/ }).waitFor();
      await page.getByText(', at work now').waitFor({ state: 'hidden' });
      const reached = (await all(tenants)).filter((found) => found.includes('Freight each month')).length;
      expect(reached).toBeGreaterThan(2);
      expect(reached).toBeLessThan(tenantCount);
      await hand.press(button('Continue'));
      await state('finished');
      expect(await all(tenants)).toEqual(tenants.map(() => second));
    });

    test('a tenant’s manager makes a metric on the host’s page, and renames one of the host', async () => {
      const org = tenants[3] ?? '';
      const dashboardId = `sales--${org}`;
      const { token } = await logIn(product, org, { roles: ['clerk', 'manager'] });
      const given = `token="${token}" service-url="${product.url}" dashboard-id="${dashboardId}"`;
      const host = await startHostPage(product.url, () => `<guestlist-editor ${given}></guestlist-editor>`);
      const own = await page.context().newPage();
      await own.goto(host.url);
      await make(own, handOf(own), ['Of our own', ['Measure Freight', 'Split by Ship country'], 'row chart']);
      await own.close();
      host.close();
      // The elements let a guest change own metrics only; a host's page may offer more.
      await renameAsGuest(product, { token, dashboardId, from: 'Freight in all', to: 'Our freight' });
      const found = await all(tenants);
      expect(found).toEqual(tenants.map((each) => (each === org ? edited : second)));
    });

    test('a further edition changes the same: what the tenant gets is chosen, and it all goes back', async () => {
      const changed = tenants[3] ?? '';
      await rename('Freight in all', 'Freight, total');
      await planRollout();
      const conflict = page.getByRole('row', { name: /Freight in all Freight, total Our freight/ });
      expect(await conflict.innerText()).toContain(changed);
      await hand.choose(conflict.getByRole('combobox'), 'the template’s');
      await hand.write(page.getByLabel(/^First, only these tenants/), '');
      await hand.press(button('Roll out'));
      await state('finished');
      const kept = (org: string, usual: readonly string[]) => (org === changed ? [...usual, 'Of our own'] : usual);
      expect(await all(tenants)).toEqual(tenants.map((org) => kept(org, third)));
      await hand.press(button('Take it back'));
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Take it back' }));
      await state('rolled-back');
      expect(await all(tenants)).toEqual(tenants.map((org) => (org === changed ? edited : second)));
    });

    test('the installation holds what the same steps by API leave', async () => {
      expect(await readInstallation(product, tenants)).toEqual(expected);
    });
  });
});
