/**
 * The first hour by Studio alone: from the pasted URL of a database to a published dashboard on a page of another origin,
 * behind a session of Express. No file is edited and no claim is typed; each number is as SQL by hand gives it.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { helpdesk, inOrder, openHost, type Source } from '../cli/first-hour-worlds.js';
import { readMetricsWith } from '../cli/init-suite.js';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { type Product, startProduct } from './product.js';
import { openStudioPage, shootPage, studioOf, violationsOf } from './studio-page.js';

const secret = randomBytes(48).toString('base64url');
/** What every installation says of its sessions, before there is any dashboard. */
const policy = `version: 1
dataApp: app # the host's application
workspace: none
datamart: none
session:
  claims: { tenant_id: string, roles: list<string> }
  tenant: claims.tenant_id
  roles: "has(claims.roles) ? claims.roles : []"
templates: {}
rules: []
`;
/** Deleted tickets and tests are left out of charts that read tickets, as the model proposes it. */
const proposed = 'deleted_at IS NULL AND NOT is_test';

const startEmpty = async (database: string, origin: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-studio-hour-'));
  await mkdir(join(folder, 'data'));
  const { hostname, port } = new URL(database);
  const settings = `datasources: { allowedHosts: ['${hostname}:${port || 5432}'] }\ngateway: { policies: ./policy.yaml, allowedOrigins: ['${origin}'] }\n`;
  await writeFile(join(folder, 'guestlist.yaml'), settings);
  await writeFile(join(folder, 'policy.yaml'), policy);
  const env = { GUESTLIST_CONFIG: join(folder, 'guestlist.yaml'), GUESTLIST_HOST_JWT_SECRET: secret };
  const product = await startProduct({ dataDir: join(folder, 'data'), env });
  const stop = async (): Promise<void> => {
    await product.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { product, folder, settings, stop };
};

const isPossible = hasChromium() && helpdesk.isThere;

describe.skipIf(!isPossible)('a first hour in Studio, with a help desk on PostgreSQL', { timeout: 300_000 }, () => {
  let source: Source;
  let host: Awaited<ReturnType<typeof openHost>>;
  let started: Awaited<ReturnType<typeof startEmpty>>;
  let product: Product;
  let browser: Browser;
  let page: Page;
  let faults: readonly string[];
  let clicks = 0;

  beforeAll(async () => {
    [source, host] = await Promise.all([helpdesk.open(), openHost()]);
    started = await startEmpty(source.url, host.origin);
    product = started.product;
    browser = await launchChromium();
    ({ page, faults } = await openStudioPage(browser, product, await studioOf(() => product).newLink()));
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await started?.stop();
    host?.close();
    await source?.drop();
  });

  const press = async (control: Locator): Promise<void> => {
    clicks += 1;
    await control.click();
  };
  /** Opens the list, and presses one of its lines. */
  const choose = async (list: string, label: string): Promise<void> => {
    clicks += 2;
    await page.locator(`studio-embed-code select[name="${list}"]`).selectOption({ label });
  };
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const step = (name: string) => page.locator('.steps [aria-current="step"]', { hasText: name });
  const look = async (name: string): Promise<void> => {
    await shootPage(page, `hour-${name}`);
    expect([name, await violationsOf(page)]).toEqual([name, []]);
  };
  const paste = (url: string) => page.getByLabel(/^URL of the database/).fill(url);

  test('a URL that does not connect says why, and stores nothing', async () => {
    await press(page.getByRole('link', { name: 'Add your data' }).last());
    await paste('postgres://');
    await page.getByText('the database URL cannot be read').or(page.getByText('needs a host')).waitFor();
    await paste('postgres://u:p@db.elsewhere.example:5432/shop');
    await button('Connect').click();
    await page.getByRole('alert').getByText('datasources.allowedHosts').waitFor();
    await look('refused-host');
    const wrong = new URL(source.url);
    wrong.password = 'wrong';
    wrong.username = 'nobody';
    await paste(wrong.href);
    await button('Connect').click();
    await expect.poll(() => page.getByRole('alert').first().textContent()).not.toContain('allowedHosts');
    await look('wrong-password');
    expect(await page.getByRole('alert').first().textContent()).not.toContain('wrong');
    await step('Connect').waitFor();
  });

  test('a pasted URL becomes a published dashboard in one flow of at most 25 clicks', async () => {
    await paste(source.url);
    await page.getByText(/PostgreSQL at .* not encrypted/).waitFor();
    await look('connect');
    await press(button('Connect'));

    await step('Tables').waitFor();
    await page.getByText(/tables will be used/).waitFor();
    await page
      .getByText(/Left out: /)
      .first()
      .waitFor();
    await look('tables');
    // The legend of the diagram alone.
    expect(await page.locator('.badge.bad, .notice.bad:not([hidden])').allTextContents()).toEqual(['✕ nobody’s']);
    await press(button('Use these tables'));

    await step('Dashboard').waitFor();
    await page.getByText('Drawn for').waitFor();
    const drawn = page.locator('studio-card-preview section[aria-busy="false"]');
    await expect.poll(() => drawn.count(), { timeout: 30_000 }).toBe(10);
    expect(await page.locator('studio-card-preview [role="alert"]').count()).toBe(0);
    await look('dashboard');
    await press(button(/^Make the dashboard/));

    await step('Access').waitFor();
    await page.getByText('no faults').waitFor();
    await look('access');
    await press(button('Put the policy in force'));

    await step('Publish and embed').waitFor();
    await press(button('Publish to all tenants'));
    await page.getByText('Published.', { exact: true }).waitFor();
    const cards = page.locator('guestlist-card section[aria-busy="false"]');
    await expect.poll(() => cards.count(), { timeout: 60_000 }).toBe(10);
    await look('embed');
    await choose('page', host.origin);
    await choose('session', 'sent by the page');
    const lines = page.locator('studio-embed-code pre');
    await lines.getByText('yourSession()').first().waitFor();
    host.state.lines = (await lines.textContent()) ?? '';
    host.state.secret = secret;
    await press(button('Copy'));
    expect(clicks).toBeLessThanOrEqual(25);
    console.info(`${clicks} clicks`);
  });

  test('the preview shows a restricted user without a claim being typed', async () => {
    await page.getByLabel('Seen by').selectOption({ index: 3 });
    const cards = page.locator('guestlist-card section[aria-busy="false"]');
    await expect.poll(() => cards.count(), { timeout: 60_000 }).toBe(10 - helpdesk.head.hidden.length);
    await look('embed-restricted');
  });

  test('a session of the host is tried where the lines are, and says what it may open', async () => {
    await page.getByLabel(/^A session token of your product/).fill(sessionOf({ tenant_id: '2' }));
    await button('Ask for an embed token').click();
    await page.getByText('This user may open:').waitFor();
    // Refused connections, and what the overview asked of a data app before there was one.
    expect(faults.filter((fault) => !/status of 400|schedules-list/.test(fault))).toEqual([]);
  });

  test('the flow wrote the policy and no other file', async () => {
    expect(await readFile(join(started.folder, 'guestlist.yaml'), 'utf8')).toBe(started.settings);
    const written = await readFile(join(started.folder, 'policy.yaml'), 'utf8');
    expect(written).toContain("# the host's application");
    expect(written).toContain('user.claims.department');
  });

  const sessionOf = (claims: object): string =>
    jwt.sign({ sub: 'ann', ...claims }, secret, { algorithm: 'HS256', expiresIn: 600 });
  const expectRows = async (claims: object, statements: Readonly<Record<string, string>>) => {
    const read = await readMetricsWith(product.url, sessionOf(claims), host.origin);
    const byHand = read.filter(([name]) => !name.startsWith('Latest'));
    expect(byHand.map(([name]) => name).toSorted()).toEqual(Object.keys(statements).toSorted());
    for (const [name, rows] of byHand) {
      const wanted = await source.ask(statements[name] ?? '');
      expect([name, inOrder(rows.map((row) => Object.values(row)))]).toEqual([name, inOrder(wanted)]);
    }
  };

  test.each([1, 2, 3])('each chart of tenant %i has the numbers that SQL by hand gives', async (tenant) => {
    const tickets = `(SELECT * FROM support.tickets WHERE account_id = ${tenant})`;
    // Minutes of a ticket that is left out stay, without its channel.
    const byChannel = `SELECT t.channel, sum("minutesSpent") FROM support."WorkLogs" l JOIN ${tickets} o ON o.id = l."ticketId"
      LEFT JOIN (SELECT * FROM support.tickets WHERE ${proposed}) t ON t.id = l."ticketId" GROUP BY 1`;
    const { 'Tickets by state': byState = '' } = helpdesk.statements(tenant, proposed);
    const filtered = { 'Tickets by state': byState, 'Minutes spent by channel': byChannel };
    await expectRows({ tenant_id: String(tenant) }, { ...helpdesk.statements(tenant), ...filtered });
  });

  test.each([1, 2, 3])('the head of a department of tenant %i sees its numbers alone', async (tenant) => {
    const { claims, where, hidden } = helpdesk.head;
    const all = helpdesk.statements(tenant, `${where} AND ${proposed}`);
    const seen = Object.fromEntries(Object.entries(all).filter(([name]) => !hidden.includes(name)));
    await expectRows({ tenant_id: String(tenant), roles: ['restricted'], ...claims }, seen);
  });

  test('on the page of the host, a logged-in person sees all charts, and nobody else does', async () => {
    const context = await browser.newContext({ viewport: { width: 1200, height: 2400 } });
    const own = await context.newPage();
    expect((await own.goto(host.origin))?.status()).toBe(401);
    const claims = { sub: 'ann', tenant_id: '1' };
    await own.goto(`${host.origin}/login?claims=${encodeURIComponent(JSON.stringify(claims))}`);
    const ready = own.locator('guestlist-card section[aria-busy="false"]');
    await expect.poll(() => ready.count(), { timeout: 60_000 }).toBe(10);
    expect(await own.locator('guestlist-card [role="alert"]').count()).toBe(0);
    await shootPage(own, 'hour-host');
    await context.close();
  });
});
