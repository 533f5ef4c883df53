/**
 * A gateway is killed or stopped in the middle of a suspension, a deletion, a login and a roll-out: another process
 * finishes the work, within a time limit.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSender, hookSecret, type SendHook } from '../gateway/senders.js';
import { get, login, post, request } from '../product/guest.js';
import { type Product, startProduct } from '../product/product.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { type FaultProxy, openFaultProxy } from './fault-proxy.js';

const gatewayToken = randomBytes(32).toString('hex');
const paths = {
  revoke: '/api/v2/guest-token/revoke',
  erase: '/api/v2/data-app/clients',
  create: '/api/v2/data-app/dashboard-embeds',
  content: '/api/v2/data-app/dashboards/content',
};

const suite = (backing: string, createDatabase: () => Promise<OwnDatabase | null>): void => {
  describe(`a gateway on ${backing} that dies`, () => {
    let database: OwnDatabase | null;
    let service: Product;
    let proxy: FaultProxy;
    let folder: string;
    let first: Product;
    /** A second gateway, if the metadata database allows several. */
    let other: Product | null = null;
    const start = (dataDir?: string): Promise<Product> =>
      startProduct({
        args: ['--only', 'gateway'],
        ...(dataDir === undefined ? {} : { dataDir }),
        env: {
          GUESTLIST_CONFIG: join(folder, 'guestlist.yaml'),
          GUESTLIST_SERVICE_URL: proxy.url,
          GUESTLIST_API_KEY: service.credentials.demoApiKey,
          GUESTLIST_HOST_JWT_SECRET: service.credentials.demoJwtSecret,
          GUESTLIST_GATEWAY_TOKEN: gatewayToken,
          GUESTLIST_HOOK_SECRETS: hookSecret,
          ...(database === null ? {} : { DATABASE_URL: database.url }),
        },
      });
    beforeAll(async () => {
      [database, service] = await Promise.all([createDatabase(), startProduct({ args: ['--only', 'service'] })]);
      proxy = await openFaultProxy(service.url);
      folder = await mkdtemp(join(tmpdir(), 'guestlist-takeover-'));
      const policies = fileURLToPath(new URL('../../config/policies/flights.yaml', import.meta.url));
      const upstream = { timeoutMs: 60_000, deadlineMs: 120_000 };
      const gateway = { policies, session: { issuer: 'guestlist-demo' }, upstream };
      await writeFile(join(folder, 'guestlist.yaml'), JSON.stringify({ gateway }));
      first = await start();
      if (database !== null) other = await start();
    });
    afterAll(async () => {
      for (const product of [first, other, service]) {
        await product?.stop('SIGKILL');
        await product?.remove();
      }
      await proxy?.close();
      await database?.drop();
      await rm(folder, { recursive: true, force: true });
    });

    const user = (tenant: string) => ({ sub: `of-${tenant}`, org_id: tenant, roles: ['analyst'] });
    const signIn = (gateway: Product, tenant: string) =>
      login({ ...gateway, credentials: service.credentials }, user(tenant));
    const command = (gateway: Product, name: string, input: object) =>
      post<{ data: Record<string, unknown> }>(`${gateway.url}/gateway/admin/${name}`, input, gatewayToken);
    const senderOf = (gateway: Product): SendHook => createSender(gateway.url, () => new Date());
    const eventOf = (clientId: string) => ({ clientId, occurredAt: new Date().toISOString() });

    /** Holds the first call of this path. Resolves when the service would have answered it. */
    const holdFirst = (held: string, method?: string): Promise<void> => {
      let isHeld = false;
      const kept = proxy.kept();
      proxy.decide(({ path, method: asked }) => {
        if (isHeld || path !== held || (method !== undefined && asked !== method)) return 'none';
        isHeld = true;
        return 'silent-before';
      });
      return vi.waitFor(() => expect(proxy.kept()).toBeGreaterThan(kept), { timeout: 60_000, interval: 5 });
    };
    /** Kills the gateway while it waits for the service. Returns the process that continues. */
    const killWhile = async (begun: Promise<unknown>, held: Promise<void>): Promise<Product> => {
      const ended = begun.catch(() => undefined);
      await held;
      await first.stop('SIGKILL');
      proxy.release();
      await ended;
      if (other !== null) return other;
      first = await start(first.dataDir);
      return first;
    };
    const restart = async (): Promise<void> => {
      if (other !== null) first = await start(first.dataDir);
    };
    const within = async (what: string, look: () => Promise<void>): Promise<void> => {
      const startedMs = performance.now();
      await vi.waitFor(look, { timeout: 60_000, interval: 20 });
      console.log(`${backing}: ${what} after ${Math.round(performance.now() - startedMs)} ms`);
    };
    const reads = async (tenant: string, token: string): Promise<number> =>
      (await get(`${service.url}/api/v2/guest/dashboards/delays--${tenant}`, token)).status;

    it('in the middle of a suspension: the tokens are revoked, even if the hook is not sent again', async () => {
      const { token } = await signIn(first, 'SUS');
      expect(await reads('SUS', token)).toBe(200);
      const held = holdFirst(paths.revoke);
      await killWhile(senderOf(first)('suspended', eventOf('SUS')), held);
      await within('no token of the suspended tenant reads', async () => expect(await reads('SUS', token)).toBe(401));
      await restart();
    });

    it('in the middle of a deletion: the tenant is erased, even if the hook is not sent again', async () => {
      const { token } = await signIn(first, 'DEL');
      expect(await reads('DEL', token)).toBe(200);
      const held = holdFirst(paths.erase);
      const next = await killWhile(senderOf(first)('deleted', eventOf('DEL')), held);
      await within('the deletion is finished', async () => {
        const { body } = await command(next, 'erasure-report', { clientId: 'DEL' });
        expect(body.data).toMatchObject({ state: 'deleted', isErasureOwed: false, reports: [{ isComplete: true }] });
      });
      await restart();
    });

    it('in the middle of a first login: a deletion of the tenant is accepted', async () => {
      const held = holdFirst(paths.create);
      const next = await killWhile(signIn(first, 'LOG'), held);
      const event = eventOf('LOG');
      await within('the deletion is taken', async () =>
        expect((await senderOf(next)('deleted', event)).status).toBe(200),
      );
      await restart();
    });

    it('in the middle of a roll-out: another process continues it', async () => {
      for (const tenant of ['RO1', 'RO2', 'RO3']) await signIn(first, tenant);
      const target = { dashboardId: 'delays', workspaceName: 'flights' };
      const url = `${service.url}${paths.content}`;
      const bearer = service.credentials.serviceToken;
      const { body: now } = await get<{ data: object; digest: string }>(
        `${url}?${new URLSearchParams(target)}`,
        bearer,
      );
      const changed = { ...target, content: { ...now.data, gridMargin: [3, 3] }, expectedDigest: now.digest };
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
      expect((await request(url, { method: 'PUT', headers, body: JSON.stringify(changed) })).status).toBe(200);
      const held = holdFirst(paths.content, 'PUT');
      const begun = command(first, 'rollout-apply', { template: 'delays' });
      const { id } = (await begun).body.data;
      const next = await killWhile(begun, held);
      await within('the roll-out is finished', async () => {
        const { body } = await command(next, 'rollout-status', { id });
        expect(body.data).toMatchObject({ state: 'finished', isAtWork: false });
      });
      await restart();
    });

    it.skipIf(backing !== 'PostgreSQL')(
      'stops responding in the middle of a deletion: another process finishes it, and the first one gives up',
      async () => {
        await signIn(first, 'ICE');
        const held = holdFirst(paths.erase);
        const begun = senderOf(first)('deleted', eventOf('ICE'));
        await held;
        first.signal('SIGSTOP');
        await within('the deletion is finished', async () => {
          const { body } = await command(other ?? first, 'erasure-report', { clientId: 'ICE' });
          expect(body.data).toMatchObject({ isErasureOwed: false, reports: [{ isComplete: true }] });
        });
        first.signal('SIGCONT');
        proxy.release();
        expect((await begun).status).toBe(503);
        await vi.waitFor(() => expect(first.output()).toContain('process.replaced'), { timeout: 30_000 });
        expect((await signIn(first, 'NEW')).token).not.toBe('');
      },
    );
  });
};

suite('the embedded database', async () => null);
if (await isPostgresThere()) suite('PostgreSQL', createOwnDatabase);
