/** Each fault under load, and a line of the table that `npm run faults` prints. */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { analyst, login, manager, session } from '../product/guest.js';
import { type Product, startProduct } from '../product/product.js';
import { isPostgresServerThere, type OwnPostgres, startOwnPostgres } from '../suites/postgres-server.js';
import { isRedisServerThere, type OwnRedis, startOwnRedis } from '../suites/redis.js';
import { askOnce, faultsOf, type Load, type Outcome, startLoad } from './clients.js';

type Line = {
  readonly fault: string;
  readonly requests: number;
  readonly answered: number;
  /** 503 with Retry-After. */
  readonly later: number;
  readonly other: number;
  readonly longestMs: number;
  /** From the server's return to the first of an unbroken run of answers. */
  readonly recoveredMs: number;
  /** Tokens that were answered, and do not read any more. */
  readonly lost: number;
};
type Item = {
  readonly fault: string;
  /** Does it, and undoes it, while `load` asks. */
  readonly run: (load: Load) => Promise<void>;
};

const rounds = 2;

describe.skipIf(!isPostgresServerThere() || !isRedisServerThere())('faults under load', () => {
  const lines: Line[] = [];
  let postgres: OwnPostgres;
  let redis: OwnRedis;
  let product: Product;
  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startOwnPostgres(), startOwnRedis()]);
    const limits = { GUESTLIST_USER_PER_MINUTE: '1000000', GUESTLIST_TENANT_PER_MINUTE: '1000000' };
    product = await startProduct({ env: { DATABASE_URL: postgres.url, REDIS_URL: redis.url, ...limits } });
    await login(product, manager('LAX'));
  });
  afterAll(async () => {
    const file = process.env.FAULTS_TABLE;
    if (file !== undefined) writeFileSync(file, JSON.stringify(lines));
    await product?.stop('SIGKILL');
    await product?.remove();
    await redis?.stop();
    await postgres?.remove();
  });

  let users = 0;
  const askToken = (): Promise<Outcome> => {
    users += 1;
    const authorization = `Bearer ${session(product, { ...analyst('LAX'), sub: `user-${users}` })}`;
    return askOnce(`${product.url}/embed-token`, { method: 'POST', headers: { authorization } });
  };
  const reads = async ({ body }: Outcome): Promise<boolean> => {
    const headers = { authorization: `Bearer ${JSON.parse(body).token}` };
    return (await askOnce(`${product.url}/api/v2/guest/dashboards/delays--LAX`, { headers })).status === 200;
  };
  const serves = (): Promise<number> => {
    const startedMs = performance.now();
    return vi.waitFor(
      async () => {
        const { status } = await askToken();
        expect(status).toBe(200);
        return performance.now() - startedMs;
      },
      { timeout: 30_000, interval: 20 },
    );
  };

  const repeated = (item: Item): Item => ({
    ...item,
    run: async (load) => {
      for (let round = 0; round < rounds; round += 1) await item.run(load);
    },
  });
  const whileIt = (fault: string, begin: () => unknown, end: () => unknown): Item =>
    repeated({
      fault,
      run: async ({ ended }) => {
        await ended(8);
        await begin();
        await ended(12);
        await end();
      },
    });
  const signalRedis = (signal: NodeJS.Signals) => () => void redis.child().kill(signal);
  const readOnly = async (value: 'on' | 'off'): Promise<void> => {
    await postgres.execute(`alter system set default_transaction_read_only = ${value}`);
    await postgres.execute('select pg_reload_conf()');
  };
  const items: readonly Item[] = [
    whileIt(
      'PostgreSQL restarted, fast',
      () => postgres.stop('fast'),
      () => postgres.start(),
    ),
    whileIt(
      'PostgreSQL restarted, immediate',
      () => postgres.stop('immediate'),
      () => postgres.start(),
    ),
    whileIt(
      'PostgreSQL ends all sessions',
      () => postgres.execute('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()'),
      () => undefined,
    ),
    whileIt(
      'PostgreSQL frozen',
      () => postgres.freeze(),
      () => postgres.thaw(),
    ),
    whileIt(
      'PostgreSQL read-only',
      () => readOnly('on'),
      () => readOnly('off'),
    ),
    whileIt(
      'Redis killed',
      () => redis.stop(),
      () => redis.start(),
    ),
    whileIt('Redis frozen', signalRedis('SIGSTOP'), signalRedis('SIGCONT')),
  ];

  it.each(items)(
    '$fault: answers or 503 with Retry-After, and nothing is lost',
    { timeout: 240_000 },
    async ({ fault, run }) => {
      const load = startLoad(6, askToken);
      await run(load);
      const recoveredMs = await serves();
      await load.ended(6);
      await load.stop();
      const { outcomes } = load;
      const answered = outcomes.filter(({ status }) => status === 200);
      const read = await Promise.all(answered.slice(-50).map(reads));
      const others = faultsOf(outcomes);
      lines.push({
        fault: `${fault}, ${rounds} times`,
        requests: outcomes.length,
        answered: answered.length,
        later: outcomes.filter(({ status }) => status === 503).length,
        other: others.length,
        longestMs: Math.round(Math.max(...outcomes.map(({ tookMs }) => tookMs))),
        recoveredMs: Math.round(recoveredMs),
        lost: read.filter((isThere) => !isThere).length,
      });
      expect([others, lines.at(-1)?.lost]).toEqual([[], 0]);
    },
  );
});
