/** Mistakes of the first hour. Each gets one message that says what to do. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway, type LibraryOptions } from '../../src/compose/library.js';
import { chromiumPath, hasChromium } from '../suites/chromium.js';
import { analyst, type Failure, get, login, post, session } from './guest.js';
import { type Product, runToEnd, startProduct } from './product.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const policyFile = join(root, 'config/policies/flights.yaml');
const hostSecret = 'hours-first-mistake-b7Qx0Zr81LmVt5KdWfYp3Ns6';
let folder: string;
let product: Product;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-mistakes-'));
  product = await startProduct({
    isEmbedded: true,
    env: { GUESTLIST_HOST_JWT_SECRET: hostSecret, GUESTLIST_ALLOWED_ORIGINS: 'http://localhost:8080' },
  });
  await login(product, analyst('LAX'));
});
afterAll(async () => {
  await product.stop();
  await product.remove();
  await rm(folder, { recursive: true, force: true });
});

const logged = (event: string): readonly Record<string, unknown>[] =>
  product
    .output()
    .split('\n')
    .filter((line) => line.includes(`"event":"${event}"`))
    .map((line) => JSON.parse(line));

const refusal = async (path: string, body: unknown, bearer: string): Promise<string> => {
  const { status, body: answer } = await post<Failure>(`${product.url}/api/v2/${path}`, body, bearer);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  return answer.error.message;
};

describe('credentials', () => {
  const mint = { clientId: 'LAX', dataAppName: 'flights', expiryTime: 60_000 };

  it('a key of the wrong kind is named, and what belongs there', async () => {
    const { serviceToken, demoApiKey } = product.credentials;
    const { token } = await login(product, analyst('LAX'));
    expect(await refusal('guest-token/create', mint, serviceToken)).toBe(
      'API key is invalid or expired. This is a service token, not an API key, which a service token makes with POST /api/v2/data-app/api-tokens.',
    );
    expect(await refusal('guest-token/create', mint, token)).toMatch(
      /expired\. This is a guest token of a page, not an API key/,
    );
    expect(await refusal('data-app', { name: 'x' }, demoApiKey)).toBe(
      'invalid service token. This is an API key of a data app, not a service token.',
    );
    const { body } = await get<Failure>(
      `${product.url}/api/v2/guest/dashboards/delays--LAX`,
      session(product, analyst('LAX')),
    );
    expect(body.error.message).toContain('send it to POST /embed-token, which answers a guest token');
  });

  it('a missing key stops a gateway alone, and the message says how to get one', async () => {
    const { code, output } = await runToEnd(['serve', '--only', 'gateway'], {
      GUESTLIST_SERVICE_URL: product.url,
      GUESTLIST_HOST_JWT_SECRET: hostSecret,
    });
    expect([code, output]).toEqual([
      2,
      expect.stringMatching(/has 1 fault.*\n.*GUESTLIST_API_KEY: is not set.*POST \/api\/v2\/data-app\/api-tokens/),
    ]);
  });
});

describe('the start', () => {
  it('a second process on one data folder is told who has it, and what to do', async () => {
    const { code, output } = await runToEnd(['serve'], { GUESTLIST_DATA_DIR: product.dataDir });
    expect(code).toBe(1);
    expect(output).toMatch(
      /is in use by process \d+: a second one would lose rows\. Stop that process, give this one another data folder \(GUESTLIST_DATA_DIR\)/,
    );
  });

  it('an unknown option of createGateway is named, and what was meant', async () => {
    const options = {
      identify: () => null,
      policies: policyFile,
      service: { url: product.url, apiKey: 'k' },
      allowedOrigin: [],
    };
    await expect(createGateway(options as unknown as LibraryOptions)).rejects.toThrow(
      'createGateway: 1 invalid option\n  allowedOrigin: unknown option; did you mean allowedOrigins?',
    );
  });
});

describe('policies', () => {
  it('a misspelt filter is one line with its place and what was meant, before a user is denied', async () => {
    const policies = join(folder, 'policy.yaml');
    await writeFile(policies, readFileSync(policyFile, 'utf8').replace('Destination state:', 'Destination stat:'));
    const lines: Record<string, unknown>[] = [];
    const gateway = await createGateway({
      identify: () => null,
      policies,
      service: { url: product.url, apiKey: product.credentials.demoApiKey },
      dataDir: join(folder, 'ledger'),
      log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    });
    onTestFinished(() => gateway.close());
    const told = () => lines.filter(({ event }) => event === 'policy.name_unknown');
    await vi.waitFor(() => expect(told()).toHaveLength(1), 20_000);
    expect(told()[0]).toMatchObject({ name: 'Destination stat', at: expect.stringMatching(/policy\.yaml:\d+:\d+$/) });
    expect(String(told()[0]?.msg)).toContain('Destination state');
  });

  it('a suspended tenant is the first thing that explain says', async () => {
    const claims = join(folder, 'claims.json');
    await writeFile(claims, JSON.stringify(analyst('ATL')));
    const operator = product.credentials.gatewayToken;
    const suspended = await post(`${product.url}/gateway/admin/tenant-suspend`, { clientId: 'ATL' }, operator);
    expect(suspended.status, suspended.text).toBe(200);
    const { code, output } = await runToEnd(['policy', 'explain', '--as', claims, '--url', product.url], {
      GUESTLIST_DATA_DIR: product.dataDir,
    });
    expect(code).toBe(0);
    expect(output.split('\n').slice(0, 3).join('\n')).toMatch(/suspended/);
  });
});

describe('datamarts and metrics', () => {
  const datamart = {
    name: 'mistaken',
    datasourceName: 'flights',
    tenancySettings: {
      tenancyLevel: 'TABLE',
      clientColumnType: 'STRING',
      schemaName: 'main',
      tableName: 'tenants',
      tablePrimaryKeyColumn: 'iata',
      tableClientNameColumn: 'name',
    },
    tableList: [{ name: 'airports', columns: [{ name: 'iata' }, { name: 'state' }] }],
  };
  const dashboardOf = (parts: object) => ({
    workspaceName: 'flights',
    dashboardId: 'mistaken',
    dashboardName: 'Mistaken',
    importDashboardData: {
      layout: [],
      filters: [],
      gridMargin: [],
      metrics: [{ metricId: 'm', name: 'M', definition: { kind: 'visual', chart: { type: 'bar' }, ...parts } }],
    },
  });
  const from = { schemaName: 'main', tableName: 'flights' };

  it('a table without a tenant is a warning that says how to make it readable', async () => {
    const { body } = await post<{ warnings: { table: string; message: string }[] }>(
      `${product.url}/api/v2/data-app/datamarts`,
      datamart,
      product.credentials.serviceToken,
    );
    expect(body.warnings).toEqual([
      { table: expect.stringContaining('airports'), message: expect.stringMatching(/clientColumn.*sharedTables/s) },
    ]);
  });

  it('SUM of text is refused where the metric is written, with what to choose', async () => {
    const column = { schemaName: 'main', tableName: 'flights', columnName: 'destination' };
    const measures = [{ name: 'Total', aggregate: 'SUM', column }];
    const told = await refusal(
      'data-app/import-dashboard',
      dashboardOf({ from, measures }),
      product.credentials.serviceToken,
    );
    expect(told).toMatch(
      /SUM needs numbers, and column main\.flights\.destination holds text .*choose a column of numbers, or COUNT/,
    );
  });

  it('an unknown field in a metric is one line', async () => {
    const measures = [{ name: 'Flights', aggregate: 'COUNT' }];
    const told = await refusal(
      'data-app/import-dashboard',
      dashboardOf({ from, measures, colour: 'red' }),
      product.credentials.serviceToken,
    );
    expect(told).toMatch(/colour/);
    expect(told.split('\n')).toHaveLength(1);
    expect(told.match(/importDashboardData/g)).toHaveLength(1);
  });
});

/** The page that the README prints. */
const readmePage = /```html\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1] ?? '';

describe.runIf(hasChromium())('in the page', () => {
  let browser: Browser;
  let host: Server;
  let html = '';
  beforeAll(async () => {
    host = createServer((_, response) => response.setHeader('Content-Type', 'text/html; charset=utf-8').end(html));
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    const port = (host.address() as AddressInfo).port;
    const rules = [
      `MAP 127.0.0.1:3000 127.0.0.1:${new URL(product.url).port}`,
      `MAP localhost:8080 127.0.0.1:${port}`,
      `MAP app.example.test:80 127.0.0.1:${port}`,
    ];
    browser = await chromium.launch({
      ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
      args: ['--no-sandbox', '--headless', '--disable-gpu', `--host-resolver-rules=${rules.join(', ')}`],
    });
  });
  afterAll(async () => {
    await browser.close();
    host.close();
  });

  const open = async (url: string, text: string) => {
    html = `<!doctype html>\n${text}`;
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    const faults: string[] = [];
    page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
    page.on('pageerror', (error) => faults.push(String(error)));
    await page.goto(url);
    return { page, faults };
  };
  const withSession = () => {
    const jwt = session(
      { credentials: { ...product.credentials, demoJwtSecret: hostSecret } },
      { iss: undefined, ...analyst('SEA') },
    );
    return `<script>const yourSessionJwt = '${jwt}';</script>\n${readmePage}`;
  };

  it('the lines of the README draw charts, word for word, on the origin that is named', async () => {
    expect(readmePage).toContain("fetch('http://127.0.0.1:3000/embed-token'");
    const { page, faults } = await open('http://localhost:8080/', withSession());
    await page.locator('guestlist-chart canvas').first().waitFor({ timeout: 30_000 });
    expect(faults).toEqual([]);
  });

  it('on another origin they do not, and the log names the setting and the origin', async () => {
    const { faults } = await open('http://app.example.test/', withSession());
    await vi.waitFor(() => expect(faults.join()).toMatch(/CORS|Failed to fetch/), 20_000);
    await vi.waitFor(() =>
      expect(logged('origin.refused')).toEqual([
        expect.objectContaining({
          origin: 'http://app.example.test',
          setting: 'GUESTLIST_ALLOWED_ORIGINS',
          msg: expect.stringContaining('add the origin to GUESTLIST_ALLOWED_ORIGINS'),
        }),
      ]),
    );
  });

  const element = (
    token: string,
    id: string,
  ) => `<script type="module" src="http://127.0.0.1:3000/elements.js"></script>
<guestlist-dashboard token="${token}" dashboard-id="${id}" language="en"></guestlist-dashboard>`;

  const shortToken = async (expiryTime: number): Promise<string> => {
    const { token } = await post<{ token: string }>(
      `${product.url}/api/v2/guest-token/create`,
      { clientId: 'LAX', dataAppName: 'flights', expiryTime, params: { allowedEmbeds: ['delays--LAX'] } },
      product.credentials.demoApiKey,
    ).then(({ body }) => body);
    return token;
  };

  it('an expired token: the element says so, and what to do', async () => {
    const token = await shortToken(1000);
    await vi.waitFor(async () => {
      const { status } = await get(`${product.url}/api/v2/guest/dashboards/delays--LAX`, token);
      expect(status).toBe(401);
    }, 10_000);
    const { page } = await open('http://localhost:8080/', element(token, 'delays--LAX'));
    const told = page.locator('guestlist-dashboard .expired');
    await told.waitFor();
    expect(await told.textContent()).toMatch(/Session expired.*If it does not, reload the page/s);
  });

  it('a revoked token: the element says so, and what to do', async () => {
    const token = await shortToken(600_000);
    await post(`${product.url}/api/v2/guest-token/revoke`, { token }, product.credentials.demoApiKey);
    const { page } = await open('http://localhost:8080/', element(token, 'delays--LAX'));
    await page.getByText('Session expired').waitFor();
    await page.getByText('If it does not, reload the page.').waitFor();
  });
});
