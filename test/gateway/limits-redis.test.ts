/** Limits that several gateways count together in a real Redis. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createRedisLimiters } from '../../src/platform/limits/limiter.js';
import { systemClock, systemTiming } from '../../src/platform/work/time.js';
import { redisArgs } from '../suites/redis.js';
import { analyst, captureLog, startGateway, usualLimits } from './harness.js';

const hasServer = spawnSync('redis-server', ['--version']).status === 0;
if (!hasServer) console.warn('SKIPPED: no redis-server on PATH, so limits over several gateways are not tested');
it.runIf(process.env.CI === 'true')('redis-server is installed where CI runs', () => expect(hasServer).toBe(true));

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return address !== null && typeof address === 'object' ? address.port : 0;
};

const startRedis = async (port: number): Promise<ChildProcess> => {
  const child = spawn('redis-server', redisArgs(port), { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const chunk of child.stdout ?? []) {
    if (String(chunk).includes('Ready to accept connections')) break;
  }
  return child;
};

const kill = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
};

/** Starts one of several gateways, with its own connection. */
const startReplica = async (url: string, userPerMinute: number) => {
  const { log, lines } = captureLog();
  const limiters = await createRedisLimiters({ url, clock: systemClock, log, commandTimeoutMs: 30_000 });
  onTestFinished(() => limiters.close());
  const settings = { ...usualLimits, userPerMinute };
  const gateway = await startGateway({ limits: { settings, limiters }, log });
  return { ...gateway, lines };
};
type Replica = Awaited<ReturnType<typeof startReplica>>;

const answered = async (replicas: readonly Replica[], each: number, user: object = analyst): Promise<number> => {
  const asked = replicas.flatMap(({ ask }) => Array.from({ length: each }, () => ask(user)));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  return statuses.filter((status) => status === 200).length;
};

/** Runs commands in Redis on another connection. */
const inRedis = async <T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> => {
  const redis = new Redis(url);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
};

/** Waits until all gateways are connected. Before that, each counts by itself. */
const untilCounted = (url: string, replicas: readonly Replica[], user: string): Promise<void> =>
  inRedis(url, async (redis) => {
    for (const [index, replica] of replicas.entries()) {
      const keys = async () => (await redis.keys('guestlist:limit:*:user:*')).length;
      const before = await keys();
      let attempt = 0;
      await vi.waitFor(async () => {
        attempt += 1;
        await replica.granted({ ...analyst, sub: `${user}-${index}-${attempt}` });
        expect(await keys()).toBeGreaterThan(before);
      }, 10_000);
    }
  });

const said = ({ lines }: Replica, text: string) => lines.filter(({ msg }) => String(msg).includes(text)).length;

describe.runIf(hasServer)('limits in Redis', () => {
  it('give a user one budget for all gateways together', async () => {
    const port = await freePort();
    await startRedis(port);
    const url = `redis://127.0.0.1:${port}`;
    const replicas = await Promise.all([startReplica(url, 50), startReplica(url, 50), startReplica(url, 50)]);
    await untilCounted(url, replicas, 'warm');
    expect(await answered(replicas, 40)).toBe(50);
    expect(await answered(replicas, 5)).toBe(0);
    // A user who has sent no request yet must not be affected.
    expect(await answered(replicas, 10, { ...analyst, sub: 'bob' })).toBe(30);
    await inRedis(url, async (redis) => {
      const keys = await redis.keys('*');
      // Whole words: a digest may have these letters by chance.
      expect(keys.join(' ')).not.toMatch(/(?<![\w-])(?:ann|bob|LAX)(?![\w-])/);
      for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(0);
    });
  });

  it('are counted by each gateway while Redis is down, with a log line, and together again afterwards', async () => {
    const port = await freePort();
    const first = await startRedis(port);
    const url = `redis://127.0.0.1:${port}`;
    const replicas = await Promise.all([startReplica(url, 20), startReplica(url, 20)]);
    await untilCounted(url, replicas, 'warm');
    await kill(first);
    expect(await answered(replicas, 60)).toBe(40);
    for (const replica of replicas) expect(said(replica, 'each process counts for itself')).toBe(1);
    await startRedis(port);
    await untilCounted(url, replicas, 'back');
    for (const replica of replicas) expect(said(replica, 'Redis answers again (limits)')).toBe(1);
    expect(await answered(replicas, 40, { ...analyst, sub: 'bob' })).toBe(20);
  });

  it('are counted by each gateway while Redis is full, and in Redis again once it has room, without reconnecting', async () => {
    const port = await freePort();
    await startRedis(port);
    const url = `redis://127.0.0.1:${port}`;
    const { log } = captureLog();
    let nowMs = 0;
    const told: boolean[] = [];
    const timing = { ...systemTiming, nowMs: () => nowMs };
    const onOutage = (isDown: boolean) => void told.push(isDown);
    const limiters = await createRedisLimiters({
      url,
      clock: systemClock,
      log,
      commandTimeoutMs: 30_000,
      timing,
      onOutage,
    });
    onTestFinished(() => limiters.close());
    const limiter = limiters.create({ name: 'test', points: 3, windowSeconds: 60 });
    const take = async (key: string) => (await limiter.take(key, 1)).granted;
    const keys = () => inRedis(url, (redis) => redis.keys('guestlist:limit:*'));
    await vi.waitFor(async () => {
      await take('warm');
      expect(await keys()).toHaveLength(1);
    });
    told.length = 0;
    await inRedis(url, (redis) => redis.config('SET', 'maxmemory', '1'));
    expect([await take('ann'), await take('ann'), await take('ann'), await take('ann')]).toEqual([1, 1, 1, 0]);
    expect([told, (await keys()).length]).toEqual([[true], 1]);
    await inRedis(url, (redis) => redis.config('SET', 'maxmemory', '0'));
    nowMs += 5_000;
    expect(await take('bob')).toBe(1);
    expect([told, (await keys()).length]).toEqual([[true, false], 2]);
  });

  it('are counted by each gateway while Redis accepts connections but does not answer', async () => {
    const port = await freePort();
    const child = await startRedis(port);
    const url = `redis://127.0.0.1:${port}`;
    const { log } = captureLog();
    const limiters = await createRedisLimiters({ url, clock: systemClock, log, commandTimeoutMs: 50 });
    onTestFinished(() => limiters.close());
    const gateway = await startGateway({
      limits: { settings: { ...usualLimits, userPerMinute: 10 }, limiters },
      log,
    });
    await gateway.granted({ ...analyst, sub: 'warm' });
    child.kill('SIGSTOP');
    expect(await answered([{ ...gateway, lines: [] }], 25)).toBe(10);
  });
});
