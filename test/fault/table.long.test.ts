/** Faults of PostgreSQL and Redis under load. Each gives a line of the table that `npm run faults` prints. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { login, manager } from '../product/guest.js';
import { type Product, startProduct } from '../product/product.js';
import { isPostgresServerThere, type OwnPostgres, startOwnPostgres } from '../suites/postgres-server.js';
import { isRedisServerThere, type OwnRedis, startOwnRedis } from '../suites/redis.js';
import { askOnce, type Outcome } from './clients.js';
import { writeLine } from './table.js';
import { askToken, type Fault, faultTimeoutMs, measure, reads } from './under-load.js';

const userPerMinute = 30;

describe.skipIf(!isPostgresServerThere() || !isRedisServerThere())('faults under load', () => {
  let postgres: OwnPostgres;
  let redis: OwnRedis;
  let product: Product;
  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startOwnPostgres(), startOwnRedis()]);
    const limits = { GUESTLIST_USER_PER_MINUTE: String(userPerMinute), GUESTLIST_TENANT_PER_MINUTE: '1000000' };
    product = await startProduct({ env: { DATABASE_URL: postgres.url, REDIS_URL: redis.url, ...limits } });
    await login(product, manager('LAX'));
  });
  afterAll(async () => {
    await product?.stop('SIGKILL');
    await product?.remove();
    await redis?.stop();
    await postgres?.remove();
  });

  const runFault = async (fault: Fault): Promise<void> => {
    const { line, faults } = await measure(product, fault);
    writeLine(line);
    expect([faults, line.lost]).toEqual([[], 0]);
    expect((await askOnce(`${product.url}/readyz`)).status).toBe(200);
  };
  const title = '$fault: answers or 503 with Retry-After, and nothing is lost';

  const readOnly = async (value: 'on' | 'off'): Promise<void> => {
    await postgres.execute(`alter system set default_transaction_read_only = ${value}`);
    await postgres.execute('select pg_reload_conf()');
  };
  const ofPostgres: readonly Fault[] = [
    { fault: 'PostgreSQL restarted, fast', begin: () => postgres.stop('fast'), end: () => postgres.start() },
    { fault: 'PostgreSQL restarted, immediate', begin: () => postgres.stop('immediate'), end: () => postgres.start() },
    {
      fault: 'PostgreSQL ends all sessions',
      begin: () =>
        postgres.execute('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()'),
      end: () => undefined,
    },
    { fault: 'PostgreSQL frozen', begin: () => postgres.freeze(), end: () => postgres.thaw() },
    { fault: 'PostgreSQL read-only', begin: () => readOnly('on'), end: () => readOnly('off') },
  ];
  it.each(ofPostgres)(title, { timeout: faultTimeoutMs }, runFault);

  /** Users that were revoked during a fault. They must stay revoked, and limits must apply, during and after it. */
  const revoked: { readonly sub: string; readonly token: string }[] = [];
  const revoke = async (sub: string): Promise<void> => {
    const { status, body } = await askToken(product, sub);
    expect(status).toBe(200);
    const { token } = JSON.parse(body);
    const answer = await askOnce(`${product.url}/gateway/admin/revoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${product.credentials.gatewayToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ by: 'user', subject: sub, issuer: 'guestlist-demo', reason: 'left' }),
    });
    expect(answer.status).toBe(200);
    revoked.push({ sub, token });
    expect(await reads(product, token)).toBe(false);
  };
  const assertLimited = async (sub: string): Promise<void> => {
    const asked = Array.from({ length: userPerMinute + 5 }, (): Promise<Outcome> => askToken(product, sub));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    // Requests were counted in Redis before and are counted from zero in the process now, so a user may have up to two
    // budgets.
    const answered = statuses.filter((status) => status === 200).length;
    expect([answered > 0, answered <= 2 * userPerMinute]).toEqual([true, true]);
  };
  const inRedis = async (...command: readonly [string, ...string[]]): Promise<void> => {
    const client = new Redis(redis.url);
    await client.call(...command);
    client.disconnect();
  };
  const pauseMs = 4_000;
  const untilUnpaused = (): Promise<void> => inRedis('PING');
  const signal = (name: NodeJS.Signals) => (): void => void redis.child().kill(name);
  const ofRedis: readonly Fault[] = [
    { fault: 'Redis killed', begin: () => redis.stop(), end: () => redis.start() },
    { fault: 'Redis frozen', begin: signal('SIGSTOP'), end: signal('SIGCONT') },
    { fault: 'Redis paused', begin: () => inRedis('CLIENT', 'PAUSE', String(pauseMs), 'ALL'), end: untilUnpaused },
    { fault: 'Redis flushed', begin: () => inRedis('FLUSHALL'), end: () => undefined },
    {
      fault: 'Redis full',
      begin: () => inRedis('CONFIG', 'SET', 'maxmemory', '1'),
      end: () => inRedis('CONFIG', 'SET', 'maxmemory', '0'),
    },
  ];
  it.each(ofRedis)(`${title}; revocations and limits still apply`, { timeout: faultTimeoutMs }, async (fault) => {
    let round = 0;
    await runFault({
      ...fault,
      during: async () => {
        round += 1;
        await revoke(`revoked in ${fault.fault} ${round}`);
        await assertLimited(`limited in ${fault.fault} ${round}`);
      },
    });
    for (const { sub, token } of revoked) {
      expect(await reads(product, token)).toBe(false);
      // A revocation ends every session of the same second, including this new one.
      expect((await askToken(product, sub)).body).not.toContain(token);
    }
  });

  it('after all faults, Redis is used again', async () => {
    const isDown = async () => {
      expect((await askToken(product)).status).toBe(200);
      const { body } = await askOnce(`${product.url}/metrics`);
      return body.split('\n').filter((line) => /^guestlist_gateway_redis_down.* 1$/.test(line));
    };
    await vi.waitFor(async () => expect(await isDown()).toEqual([]), { timeout: 30_000, interval: 500 });
  });
});
