/**
 * Studio from nothing to tenants, in one run: a database, a model, metrics of eight charts, a policy with a regional
 * role, a roll-out by canary to 50 tenants, a tenant's own edit, a conflict, and the way back. No JSON is typed.
 */
import { createSecretKey, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customerId, northwindStatements } from '../fixtures/northwind-database.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { hasChromium, launchChromium } from '../web/chromium.js';
import { type EmbedToken, get, post, request } from './guest.js';
import { type Hand, keyboard, pointer } from './hand.js';
import { type Product, startProduct } from './product.js';

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
  sales: { name: Sales }
rules:
  - name: clerks see sales
    when: '"clerk" in user.roles'
    grant: { templates: [sales], permissions: [isShowDashboardName, isEnableCustomizeLayout] }
restrictions:
  - name: regional clerks see their own country
    when: '"regional" in user.roles'
    restrict:
      dashboardFilters:
        Ship country: user.claims.region
      show: true
`,
);

const tenantCount = 50;
const tenants = Array.from({ length: tenantCount }, (_, index) => customerId(index));

const isPossible = hasChromium() && (await isPostgresThere());
const hands = [['a pointer', pointer] as const, ['the keyboard alone', keyboard] as const];

describe.skipIf(!isPossible).each(hands)(
  'Studio from nothing to 50 tenants, with %s',
  { timeout: 600_000 },
  (_, handOf) => {
    let database: OwnDatabase;
    let folder: string;
    let product: Product;
    let browser: Browser;
    let page: Page;
    let hand: Hand;

    beforeAll(async () => {
      database = await createOwnDatabase();
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      for (const statement of northwindStatements) await client.query(statement);
      await client.end();
      folder = await mkdtemp(join(tmpdir(), 'guestlist-studio-'));
      await mkdir(join(folder, 'data'));
      const { hostname, port } = new URL(database.url);
      const settings = `datasources:\n  allowedHosts: ['${hostname}:${port || 5432}']\ngateway:\n  policies: ./policy.yaml\n`;
      await writeFile(join(folder, 'guestlist.yaml'), settings);
      await writeFile(join(folder, 'policy.yaml'), policy);
      const env = { GUESTLIST_CONFIG: join(folder, 'guestlist.yaml'), GUESTLIST_HOST_JWT_SECRET: secret };
      product = await startProduct({ dataDir: join(folder, 'data'), env });
      browser = await launchChromium();
      page = await (await browser.newContext({ viewport: { width: 1440, height: 1000 }, locale: 'en-US' })).newPage();
      hand = handOf(page);
    }, 120_000);
    afterAll(async () => {
      await browser?.close();
      await product?.stop();
      await database?.drop();
      await rm(folder, { recursive: true, force: true });
    });

    const sessionOf = (org: string, claims: object = {}) =>
      jwt.sign({ sub: `clerk-${org}`, org, roles: ['clerk'], ...claims }, createSecretKey(Buffer.from(secret)), {
        expiresIn: 600,
      });
    const logIn = async (org: string, claims?: object) => {
      const answer = await post<EmbedToken>(`${product.url}/embed-token`, {}, sessionOf(org, claims));
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body;
    };
    type Board = {
      readonly metrics: readonly { readonly metricId: string; readonly name: string }[];
      readonly layout: readonly object[];
    };
    const boardOf = async (org: string, claims?: object) => {
      const { token } = await logIn(org, claims);
      const { body } = await get<{ data: Board }>(`${product.url}/api/v2/guest/dashboards/sales--${org}`, token);
      return { token, board: body.data };
    };
    const link = (name: string) => page.getByRole('link', { name, exact: true }).first();
    const button = (name: string) => page.getByRole('button', { name, exact: true });

    test('an owner builds it all in the browser', async () => {
      const startedAt = performance.now();
      await page.goto(/studio\s+(\S+)/.exec(product.output())?.[1] ?? '');
      await hand.press(button('Create it'));
      await page.getByText('The data app shop is there.').waitFor();

      await hand.press(link('Connect a database'));
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
      await hand.press(button('Create the model'));
      await page.getByRole('heading', { name: 'northwind', exact: true }).waitFor();

      await hand.press(link('Dashboards'));
      await hand.press(button('New dashboard'));
      await hand.write(page.getByLabel('Name', { exact: true }), 'Sales');
      await hand.write(page.getByLabel(/^Id/), 'sales');
      await hand.press(button('Create'));
      await page.getByRole('heading', { name: 'Sales' }).waitFor();
      await hand.press(link('Filters'));
      await hand.choose(page.locator('select[name=column]'), 'Orders: Ship country');
      await hand.press(button('Add the filter'));
      await page.getByText('The filter “Ship country” is added.').waitFor();

      await hand.press(link('Policy'));
      await hand.press(button('Change'));
      await hand.write(page.getByRole('textbox', { name: 'The changed policy' }), changedPolicy);
      await hand.press(button('Put in force'));
      await page.getByText('The changed policy is in force.').waitFor();

      await hand.press(page.getByRole('button', { name: /^View as/ }));
      const dialog = page.getByRole('dialog', { name: 'View as a tenant’s user' });
      await hand.write(dialog.getByRole('combobox', { name: 'Tenant' }), customerId(0));
      await hand.write(dialog.getByRole('textbox', { name: /^User/ }), 'clara');
      await hand.write(dialog.getByRole('textbox', { name: /^roles/ }), 'clerk');
      await hand.press(dialog.getByRole('button', { name: 'View as this user' }));

      await hand.press(link('Dashboards'));
      await hand.press(link('Sales'));
      await hand.press(link('New metric'));
      const editor = page.locator('guestlist-editor');
      const field = (name: string) => editor.getByRole('button', { name, exact: true }).first();
      const make = async (name: string, fields: readonly string[], chart: string) => {
        await field(fields[0] ?? '').waitFor();
        for (const one of fields) await hand.press(field(one));
        const charts = editor.locator('section.charts');
        await hand.press(charts.getByRole('button', { name: new RegExp(`^${chart}`, 'i') }));
        await editor.locator('guestlist-card section[aria-busy="false"]').waitFor();
        await hand.write(editor.getByLabel('Name', { exact: true }), name);
        await hand.press(editor.getByRole('button', { name: 'Save' }));
        await editor.getByText('Saved').waitFor({ state: 'attached' });
      };
      await make('Freight in all', ['Measure Freight'], 'single value');
      await make('Freight by country', ['Measure Freight', 'Split by Ship country'], 'bar chart');
      await make('Freight by month', ['Measure Freight', 'Split by Order date'], 'line chart');
      await make('Freight by carrier', ['Measure Freight', 'Split by Ship via'], 'pie');
      await make('Freight over time', ['Measure Freight', 'Split by Order date'], 'area');
      await make('Freight, listed', ['Measure Freight', 'Split by Ship country'], 'table');
      await make('Freight in rows', ['Measure Freight', 'Split by Ship country'], 'row chart');
      await make('Freight, share', ['Measure Freight', 'Split by Ship country'], 'doughnut');

      await hand.press(link('Metrics'));
      await page.getByRole('textbox', { name: 'Name of Freight, share' }).waitFor();
      console.info(`built in ${Math.round((performance.now() - startedAt) / 1000)} s`);
    });

    test('50 tenants get it, each with its own rows; a regional clerk sees one country', async () => {
      for (const org of tenants) await logIn(org);
      const { token, board } = await boardOf(customerId(1));
      expect(board.metrics).toHaveLength(8);
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      const truth = async (where: string) =>
        Number((await client.query(`select sum(freight) as sum from orders where ${where}`)).rows[0]?.sum);
      const askAs = async (bearer: string, org: string) => {
        const metricId = board.metrics.find(({ name }) => name === 'Freight in all')?.metricId;
        const own = await get<{ data: Board }>(`${product.url}/api/v2/guest/dashboards/sales--${org}`, bearer);
        const id = own.body.data.metrics.find(({ name }) => name === 'Freight in all')?.metricId ?? metricId;
        const { body } = await post<{ data: readonly Record<string, number>[] }>(
          `${product.url}/api/v2/guest/metrics/${id}/query`,
          { dashboardId: `sales--${org}` },
          bearer,
        );
        return Number(Object.values(body.data[0] ?? {})[0]);
      };
      expect(await askAs(token, customerId(1))).toBeCloseTo(await truth(`customer_id = '${customerId(1)}'`), 2);
      const regional = await logIn(customerId(2), { roles: ['clerk', 'regional'], region: 'Chile' });
      expect(await askAs(regional.token, customerId(2))).toBeCloseTo(
        (await truth(`customer_id = '${customerId(2)}' and ship_country = 'Chile'`)) || 0,
        2,
      );
      await client.end();
    });

    test('a second edition goes to a canary, then to all; a tenant that changed the same is left, and it all goes back', async () => {
      const changed = customerId(3);
      const copy = { dashboardId: `sales--${changed}`, workspaceName: 'northwind' };
      const bearer = { authorization: `Bearer ${await apiKey()}`, 'content-type': 'application/json' };
      const path = `${product.url}/api/v2/data-app/dashboards/content`;
      type Read = { data: { metrics: { name: string }[] }; digest: string };
      const { body } = await request<Read>(`${path}?${new URLSearchParams(copy)}`, { headers: bearer });
      const content = {
        ...body.data,
        metrics: body.data.metrics.map((metric) => ({
          ...metric,
          name: metric.name === 'Freight in all' ? 'Our freight' : metric.name,
        })),
      };
      const written = await request(path, {
        method: 'PUT',
        headers: bearer,
        body: JSON.stringify({ ...copy, content, expectedDigest: body.digest }),
      });
      expect(written.status).toBe(200);

      await hand.press(link('Dashboards'));
      await hand.press(link('Sales'));
      await hand.press(link('Metrics'));
      const name = page.getByRole('textbox', { name: 'Name of Freight in all' });
      await hand.write(name, 'Freight, total');
      await page.getByText('“Freight in all” is now “Freight, total”.').waitFor();
      await hand.press(page.getByRole('link', { name: 'Roll out', exact: true }));
      await page.getByRole('heading', { name: 'Roll out sales' }).waitFor();
      expect(await page.locator('tr', { hasText: changed }).last().innerText()).toContain('both changed');
      await hand.write(page.getByLabel(/^First, only these tenants/), `${customerId(0)}, ${customerId(1)}`);
      await hand.write(page.getByLabel(/^Then in steps/), '50, 100');
      await hand.check(page.getByRole('checkbox', { name: /Wait after each step/ }));
      await hand.press(button('Roll out'));
      await page.locator('.badge', { hasText: 'paused' }).waitFor();
      const totals = async () => {
        const boards = await Promise.all(tenants.slice(0, 6).map((org) => boardOf(org)));
        return boards.map(({ board }) => board.metrics.some((metric) => metric.name === 'Freight, total'));
      };
      expect(await totals()).toEqual([true, true, false, false, false, false]);
      for (let step = 0; step < 2; step += 1) {
        await hand.press(button('Continue'));
        await page.locator('.badge', { hasText: step === 0 ? 'paused' : 'finished' }).waitFor();
      }
      expect(await totals()).toEqual([true, true, true, false, true, true]);
      expect((await boardOf(changed)).board.metrics.map((metric) => metric.name)).toContain('Our freight');
      await hand.press(button('Take it back'));
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Take it back' }));
      await page.locator('.badge', { hasText: 'rolled-back' }).waitFor();
      expect(await totals()).toEqual([false, false, false, false, false, false]);
      expect((await boardOf(changed)).board.metrics.map((metric) => metric.name)).toContain('Our freight');
    });

    const apiKey = async (): Promise<string> => {
      const answer = await post<{ key: string }>(
        `${product.url}/api/v2/data-app/api-tokens`,
        { dataAppName: 'shop', name: 'test' },
        product.credentials.serviceToken,
      );
      return answer.body.key;
    };
  },
);
