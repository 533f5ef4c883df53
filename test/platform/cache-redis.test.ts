import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Cache } from '../../src/platform/caches/cache.js';
import { createRedisCache } from '../../src/platform/caches/cache-redis.js';
import { systemTiming } from '../../src/platform/work/time.js';
import { describeCache } from '../suites/cache.js';
import { redisArgs } from '../suites/redis.js';

const url = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379';
const prefix = `guestlist-test:${randomUUID()}:`;

const createLog = () => {
  const lines: Record<string, unknown>[] = [];
  return { lines, log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }) };
};

const probe = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
probe.on('error', () => {});
const isThere = await probe.connect().then(
  () => true,
  () => false,
);
if (!isThere) console.warn(`SKIPPED: no Redis at ${url}; set TEST_REDIS_URL to run these tests`);
afterAll(() => probe.disconnect());

it.runIf(process.env.CI === 'true')('Redis is there where CI runs', () => expect(isThere).toBe(true));

describe.runIf(isThere)('Redis', () => {
  let cache: Cache;
  const { log, lines } = createLog();
  beforeAll(async () => {
    cache = await createRedisCache({ url, log });
  });
  afterAll(async () => {
    const keys = await probe.keys(`${prefix}*`);
    if (keys.length > 0) await probe.del(keys);
    await cache.close();
    expect(lines).toEqual([]);
  });
  // Redis uses its own clock, so the remaining life of the keys is shortened instead of waiting.
  const pass = async (ms: number) => {
    for (const key of await probe.keys(`${prefix}*`)) {
      const left = await probe.pttl(key);
      if (left >= 0) await probe.pexpire(key, left - ms);
    }
  };
  describeCache('Redis', { cache: () => cache, key: (name) => prefix + name, pass });
});

const hasServer = spawnSync('redis-server', ['--version']).status === 0;
if (!hasServer) console.warn('SKIPPED: no redis-server on PATH, so the outage of a Redis is not tested');
it.runIf(process.env.CI === 'true')('redis-server is there where CI runs', () => expect(hasServer).toBe(true));

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};

const startRedis = async (port: number): Promise<ChildProcess> => {
  const child = spawn('redis-server', redisArgs(port), { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  for await (const chunk of child.stdout ?? []) {
    if (String(chunk).includes('Ready to accept connections')) break;
  }
  child.stdout?.resume();
  return child;
};

const stop = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
};

describe.runIf(hasServer)('an outage of Redis', () => {
  it('is a miss, logged once, and over when Redis is back', { timeout: 20_000 }, async () => {
    const port = await freePort();
    const child = await startRedis(port);
    const { log, lines } = createLog();
    const cache = await createRedisCache({ url: `redis://127.0.0.1:${port}`, log });
    onTestFinished(() => cache.close());
    await cache.set('key', 'value', 60_000);
    expect(await cache.get('key')).toBe('value');
    await stop(child);
    for (let round = 0; round < 20; round += 1) {
      expect(await cache.get('key')).toBeNull();
      await cache.set('key', 'value', 60_000);
      await cache.delete('key');
    }
    await expect(cache.deleteByPrefix('k')).rejects.toThrow();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: 50, event: 'redis.disconnected', use: 'cache' });
    await startRedis(port);
    await expect
      .poll(
        async () => {
          await cache.set('key', 'again', 60_000);
          return cache.get('key');
        },
        { timeout: 10_000 },
      )
      .toBe('again');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({ level: 30, event: 'redis.recovered', use: 'cache' });
  });

  it('answers nothing where Redis hangs, and does not wait for it to go on', async () => {
    const port = await freePort();
    const child = await startRedis(port);
    const { log, lines } = createLog();
    const cache = await createRedisCache({ url: `redis://127.0.0.1:${port}`, log, commandTimeoutMs: 100 });
    onTestFinished(() => cache.close());
    await cache.set('key', 'value', 60_000);
    child.kill('SIGSTOP');
    const answers = await Promise.all(Array.from({ length: 50 }, () => cache.get('key')));
    expect(new Set(answers)).toEqual(new Set([null]));
    expect(lines).toHaveLength(1);
    child.kill('SIGCONT');
    await expect.poll(() => cache.get('key'), { timeout: 10_000 }).toBe('value');
  });

  it('is told once and ended once where Redis is full: it still reads, and does not write', async () => {
    const port = await freePort();
    await startRedis(port);
    const url = `redis://127.0.0.1:${port}`;
    const { log, lines } = createLog();
    let nowMs = 0;
    const timing = { ...systemTiming, nowMs: () => nowMs };
    const told: boolean[] = [];
    const cache = await createRedisCache({ url, log, timing, onOutage: (isDown) => told.push(isDown) });
    onTestFinished(() => cache.close());
    const operator = new Redis(url);
    onTestFinished(() => operator.disconnect());
    await cache.set('key', 'value', 60_000);
    await operator.config('SET', 'maxmemory', '1');
    for (let round = 0; round < 5; round += 1) {
      await cache.set('other', 'value', 60_000);
      expect(await cache.get('key')).toBe('value');
      nowMs += 4_999;
    }
    expect(told).toEqual([true]);
    await operator.config('SET', 'maxmemory', '0');
    nowMs += 5_000;
    await cache.set('other', 'value', 60_000);
    expect(await cache.get('other')).toBe('value');
    expect([told, lines.length]).toEqual([[true, false], 2]);
  });

  it('does not keep the process from starting', { timeout: 20_000 }, async () => {
    const { log, lines } = createLog();
    const cache = await createRedisCache({ url: `redis://127.0.0.1:${await freePort()}`, log });
    onTestFinished(() => cache.close());
    expect(await cache.get('key')).toBeNull();
    expect(lines).toHaveLength(1);
  });
});
