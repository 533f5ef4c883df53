/**
 * The process is killed by SIGKILL at random moments while a host uses all functions. After each start, everything
 * acknowledged exists, and nothing else.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createHookSecret } from '../gateway/senders.js';
import { type Product, startProduct } from '../product/product.js';
import { isPostgresServerThere, type OwnPostgres, startOwnPostgres } from '../suites/postgres-server.js';
import { isRedisServerThere, type OwnRedis, startOwnRedis } from '../suites/redis.js';
import { createHost, type Host, steadyTenant } from './host.js';
import { createRandom } from './random.js';
import { countStatuses, longestOf, middleOf, writeLine } from './table.js';

const kills = Number(process.env.FAULTS_KILLS ?? '3');
const seed = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000);
/**
 * A process is killed after at most this many acknowledgements, within the following random time, so in the middle of
 * any operation.
 */
const killWithin = 40;
const killWithinMs = 100;

const backings = [
  { name: 'embedded database', hasPostgres: false, hasRedis: false },
  { name: 'PostgreSQL', hasPostgres: true, hasRedis: false },
  { name: 'PostgreSQL and Redis', hasPostgres: true, hasRedis: true },
] as const;

describe.each(backings)('killed, $name', ({ name, hasPostgres, hasRedis }) => {
  const isThere = (!hasPostgres || isPostgresServerThere()) && (!hasRedis || isRedisServerThere());
  const hookSecret = createHookSecret();
  const random = createRandom(seed);
  let postgres: OwnPostgres | undefined;
  let redis: OwnRedis | undefined;
  let product: Product | undefined;
  let host: Host;
  beforeAll(async () => {
    if (!isThere) return;
    postgres = hasPostgres ? await startOwnPostgres() : undefined;
    redis = hasRedis ? await startOwnRedis() : undefined;
    host = createHost(hookSecret, random);
  });
  afterAll(async () => {
    await product?.stop('SIGKILL');
    await product?.remove();
    await redis?.stop();
    await postgres?.remove();
  });

  const env = () => ({
    ...(postgres === undefined ? {} : { DATABASE_URL: postgres.url }),
    ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
    GUESTLIST_USER_PER_MINUTE: '1000000',
    GUESTLIST_TENANT_PER_MINUTE: '1000000',
    GUESTLIST_HOOK_SECRETS: hookSecret,
    GUESTLIST_LOG_LEVEL: 'warn',
  });
  /** Starts the product in the same folder. Returns the milliseconds until its first token. */
  const start = async (): Promise<number> => {
    const startedMs = performance.now();
    product = await startProduct({
      isEmbedded: true,
      env: env(),
      ...(product === undefined ? {} : { dataDir: product.dataDir }),
    });
    host.use(product);
    const served = async () => expect((await host.askToken(steadyTenant, 'first')).status).toBe(200);
    await vi.waitFor(served, { timeout: 60_000, interval: 10 });
    return performance.now() - startedMs;
  };

  it.runIf(isThere)(
    `loses nothing that was acknowledged (seed ${seed})`,
    { timeout: 120_000 + kills * 200_000 },
    async () => {
      await start();
      const recoveries: number[] = [];
      const lost: string[] = [];
      const owed: number[] = [];
      for (let kill = 1; kill <= kills; kill += 1) {
        const running = host.run();
        await host.until(Math.floor(random() * killWithin));
        await wait(random() * killWithinMs);
        await product?.stop('SIGKILL');
        host.stop();
        await running;
        recoveries.push(await start());
        owed.push(await host.finishOwed());
        lost.push(...(await host.findLost()).map((what) => `after kill ${kill}: ${what}`));
      }
      const { outcomes } = host;
      writeLine({
        fault: `SIGKILL, ${name}, ${kills} times (seed ${seed})`,
        answers: countStatuses(outcomes.map(({ status }) => status)),
        longestMs: longestOf(outcomes),
        goodAgainMs: middleOf(recoveries),
        goodAgainMaxMs: Math.round(Math.max(...recoveries)),
        acknowledged: host.acknowledged(),
        lost: lost.length,
      });
      const cutOff = (what: string, times: readonly number[]) =>
        writeLine({
          fault: `${what} cut off by these kills, until done`,
          answers: '',
          longestMs: 0,
          goodAgainMs: middleOf(times),
          goodAgainMaxMs: Math.round(Math.max(...times)),
          acknowledged: times.length,
          lost: 0,
        });
      cutOff('hooks', owed);
      cutOff('roll-outs', [await host.finishRollouts()]);
      const failures = outcomes.filter(({ status, retryAfter }) => status >= 500 && !(status === 503 && retryAfter));
      expect([lost, failures.map(({ status, body }) => `${status} ${body}`)]).toEqual([[], []]);
    },
  );
});
