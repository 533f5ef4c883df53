/**
 * The paths that a process serves and who may read them: on the public port, on the management port, and in production
 * without a management port.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askOnce } from '../fault/clients.js';
import { type Product, runToEnd, startProduct } from './product.js';

const inner = ['/metrics', '/docs', '/docs/how-to/embedding', '/docs/search.json', '/docs/style.css', '/openapi.json'];
const metricsToken = randomBytes(24).toString('hex');
const gatewayToken = randomBytes(24).toString('hex');
const serviceToken = randomUUID();
const production = {
  NODE_ENV: 'production',
  GUESTLIST_HOST_JWT_SECRET: randomBytes(48).toString('base64'),
  GUESTLIST_API_KEY: randomUUID(),
  GUESTLIST_SERVICE_TOKEN: serviceToken,
  GUESTLIST_GATEWAY_TOKEN: gatewayToken,
  GUESTLIST_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
};

const ask = async (url: string, token?: string, method = 'GET') => {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { status, body } = await askOnce(url, { method, headers });
  return { status, body };
};
const statuses = (base: string, paths: readonly string[], token?: string) =>
  Promise.all(paths.map(async (path) => (await ask(`${base}${path}`, token)).status));
const all = (status: number, paths: readonly unknown[]) => paths.map(() => status);

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

describe('the demo, on one port', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(async () => {
    await product.stop();
    await product.remove();
  });

  it('the demo on one port shows everything', async () => {
    expect(await statuses(product.url, [...inner, '/healthz', '/readyz', '/demo'])).toEqual(
      all(200, Array(inner.length + 3).fill(0)),
    );
    expect((await ask(`${product.url}/gateway/admin/tenants-list`, undefined, 'POST')).status).toBe(401);
  });

  it.each([
    '/Embed-Token',
    '/embed-token/',
    '//embed-token',
    '/API/V2/guest-token/create',
    '/api/V2/guest-token/create',
    '/api/v2/Guest-Token/create',
    '/api/v2/guest-token/create/',
    '/api/v2/guest/dashboards/x/',
    '/api/v2/GUEST/dashboards/x',
    '/hooks/tenant-signed-up/',
    '/Hooks/tenant-signed-up',
    '/gateway/admin/tenants-list/',
    '/Gateway/Admin/tenants-list',
    '/Healthz',
    '/healthz/',
    '/readyz/',
    '/Metrics',
    '/metrics/',
    '/docs/',
    '/openapi.json/',
    '/demo/',
    '/demo/session/',
    '/elements.js/',
  ])('%s is no path', async (path) => {
    for (const method of ['GET', 'POST'])
      expect((await ask(`${product.url}${path}`, undefined, method)).status).toBe(404);
  });

  it('the files of the demo are readable by its user alone', async () => {
    const files = ['metadata', 'metadata.lock', 'metadata.mark', 'credentials.json'];
    const modes = files.map(
      async (file) => (await stat(join(product.dataDir, file)).catch(() => undefined))?.mode ?? 0,
    );
    expect((await Promise.all(modes)).map((mode) => mode & 0o077)).toEqual(all(0, files));
  });
});

describe('production without a management port', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct({ isEmbedded: true, env: { ...production, GUESTLIST_METRICS_TOKEN: metricsToken } });
  });
  afterAll(async () => {
    await product.stop();
    await product.remove();
  });

  it('is closed to strangers, and its start says so', async () => {
    expect(await statuses(product.url, inner)).toEqual(all(401, inner));
    expect(await statuses(product.url, inner, 'wrong')).toEqual(all(401, inner));
    expect(product.output()).toMatch(/closed {5}\/metrics, \/docs, \/openapi\.json .*GUESTLIST_METRICS_TOKEN/);
    expect(product.output()).not.toContain(`${product.url}/docs`);
  });

  it('opens for the metrics token and the gateway token', async () => {
    for (const token of [metricsToken, gatewayToken]) {
      expect(await statuses(product.url, inner, token)).toEqual(all(200, inner));
    }
    expect((await ask(`${product.url}/gateway/admin/tenants-list`, metricsToken, 'POST')).status).toBe(401);
    expect((await ask(`${product.url}/gateway/admin/tenants-list`, gatewayToken, 'POST')).status).toBe(200);
  });

  it('shows the reference, and not the metrics, to callers of the interface', async () => {
    expect(await statuses(product.url, inner, serviceToken)).toEqual([401, 200, 200, 200, 200, 200]);
  });

  it('readiness tells a stranger the status alone', async () => {
    // A folder with the name of the file that the readiness check writes, so that the check fails.
    await mkdir(join(product.dataDir, 'metadata.ready'));
    const { status, body } = await ask(`${product.url}/readyz`);
    expect([status, JSON.parse(body)]).toEqual([503, { status: 'not ready' }]);
    const told = JSON.parse((await ask(`${product.url}/readyz`, metricsToken)).body);
    expect(told.failed).toContain('data-folder');
  });
});

describe('production with a management port', () => {
  let product: Product;
  let management: string;
  let port: number;
  const env = () => ({ ...production, GUESTLIST_METRICS_TOKEN: metricsToken, GUESTLIST_MANAGEMENT_PORT: String(port) });
  beforeAll(async () => {
    port = await freePort();
    product = await startProduct({ env: env() });
    management = `http://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    await product.stop();
    await product.remove();
  });

  it('has them there, and nowhere else', async () => {
    expect(product.output()).toContain(`management ${management}`);
    expect(await statuses(management, inner)).toEqual(all(200, inner));
    for (const token of [undefined, metricsToken, gatewayToken]) {
      expect(await statuses(product.url, inner, token)).toEqual(all(404, inner));
    }
    const admin = '/gateway/admin/tenants-list';
    expect((await ask(`${product.url}${admin}`, gatewayToken, 'POST')).status).toBe(404);
    expect((await ask(`${management}${admin}`, gatewayToken, 'POST')).status).toBe(200);
    expect((await ask(`${management}${admin}`, undefined, 'POST')).status).toBe(401);
  });

  it('serves no tenant there', async () => {
    for (const path of ['/embed-token', '/api/v2/guest-token/create', '/hooks/tenant-signed-up', '/elements.js']) {
      expect((await ask(`${management}${path}`, serviceToken, 'POST')).status, path).toBe(404);
    }
  });

  it('a gateway elsewhere can still read what the service can do, with its key', async () => {
    expect((await ask(`${product.url}/openapi.json`, serviceToken)).status).toBe(200);
  });

  it('the command line finds it', async () => {
    const { code, output } = await runToEnd(['audit', 'verify'], { ...env(), GUESTLIST_DATA_DIR: product.dataDir });
    expect([code, output]).toEqual([0, expect.stringMatching(/entries/)]);
  });

  it('both ports answer the probes', async () => {
    expect(await statuses(management, ['/healthz'])).toEqual([200]);
    expect(await statuses(product.url, ['/healthz'])).toEqual([200]);
  });

  it('may not be the port of everybody', async () => {
    const { code, output } = await runToEnd(['serve'], {
      ...env(),
      PORT: String(port),
      GUESTLIST_DATA_DIR: product.dataDir,
    });
    expect([code, output]).toEqual([2, expect.stringContaining('management.port')]);
  });
});
