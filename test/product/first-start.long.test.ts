/** The first start: what an operator meets before any key, dashboard or host page is there. */
import { createSecretKey, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import { expect, it, onTestFinished, vi } from 'vitest';
import { placeFlights } from '../suites/flights.js';
import { createOwnDatabase } from '../suites/postgres.js';
import { freePort } from '../suites/redis.js';
import { analyst, type EmbedToken, type Failure, get, login, post } from './guest.js';
import { type Product, runToEnd, type StartOptions, startProduct } from './product.js';

const started = async (options: StartOptions = {}): Promise<Product> => {
  const product = await startProduct(options);
  onTestFinished(async () => {
    await product.stop();
    await product.remove();
  });
  return product;
};

const policy = `version: 1
dataApp: planes
workspace: planes
datamart: planes
session:
  claims: { org: string }
  tenant: claims.org
  roles: "[]"
expiryMinutes: 60
templates: { departures: { name: Departures } }
rules:
  - { name: everybody, when: "true", grant: { templates: [departures] } }
`;

const dashboard = {
  workspaceName: 'planes',
  dashboardId: 'departures',
  dashboardName: 'Departures',
  importDashboardData: {
    gridMargin: [],
    filters: [],
    layout: [{ metricId: 'count', x: 0, y: 0, w: 12, h: 6 }],
    metrics: [
      {
        metricId: 'count',
        name: 'Flights',
        definition: {
          kind: 'visual',
          chart: { type: 'bar' },
          from: { schemaName: 'main', tableName: 'flights' },
          measures: [{ name: 'Flights', aggregate: 'COUNT' }],
        },
      },
    ],
  },
};

const datamart = {
  name: 'planes',
  datasourceName: 'planes',
  tenancySettings: {
    tenancyLevel: 'TABLE',
    clientColumnType: 'STRING',
    schemaName: 'main',
    tableName: 'tenants',
    tablePrimaryKeyColumn: 'iata',
    tableClientNameColumn: 'name',
  },
  tableList: [{ name: 'flights', clientColumn: 'origin', columns: [{ name: 'origin' }, { name: 'date' }] }],
};

const secret = randomBytes(48).toString('base64');
const sessionOf = (org: string): string => {
  const now = Math.floor(Date.now() / 1000);
  return jwt.sign({ sub: 'ana', org, iat: now, exp: now + 600 }, createSecretKey(Buffer.from(secret)));
};

/** A folder with a policy, a configuration and a database file of an operator's own. */
const createFolder = async (): Promise<{ folder: string; dataDir: string; config: string }> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-first-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const dataDir = join(folder, 'data');
  await placeFlights(join(dataDir, 'sources', 'planes.duckdb'));
  await writeFile(join(folder, 'policy.yaml'), policy);
  const config = join(folder, 'guestlist.yaml');
  await writeFile(config, 'gateway: { policies: ./policy.yaml }\n');
  return { folder, dataDir, config };
};

const fill = async ({ url, dataDir, credentials: { serviceToken } }: Product): Promise<void> => {
  const steps: readonly [string, object][] = [
    [
      'datasource',
      { datasourceType: 'DUCKDB', credentials: { name: 'planes', path: join(dataDir, 'sources/planes.duckdb') } },
    ],
    ['data-app/datamarts', datamart],
    ['workspace', { name: 'planes', connectionType: 'DATAMART', datamartName: 'planes' }],
    ['data-app/import-dashboard', dashboard],
  ];
  for (const [path, body] of steps) {
    const { status, text } = await post(`${url}/api/v2/${path}`, body, serviceToken);
    expect([path, status, text]).toEqual([path, 200, text]);
  }
};

it('in production with an own database, both halves in one process need no API key: a tenant sees its rows', {
  timeout: 180_000,
}, async () => {
  const [{ config, dataDir }, database] = await Promise.all([createFolder(), createOwnDatabase()]);
  const product = await started({
    dataDir,
    env: {
      NODE_ENV: 'production',
      GUESTLIST_CONFIG: config,
      DATABASE_URL: database.url,
      GUESTLIST_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      GUESTLIST_HOST_JWT_SECRET: secret,
    },
  });
  onTestFinished(database.drop);
  const ask = (org: string) => post<EmbedToken & Failure>(`${product.url}/embed-token`, {}, sessionOf(org));
  // The data app of the policy is not there yet: ready to be filled, and the log says what is missing.
  expect((await get(`${product.url}/readyz`)).status).toBe(200);
  await fill(product);
  expect((await ask('LAX')).status).toBe(503);
  const told = /"reason":"data-app-missing","cause":"There is no data app \\"planes\\": create it with POST/;
  await vi.waitFor(() => expect(product.output()).toMatch(told));
  await post(`${product.url}/api/v2/data-app`, { name: 'planes' }, product.credentials.serviceToken);
  const { status, body, text } = await ask('LAX');
  expect([status, text]).toEqual([200, text]);
  const metrics = await get<{ data: { metrics: { metricId: string }[] } }>(
    `${product.url}/api/v2/guest/dashboards/${body.embeds[0]?.id}`,
    body.token,
  );
  const asked = { dashboardId: body.embeds[0]?.id };
  const metricId = metrics.body.data.metrics[0]?.metricId ?? '';
  const answer = await post<{ data: { Flights: number }[] }>(
    `${product.url}/api/v2/guest/metrics/${metricId}/query`,
    asked,
    body.token,
  );
  expect(answer.body.data[0]?.Flights).toBeGreaterThan(1000);
  // No key was made on the way: there is none that could leak.
  const keys = await get<{ data: unknown[] }>(
    `${product.url}/api/v2/data-app/api-tokens?dataAppName=planes`,
    product.credentials.serviceToken,
  );
  expect(keys.body.data).toEqual([]);
});

it('what the gateway asks inside the process, nobody can ask over HTTP', async () => {
  const product = await started();
  const attempts: Record<string, string>[] = [{}, { authorization: 'Bearer ' }, { caller: 'apiKey' }];
  for (const headers of attempts) {
    const url = `${product.url}/api/v2/data-app/embeds?caller=apiKey&dataAppName=flights`;
    expect((await fetch(url, { headers })).status).toBe(401);
  }
});

it('a gateway alone without a key does not start, and says how to get one', async () => {
  const env = { GUESTLIST_SERVICE_URL: 'http://127.0.0.1:1', GUESTLIST_HOST_JWT_SECRET: secret };
  const { code, output } = await runToEnd(['serve', '--only', 'gateway'], env);
  expect(code).toBe(2);
  expect(output).toContain('GUESTLIST_API_KEY: is not set, but the service is another process');
  expect(output).toContain('POST /api/v2/data-app/api-tokens {"dataAppName": "...", "name": "gateway"}');
  expect(output).toContain('Gateway and service in one process need none');
});

it('a gateway whose key the service refuses is not ready, and says how to fix it', { timeout: 180_000 }, async () => {
  const service = await started({ args: ['--only', 'service'] });
  const gateway = await started({
    args: ['--only', 'gateway'],
    env: {
      GUESTLIST_SERVICE_URL: service.url,
      GUESTLIST_API_KEY: '7e57ab1e-0000-4000-8000-000000000000',
      GUESTLIST_HOST_JWT_SECRET: secret,
    },
  });
  const { status, body } = await get(`${gateway.url}/readyz`);
  expect([status, body]).toEqual([
    503,
    {
      status: 'not ready',
      failed: ['api-key'],
      fix: { 'api-key': expect.stringContaining('POST /api/v2/data-app/api-tokens') },
    },
  ]);
});

it('misspelt settings are named at start, and what the policy reads is not', async () => {
  const env = { GUESTLIST_ALOWED_ORIGINS: 'https://app.example.com', GUESTLIST_SERVICE_HOST: '10.0.0.1' };
  const product = await started({ env: { ...env, GUESTLIST_FOO_BAR_BAZ: 'x' } });
  const lines = () =>
    product
      .output()
      .split('\n')
      .filter((line) => line.includes('setting.unknown'))
      .map((line): unknown => JSON.parse(line));
  await vi.waitFor(() => expect(lines()).not.toEqual([]));
  expect(lines()).toEqual([
    expect.objectContaining({
      variable: 'GUESTLIST_ALOWED_ORIGINS',
      suggestion: 'GUESTLIST_ALLOWED_ORIGINS',
      msg: 'GUESTLIST_ALOWED_ORIGINS is not a setting; did you mean GUESTLIST_ALLOWED_ORIGINS?',
    }),
    expect.objectContaining({ variable: 'GUESTLIST_FOO_BAR_BAZ' }),
  ]);
});

it('the service alone, which reads no policy, names only what looks like a setting', async () => {
  const env = { GUESTLIST_ALOWED_ORIGINS: 'https://app.example.com', GUESTLIST_TENANT_KEY_OF_OURS: 'x' };
  const product = await started({ args: ['--only', 'service'], env });
  await vi.waitFor(() => expect(product.output()).toContain('GUESTLIST_ALOWED_ORIGINS'));
  expect(product.output()).not.toContain('GUESTLIST_TENANT_KEY_OF_OURS');
});

it('a misspelt setting is named where the start fails without it', async () => {
  const { code, output } = await runToEnd(['serve'], {
    NODE_ENV: 'production',
    GUESTLIST_HOST_JWT_SECRT: secret,
    GUESTLIST_ALLOWED_ORIGINS: 'https://app.example.com/ app.example.com',
    GUESTLIST_GATEWAY_TOKEN: `Bearer ${secret}`,
    PORT: '70000',
  });
  expect(code).toBe(2);
  for (const told of [
    'GUESTLIST_HOST_JWT_SECRT: is not a setting; did you mean GUESTLIST_HOST_JWT_SECRET?',
    'GUESTLIST_ALLOWED_ORIGINS: gateway.allowedOrigins.0: must be an origin as browsers send it',
    'did you mean https://app.example.com?',
    'gateway.allowedOrigins.1: must be an origin',
    'GUESTLIST_GATEWAY_TOKEN: has a space',
    'PORT: server.port',
  ]) {
    expect(output).toContain(told);
  }
  expect(output).not.toContain(secret);
});

it('a port in use is named, with the settings that choose another', async () => {
  const port = await freePort();
  const other = createServer().listen(port, '127.0.0.1');
  onTestFinished(() => void other.close());
  const { code, output } = await runToEnd(['serve'], { PORT: String(port) });
  expect([code, output]).toEqual([1, expect.stringContaining(`127.0.0.1:${port} is taken by another process`)]);
  expect(output).toContain('set PORT and HOST');
});

it('serviceUrl follows publicOrigin at the first start', async () => {
  const { folder } = await createFolder();
  const product = await started({ env: { GUESTLIST_PUBLIC_ORIGIN: 'https://numbers.example.com' }, dataDir: folder });
  expect(await login(product, analyst('LAX'))).toMatchObject({ serviceUrl: 'https://numbers.example.com' });
});

it('/ says where to go, and in production nothing of the installation', async () => {
  const [demo, production] = await Promise.all([
    started(),
    started({ env: { NODE_ENV: 'production', GUESTLIST_HOST_JWT_SECRET: secret, PORT: '0' } }),
  ]);
  const linksOf = (text: string) => [...text.matchAll(/href="([^"]*)"/g)].map(([, path]) => path);
  const [there, closed] = await Promise.all([demo, production].map(({ url }) => fetch(url)));
  expect(linksOf((await there?.text()) ?? '')).toEqual(['/demo', '/studio', '/docs', '/readyz', '/elements.js']);
  const text = (await closed?.text()) ?? '';
  expect(linksOf(text)).toEqual(['/studio', '/docs', '/readyz', '/elements.js']);
  expect(text).not.toMatch(/https?:\/\/|\d+\.\d+\.\d+|<script|flights/);
  expect(closed?.headers.get('content-security-policy')).toMatch(/default-src 'none'; style-src 'sha256-/);
});
