/** Starts, stops and restarts, and the messages for an invalid configuration. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { basePolicy } from '../gateway/policies.js';
import { get, login, manager, openDashboard, post, request } from './guest.js';
import { runToEnd, startProduct } from './product.js';

const inFolder = async (work: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

describe('a start', () => {
  test('prints its URLs, answers the probes, and ends on SIGTERM with 0', async () => {
    const product = await startProduct({ loadsFlights: true });
    try {
      expect(product.output()).toContain(`${product.url}/demo`);
      expect(await get(`${product.url}/readyz`)).toMatchObject({ status: 200, body: { status: 'ready' } });
      expect((await get(`${product.url}/healthz`)).status).toBe(200);
      expect((await request(`${product.url}/metrics`)).text).toContain('process_cpu_seconds_total');
      expect((await request(`${product.url}/elements.js`)).headers.get('content-type')).toContain('javascript');
      expect((await request(`${product.url}/docs/api/guest-tokens`)).text).toContain('guest-token/create');
      expect((await stat(join(product.dataDir, 'credentials.json'))).mode & 0o777).toBe(0o600);
      expect(await product.stop()).toBe(0);
    } finally {
      await product.remove();
    }
  });

  test('a second time keeps tokens, dashboards and credentials', async () => {
    const first = await startProduct();
    const before = await login(first, manager('LAX'));
    await first.stop();
    const second = await startProduct({ dataDir: first.dataDir });
    try {
      expect(second.credentials).toEqual(first.credentials);
      expect((await openDashboard(second, before.token, 'delays--LAX')).metrics).toHaveLength(4);
      const after = await login(second, manager('LAX'));
      const ids = async (token: string) =>
        (await openDashboard(second, token, 'routes--LAX')).metrics.map(({ metricId }) => metricId);
      expect(await ids(after.token)).toEqual(await ids(before.token));
      await second.stop();
      expect(second.output()).toContain('token.minted');
      expect(second.output()).not.toContain('tenant.provisioned');
    } finally {
      await second.stop();
      await second.remove();
    }
  });

  test('a second process on the same folder is told that it is in use', async () => {
    const product = await startProduct({ isEmbedded: true });
    try {
      const { code, output } = await runToEnd(['serve'], { GUESTLIST_DATA_DIR: product.dataDir });
      expect(code).toBe(1);
      expect(output).toMatch(/in use/i);
      expect((await get(`${product.url}/readyz`)).status).toBe(200);
    } finally {
      await product.stop();
      await product.remove();
    }
  });

  test('finishes what runs before it ends', async () => {
    const product = await startProduct();
    try {
      const underWay = Promise.all(Array.from({ length: 20 }, () => login(product, manager('DFW'))));
      // After the first answer, the other requests are on their way.
      await login(product, manager('DFW'));
      const [code, answers] = await Promise.all([product.stop(), underWay]);
      expect([code, new Set(answers.map(({ token }) => token)).size]).toEqual([0, 1]);
    } finally {
      await product.remove();
    }
  });
});

describe('the configuration', () => {
  test('all its faults come at once, each with file, path and mend; exit 2', () =>
    inFolder(async (folder) => {
      const file = join(folder, 'guestlist.yaml');
      await writeFile(
        file,
        'logLevel: loud\nserver: { hots: x }\ngateway: { session: { clockToleranceSeconds: -1 } }\n',
      );
      const { code, output } = await runToEnd(['serve'], {
        GUESTLIST_CONFIG: file,
        GUESTLIST_DATA_DIR: folder,
        DATABASE_URL: '',
      });
      expect(code).toBe(2);
      for (const path of ['logLevel', 'hots', 'gateway.session.clockToleranceSeconds', 'GUESTLIST_HOST_JWT_SECRET']) {
        expect(output, path).toContain(path);
      }
      expect(output).toContain(file);
    }));

  test('production has no demo, and no secret by default', () =>
    inFolder(async (folder) => {
      const { code, output } = await runToEnd(['serve'], { NODE_ENV: 'production', GUESTLIST_DATA_DIR: folder });
      expect(code).toBe(2);
      expect(output).toContain('GUESTLIST_HOST_JWT_SECRET');
      const env = {
        NODE_ENV: 'production',
        GUESTLIST_HOST_JWT_SECRET: randomBytes(48).toString('base64'),
        GUESTLIST_API_KEY: randomUUID(),
      };
      const product = await startProduct({ env });
      try {
        expect((await get(`${product.url}/demo`)).status).toBe(404);
        expect((await post(`${product.url}/demo/login`, { user: 'lax-analyst' })).status).toBe(404);
        expect(product.output()).not.toContain(`${product.url}/demo`);
      } finally {
        await product.stop();
        await product.remove();
      }
    }));

  test("production refuses a weak secret of the policy's tenant lookup", () =>
    inFolder(async (folder) => {
      const tenant = { key: 'claims.org_id', http: { url: 'https://h.example/', secretVariable: 'LOOKUP_SECRET' } };
      const policy = { ...basePolicy, session: { ...basePolicy.session, tenant } };
      const file = join(folder, 'guestlist.yaml');
      await writeFile(join(folder, 'policy.yaml'), JSON.stringify(policy));
      const policyMayRead = { lookups: [tenant.http] };
      await writeFile(file, JSON.stringify({ gateway: { policies: './policy.yaml', policyMayRead } }));
      const weak = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
      const { code, output } = await runToEnd(['serve'], {
        NODE_ENV: 'production',
        GUESTLIST_CONFIG: file,
        GUESTLIST_DATA_DIR: folder,
        GUESTLIST_HOST_JWT_SECRET: randomBytes(48).toString('base64'),
        GUESTLIST_API_KEY: randomUUID(),
        LOOKUP_SECRET: weak,
      });
      expect([code, output]).toEqual([2, expect.stringContaining('the variable LOOKUP_SECRET is too easy to guess')]);
      expect(output).not.toContain(weak);
    }));

  test('a short secret is refused', () =>
    inFolder(async (folder) => {
      const { code, output } = await runToEnd(['serve'], {
        GUESTLIST_HOST_JWT_SECRET: 'short',
        GUESTLIST_DATA_DIR: folder,
      });
      expect([code, output]).toEqual([2, expect.stringContaining('at least 32 characters')]);
      expect(output).not.toContain('short,');
    }));

  test('credentials that are given are used, and never written', async () => {
    const given = '0d9f4c1e-1111-4222-8333-444455556666';
    const product = await startProduct({ env: { GUESTLIST_SERVICE_TOKEN: given, GUESTLIST_DEMO_API_KEY: given } });
    try {
      expect(await readFile(join(product.dataDir, 'credentials.json'), 'utf8')).not.toContain(given);
      expect((await post(`${product.url}/api/v2/data-app`, { name: 'one' }, given)).status).toBe(200);
      expect(
        (await post(`${product.url}/api/v2/guest-token/create`, { clientId: 'LAX', dataAppName: 'flights' }, given))
          .status,
      ).toBe(200);
    } finally {
      await product.stop();
      await product.remove();
    }
  });
});

describe('the command line', () => {
  test('an unknown command or option exits 2 and shows the usage', async () => {
    for (const args of [['fly'], ['serve', '--only', 'half'], ['--nonsense']]) {
      const { code, output } = await runToEnd(args, {});
      expect([code, output], args.join(' ')).toEqual([2, expect.stringMatching(/guestlist/)]);
    }
    expect(await runToEnd(['--help'], {})).toMatchObject({ code: 0, output: expect.stringContaining('serve') });
  });

  test('the halves run apart: the gateway in front of a service of another process', async () => {
    const service = await startProduct({ args: ['--only', 'service'] });
    const secret = 'host secret of at least 32 characters';
    const gateway = await startProduct({
      args: ['--only', 'gateway'],
      env: {
        GUESTLIST_SERVICE_URL: service.url,
        GUESTLIST_API_KEY: service.credentials.demoApiKey,
        GUESTLIST_HOST_JWT_SECRET: secret,
      },
    });
    try {
      expect((await get(`${gateway.url}/openapi.json`)).status).toBe(404);
      expect((await post(`${service.url}/embed-token`, {})).status).toBe(404);
      const host = { ...gateway, credentials: { ...gateway.credentials, demoJwtSecret: secret } };
      const answer = await login(host, { ...manager('LAX'), iss: 'the host' });
      expect(answer.serviceUrl).toBe(service.url);
      expect((await openDashboard(service, answer.token, 'routes--LAX')).metrics).toHaveLength(6);
    } finally {
      await Promise.all([service.stop(), gateway.stop()]);
      await Promise.all([service.remove(), gateway.remove()]);
    }
  });
});
