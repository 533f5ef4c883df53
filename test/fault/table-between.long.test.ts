/** What stands before the metadata and before Redis fails under load: PgBouncer, HAProxy and Sentinel. */
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { login, manager } from '../product/guest.js';
import { type Product, startProduct } from '../product/product.js';
import { isHaProxyThere, startHaProxy } from '../suites/haproxy.js';
import { isPgBouncerThere, startPgBouncer } from '../suites/pgbouncer.js';
import { isPostgresServerThere, startOwnPostgres, startStandby } from '../suites/postgres-server.js';
import { isRedisServerThere, startOwnRedis, startSentinel } from '../suites/redis.js';
import { askOnce } from './clients.js';
import { writeLine } from './table.js';
import { type Fault, faultTimeoutMs, measure } from './under-load.js';

const begin = async (env: Readonly<Record<string, string>>): Promise<Product> => {
  const limits = { GUESTLIST_USER_PER_MINUTE: '1000000', GUESTLIST_TENANT_PER_MINUTE: '1000000' };
  const product = await startProduct({ env: { ...limits, ...env } });
  onTestFinished(product.remove);
  onTestFinished(async () => void (await product.stop('SIGKILL')));
  await login(product, manager('LAX'));
  return product;
};
const runFault = async (product: Product, fault: Fault): Promise<void> => {
  const { line, faults } = await measure(product, fault);
  writeLine(line);
  expect([faults, line.lost]).toEqual([[], 0]);
  expect((await askOnce(`${product.url}/readyz`)).status).toBe(200);
};
const timeout = faultTimeoutMs;
const isPooled = await isPgBouncerThere();

const beginPooled = async () => {
  const postgres = await startOwnPostgres();
  onTestFinished(postgres.remove);
  const pooler = await startPgBouncer(postgres.url, 10);
  onTestFinished(pooler.stop);
  return { postgres, pooler, product: await begin({ DATABASE_URL: pooler.at(postgres.url) }) };
};

describe.skipIf(!isPostgresServerThere())('before the metadata', () => {
  it.runIf(isPooled)(
    'PgBouncer in transaction mode killed and started again: answers or 503, and nothing is lost',
    { timeout },
    async () => {
      const { pooler, product } = await beginPooled();
      await runFault(product, { fault: 'PgBouncer killed', begin: pooler.kill, end: pooler.start, rounds: 4 });
    },
  );
  it.runIf(isPooled)(
    'PostgreSQL restarted behind PgBouncer: answers or 503, and nothing is lost',
    { timeout },
    async () => {
      const { postgres, product } = await beginPooled();
      const [stop, start] = [() => postgres.stop('immediate'), () => postgres.start()];
      await runFault(product, { fault: 'PostgreSQL restarted behind PgBouncer', begin: stop, end: start });
    },
  );
  it.runIf(isHaProxyThere())(
    'HAProxy killed and started again: answers or 503, and nothing is lost',
    { timeout },
    async () => {
      const postgres = await startOwnPostgres();
      onTestFinished(postgres.remove);
      const proxy = await startHaProxy([postgres.port]);
      onTestFinished(proxy.remove);
      const product = await begin({ DATABASE_URL: `postgres://postgres@127.0.0.1:${proxy.port}/postgres` });
      await runFault(product, { fault: 'HAProxy killed', begin: proxy.kill, end: proxy.start, rounds: 4 });
    },
  );
  it.runIf(isHaProxyThere())(
    'HAProxy turns to a standby, which is read-only until it is promoted: answers or 503, and nothing is lost',
    { timeout },
    async () => {
      const primary = await startOwnPostgres();
      onTestFinished(primary.remove);
      const standby = await startStandby(primary);
      onTestFinished(standby.remove);
      const proxy = await startHaProxy([primary.port, standby.port]);
      onTestFinished(proxy.remove);
      const product = await begin({ DATABASE_URL: `postgres://postgres@127.0.0.1:${proxy.port}/postgres` });
      await runFault(product, {
        fault: 'HAProxy turns to a standby, promoted later',
        begin: primary.kill,
        end: standby.promote,
        rounds: 1,
      });
    },
  );
});

it.runIf(isRedisServerThere())(
  'Sentinel makes a replica the master: answers or 503, nothing is lost, and the new master is used',
  { timeout },
  async () => {
    const master = await startOwnRedis();
    onTestFinished(master.stop);
    const replica = await startOwnRedis(['--replicaof', '127.0.0.1', String(master.port)]);
    onTestFinished(replica.stop);
    const sentinel = await startSentinel(master);
    onTestFinished(sentinel.stop);
    const askReplica = async (...command: readonly [string, ...string[]]): Promise<string> => {
      const client = new Redis(replica.url);
      return String(await client.call(...command).finally(() => client.disconnect()));
    };
    const asks = new Redis(`redis://127.0.0.1:${sentinel.port}`);
    onTestFinished(() => asks.disconnect());
    const knowsReplica = async () => expect(await asks.call('SENTINEL', 'replicas', 'main')).toHaveLength(1);
    await vi.waitFor(knowsReplica, { timeout: 30_000, interval: 200 });
    const product = await begin({ REDIS_URL: `redis-sentinel://127.0.0.1:${sentinel.port}/main` });
    await vi.waitFor(async () => expect(await askReplica('DBSIZE')).not.toBe('0'), { timeout: 30_000 });
    await runFault(product, {
      fault: 'Sentinel makes a replica the master',
      begin: master.stop,
      end: () =>
        vi.waitFor(async () => expect(await askReplica('ROLE')).toMatch(/^master/), { timeout: 30_000, interval: 100 }),
      rounds: 1,
    });
    const isDown = async () => {
      const { body } = await askOnce(`${product.url}/metrics`);
      return body.split('\n').filter((line) => /^guestlist_gateway_redis_down.* 1$/.test(line));
    };
    await vi.waitFor(async () => expect(await isDown()).toEqual([]), { timeout: 30_000, interval: 500 });
  },
);
