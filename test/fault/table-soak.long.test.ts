/**
 * Three replicas serve a host while faults begin and end at random, for `FAULTS_SOAK` minutes (`npm run faults -- --soak
 * 60`; one minute otherwise). No process ends by itself, everything acknowledged holds, and what a process uses stays
 * flat.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startRelay } from '../engine/relay.js';
import { createHookSecret } from '../gateway/senders.js';
import { type Product, startProduct } from '../product/product.js';
import { placeFlights } from '../suites/flights.js';
import { isPostgresServerThere, startOwnPostgres } from '../suites/postgres-server.js';
import { isRedisServerThere, startOwnRedis } from '../suites/redis.js';
import { startBalancer } from './balancer.js';
import { damageOf, damages } from './damages.js';
import { createHost, steadyTenant } from './host.js';
import { createRandom } from './random.js';
import { countStatuses, longestOf, middleOf, writeLine } from './table.js';

const minutes = Number(process.env.FAULTS_SOAK ?? '1');
const seed = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000);
const lengthMs = minutes * 60_000;
/** So often what was acknowledged is checked, with all servers there. */
const faultsPerCheck = 5;

/** `heap`: megabytes that are reachable, with buffers, after a collection. `megabytes`: all that the system counts. */
type Use = {
  readonly heap: number;
  readonly megabytes: number;
  readonly descriptors: number;
  readonly threads: number;
};

const collected = (product: Product): readonly number[] =>
  [...product.output().matchAll(/heap after a collection: (\d+)/g)].map(([, bytes]) => Number(bytes) / 1_048_576);

const useOf = async (product: Product): Promise<Use> => {
  const before = collected(product).length;
  product.signal('SIGUSR2');
  const heap = await vi.waitFor(
    () => {
      const found = collected(product);
      expect(found.length).toBeGreaterThan(before);
      return found.at(-1) ?? 0;
    },
    { timeout: 30_000, interval: 20 },
  );
  const { pid } = product;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const numberOf = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return {
    heap,
    megabytes: Math.round(numberOf('VmRSS') / 1024),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    threads: numberOf('Threads'),
  };
};

/** Growth along the line that fits the values best, from the first to the last, as a share of their mean. */
const growthOf = (values: readonly number[]): number => {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const spread = values.reduce((sum, _, at) => sum + (at - middle) ** 2, 0);
  const along = values.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0);
  return spread === 0 ? 0 : ((along / spread) * (values.length - 1)) / mean;
};

/**
 * Bounds of the growth over the last two thirds. The heap after a collection grows only by what is kept, so it shows a
 * leak. The system's number counts free pages of the allocators too, and rises for long without a leak: its
 * bound finds only a large leak outside of the heap.
 */
const mostGrowth = { heap: 0.15, megabytes: 0.5, descriptors: 0.15, threads: 0.15 } as const satisfies Record<
  keyof Use,
  number
>;

it.runIf(isPostgresServerThere() && isRedisServerThere())(
  `a soak of ${minutes} minutes: three replicas and faults at random lose nothing, and use no more in the end (seed ${seed})`,
  { timeout: lengthMs * 2 + 600_000 },
  async () => {
    const random = createRandom(seed);
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
    const [postgres, redis] = await Promise.all([startOwnPostgres(), startOwnRedis()]);
    onTestFinished(postgres.remove);
    onTestFinished(redis.stop);
    const host127 = { host: '127.0.0.1' };
    const toPostgres = await startRelay({ ...host127, port: postgres.port });
    const toRedis = await startRelay({ ...host127, port: redis.port });
    onTestFinished(toPostgres.close);
    onTestFinished(toRedis.close);
    const folder = await mkdtemp(join(tmpdir(), 'guestlist-soak-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await placeFlights(join(folder, 'demo/flights.duckdb'));
    const hookSecret = createHookSecret();
    const env = {
      DATABASE_URL: `postgres://postgres@127.0.0.1:${toPostgres.port}/postgres`,
      REDIS_URL: `redis://127.0.0.1:${toRedis.port}`,
      ...{ GUESTLIST_USER_PER_MINUTE: '1000000', GUESTLIST_TENANT_PER_MINUTE: '1000000' },
      ...{ GUESTLIST_HOOK_SECRETS: hookSecret, GUESTLIST_LOG_LEVEL: 'warn' },
    };
    const start = (port = '0', more: object = {}): Promise<Product> =>
      startProduct({ dataDir: folder, env: { ...env, PORT: port, ...more } });
    const preload = new URL('heap-on-signal.mjs', import.meta.url).href;
    /** The first lives from the beginning to the end. */
    const replicas: Product[] = [await start('0', { NODE_OPTIONS: `--expose-gc --import ${preload}` })];
    replicas.push(...(await Promise.all([start(), start()])));
    onTestFinished(async () => {
      for (const replica of replicas) {
        replica.signal('SIGCONT');
        await replica.stop('SIGKILL');
      }
    });
    const [steady] = replicas;
    if (steady === undefined) throw new Error('no replica');
    const balancer = await startBalancer(replicas.map(({ url }) => url));
    onTestFinished(balancer.close);
    const host = createHost(hookSecret, random);
    host.use({ ...steady, url: balancer.url });
    const isServed = () =>
      vi.waitFor(async () => expect((await host.askToken(steadyTenant, 'somebody')).status).toBe(200), {
        ...{ timeout: 90_000, interval: 50 },
      });
    await isServed();

    const restart = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
      const at = 1 + Math.floor(random() * 2);
      const old = replicas[at];
      if (old === undefined) throw new Error('no replica');
      await old.stop(signal);
      expect(old.output()).not.toContain('process.fault');
      // At the same port, as a pod behind the name of its service.
      replicas[at] = await start(new URL(old.url).port);
    };
    const frozen = async (): Promise<void> => {
      const replica = pick(replicas);
      replica.signal('SIGSTOP');
      await pass(500 + random() * 6_000);
      replica.signal('SIGCONT');
    };
    const during = async (begin: () => unknown, end: () => unknown): Promise<void> => {
      await begin();
      await pass(200 + random() * 4_000);
      await end();
    };
    const damaged = async (): Promise<void> => {
      const relay = pick([toPostgres, toRedis]);
      const endless = { first: Buffer.from('D\x7f\xff\xff\xff', 'latin1'), repeated: Buffer.alloc(262_144) };
      const damage = pick(damages.filter((name) => name !== 'flipped bytes'));
      await during(
        () => {
          relay.alter(damageOf(damage, Math.floor(random() * 1e6), endless));
          relay.cut();
        },
        () => {
          relay.alter(null);
          relay.cut();
        },
      );
    };
    const faults: Readonly<Record<string, () => Promise<unknown>>> = {
      'a replica killed': () => restart('SIGKILL'),
      'a replica replaced': () => restart('SIGTERM'),
      'a replica frozen': frozen,
      'PostgreSQL restarted, immediate': () => during(() => postgres.stop('immediate'), postgres.start),
      'PostgreSQL restarted, fast': () => during(() => postgres.stop('fast'), postgres.start),
      'PostgreSQL frozen': () => during(postgres.freeze, postgres.thaw),
      'connections to PostgreSQL cut': async () => toPostgres.cut(),
      'Redis restarted, empty': () => during(redis.stop, redis.start),
      'Redis frozen': () =>
        during(
          () => redis.child().kill('SIGSTOP'),
          () => redis.child().kill('SIGCONT'),
        ),
      'connections to Redis cut': async () => toRedis.cut(),
      'damaged answers': damaged,
    };

    const uses: Use[] = [];
    const recoveries: number[] = [];
    const lost: string[] = [];
    const done = new Map<string, number>();
    const endsAt = performance.now() + lengthMs;
    while (performance.now() < endsAt) {
      const running = host.run();
      for (let count = 0; count < faultsPerCheck; count += 1) {
        await host.until(Math.floor(random() * 30));
        const name = pick(Object.keys(faults));
        await faults[name]?.();
        done.set(name, (done.get(name) ?? 0) + 1);
        const startedMs = performance.now();
        await isServed();
        recoveries.push(performance.now() - startedMs);
      }
      host.stop();
      await running;
      await vi.waitFor(() => expect(balancer.ready()).toBe(replicas.length), { timeout: 90_000, interval: 200 });
      await host.finishOwed();
      lost.push(...(await host.findLost()));
      uses.push(await useOf(steady));
      expect([lost, replicas.map((replica) => replica.isRunning())]).toEqual([[], [true, true, true]]);
    }
    await host.finishRollouts();
    const settled = uses.slice(Math.floor(uses.length / 3));
    const kinds = Object.keys(mostGrowth) as (keyof Use)[];
    const growth = kinds.map((kind) => [kind, growthOf(settled.map((use) => use[kind]))] as const);
    const { outcomes } = host;
    const faultsDone = [...done].map(([name, count]) => `${name}: ${count}`).join(', ');
    const grown = growth.map(([kind, share]) => `${kind} ${(100 * share).toFixed(1)} %`).join(', ');
    console.log(`${faultsDone}\nin the end ${JSON.stringify(uses.at(-1))}; growth over the last two thirds: ${grown}`);
    writeLine({
      fault: `soak of ${minutes} minutes, ${recoveries.length} faults (seed ${seed})`,
      answers: countStatuses(outcomes.map(({ status }) => status)),
      longestMs: longestOf(outcomes),
      goodAgainMs: middleOf(recoveries),
      goodAgainMaxMs: Math.round(Math.max(...recoveries)),
      acknowledged: host.acknowledged(),
      lost: lost.length,
    });
    const wrong = outcomes.filter(
      ({ status, retryAfter }) => status >= 500 && status !== 502 && !(status === 503 && retryAfter),
    );
    expect(wrong.map(({ status, body }) => `${status} ${body}`)).toEqual([]);
    for (const replica of replicas) expect(replica.output()).not.toContain('process.fault');
    // In a few minutes a process is still growing to its usual size.
    if (minutes < 20) return;
    expect(growth.filter(([kind, share]) => share > mostGrowth[kind])).toEqual([]);
  },
);
