import { type Cluster, Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readRedisUrl } from '../../src/platform/addresses/redis-url.js';
import { createRedisCache, type RedisCacheOptions, type SharedCache } from '../../src/platform/caches/cache-redis.js';
import { isRedisServerThere, startOwnRedis } from '../suites/redis.js';
import { type OwnCluster, startRedisCluster } from '../suites/redis-cluster.js';
import { createLatch, createWork, describeSharing } from '../suites/sharing.js';

const isThere = isRedisServerThere();
const log = pino({ level: 'silent' });
/** A short lease, so that the test that waits for its end is fast. No other work here takes this long. */
const shortLease = { leaseMs: 500, pollMs: 20 };

type Server = { readonly url: string; readonly admin: () => Redis | Cluster; readonly stop: () => Promise<void> };

const servers: Readonly<Record<string, () => Promise<Server>>> = {
  'one server': async () => {
    const { url, stop } = await startOwnRedis();
    return { url, stop, admin: () => new Redis(url) };
  },
  'a cluster of three nodes': async () => {
    const { url, stop, connect } = await startRedisCluster();
    return { url, stop, admin: connect };
  },
};

for (const [name, start] of Object.entries(servers)) {
  describe.runIf(isThere)(`Redis: ${name}`, () => {
    let redis: Server;
    let caches: readonly [SharedCache, SharedCache];
    const open = (more: Partial<RedisCacheOptions> = {}) => createRedisCache({ url: redis.url, log, ...more });
    beforeAll(async () => {
      redis = await start();
      caches = [await open(), await open()];
    });
    afterAll(async () => {
      for (const cache of caches ?? []) await cache.close();
      await redis.stop();
    });
    describeSharing(`Redis, ${name}`, { replicas: () => [caches[0].sharing, caches[1].sharing], key: (key) => key });

    it('keeps values as a cache does', async () => {
      await caches[0].set('value', 'text', 60_000);
      expect(await caches[1].get('value')).toBe('text');
      await caches[1].delete('value');
      expect(await caches[0].get('value')).toBeNull();
    });

    it('a holder that stops for longer than its lease cannot overwrite what the next one made', async () => {
      const stopped = await open({ sharingLimits: { ...shortLease, leaseMs: 60_000 } });
      onTestFinished(() => stopped.close());
      const latch = createLatch();
      const slow = createWork('slow');
      slow.state.until = latch.opened;
      const first = stopped.sharing.once('fenced', slow.work);
      await expect.poll(() => slow.state.begun).toBe(1);
      // Deletes the lease as if no heartbeat had extended it: it ends while the work is running.
      const admin = redis.admin();
      await admin.del('{fenced}:lease');
      admin.disconnect();
      const next = createWork('next');
      expect((await caches[1].sharing.once('fenced', next.work)).text).toBe('good next 1');
      latch.open();
      expect(await first).toEqual({ text: 'good next 1', isShared: true });
      expect(slow.discarded).toEqual(['good slow 1']);
      expect((await caches[0].sharing.once('fenced', createWork('third').work)).text).toBe('good next 1');
    });

    it('nor can it while the next one is still at work: its own is ended, and it takes what the other makes', async () => {
      const stopped = await open({ sharingLimits: { ...shortLease, leaseMs: 60_000 } });
      onTestFinished(() => stopped.close());
      const [slow, next] = [createWork('slow'), createWork('next')];
      const [slowLatch, nextLatch] = [createLatch(), createLatch()];
      slow.state.until = slowLatch.opened;
      next.state.until = nextLatch.opened;
      const first = stopped.sharing.once('overtaken', slow.work);
      await expect.poll(() => slow.state.begun).toBe(1);
      const admin = redis.admin();
      await admin.del('{overtaken}:lease');
      admin.disconnect();
      const second = caches[1].sharing.once('overtaken', next.work);
      await expect.poll(() => next.state.begun).toBe(1);
      slowLatch.open();
      await expect.poll(() => slow.discarded).toEqual(['good slow 1']);
      nextLatch.open();
      for (const made of [first, second]) expect((await made).text).toBe('good next 1');
    });

    it('the lease of a holder that is gone ends, and another takes over', async () => {
      const dying = await open({ sharingLimits: shortLease });
      const waiting = await open({ sharingLimits: shortLease });
      onTestFinished(() => waiting.close());
      const never = createWork('never');
      never.state.until = new Promise(() => {});
      void dying.sharing.once('dead holder', never.work);
      await expect.poll(() => never.state.begun).toBe(1);
      const heir = createWork('heir');
      const inherited = waiting.sharing.once('dead holder', heir.work);
      // Closing the connection also ends the heartbeat.
      await dying.close();
      expect((await inherited).text).toBe('good heir 1');
    });

    it('a holder that is only slow keeps its lease', async () => {
      const slow = await open({ sharingLimits: shortLease });
      onTestFinished(() => slow.close());
      const latch = createLatch();
      const { work, state } = createWork('slow');
      state.until = latch.opened;
      const held = slow.sharing.once('slow holder', work);
      await expect.poll(() => state.begun).toBe(1);
      const admin = redis.admin();
      onTestFinished(() => admin.disconnect());
      // Waits twice: without the heartbeat, the lease would have ended in between.
      for (const _ of [1, 2]) {
        await admin.pexpire('{slow holder}:lease', 200);
        await expect.poll(() => admin.pttl('{slow holder}:lease'), { interval: 10 }).toBeGreaterThan(200);
      }
      latch.open();
      expect((await held).isShared).toBe(true);
    });
  });
}

describe.runIf(isThere)('a cluster that changes', () => {
  let cluster: OwnCluster;
  let cache: SharedCache;
  beforeAll(async () => {
    cluster = await startRedisCluster();
    cache = await createRedisCache({ url: cluster.url, log });
  });
  afterAll(async () => {
    await cache.close();
    await cluster.stop();
  });

  it('values of a slot that moved to another node are read, written and shared there', async () => {
    const keys = Array.from({ length: 20 }, (_, index) => `moving ${index}`);
    for (const key of keys) await cache.set(key, `of ${key}`, 60_000);
    for (const key of keys.slice(0, 10)) await cluster.moveSlotOf(key);
    for (const key of keys) expect(await cache.get(key)).toBe(`of ${key}`);
    await cluster.moveSlotOf('{made}:lease');
    expect((await cache.sharing.once('made', createWork('after').work)).text).toBe('good after 1');
    expect((await cache.sharing.once('made', createWork('later').work)).text).toBe('good after 1');
  });

  it('all keys of a prefix are deleted on every node', async () => {
    const keys = Array.from({ length: 50 }, (_, index) => `gone:${index}`);
    for (const key of keys) await cache.set(key, 'x', 60_000);
    await cache.set('kept', 'x', 60_000);
    await cache.deleteByPrefix('gone:');
    for (const key of keys) expect(await cache.get(key)).toBeNull();
    expect(await cache.get('kept')).toBe('x');
  });

  it('while a node is gone its keys are misses, and after the failover its replica has them', async () => {
    const key = await cluster.keyOfFirst('failing ');
    await cache.set(key, 'before', 60_000);
    await cluster.killFirst();
    // A miss or the value: never an error of the caller.
    expect([null, 'before']).toContain(await cache.get(key));
    await expect.poll(() => cache.get(key), { timeout: 30_000 }).toBe('before');
    await cache.set(key, 'after', 60_000);
    await expect.poll(() => cache.get(key), { timeout: 30_000 }).toBe('after');
  }, 60_000);
});

describe.runIf(isThere)('an outage of Redis', () => {
  it('has each replica work for itself, and all take the first that is offered afterwards', async () => {
    const redis = await startOwnRedis();
    onTestFinished(() => redis.stop());
    const caches = await Promise.all([1, 2].map(() => createRedisCache({ url: redis.url, log })));
    onTestFinished(async () => {
      for (const cache of caches) await cache.close();
    });
    const replicas = caches.map(({ sharing }) => sharing);
    const generations = replicas.map((sharing) => sharing.generation());
    await redis.stop();
    const alone = await Promise.all(replicas.map((each, index) => each.once('out', createWork(`${index}`).work)));
    expect(alone).toEqual([
      { text: 'good 0 1', isShared: false },
      { text: 'good 1 1', isShared: false },
    ]);
    const isGood = () => true;
    const made = { text: 'good', lifeMs: 60_000 };
    expect(await replicas[0]?.offer('out', made, isGood)).toBeNull();
    await redis.start();
    await expect
      .poll(() => replicas.every((each, index) => each.generation() > (generations[index] ?? 0)), { timeout: 10_000 })
      .toBe(true);
    const kept = await Promise.all(
      replicas.map((each, index) => each.offer('out', { text: alone[index]?.text ?? '', lifeMs: 60_000 }, isGood)),
    );
    expect(new Set(kept).size).toBe(1);
  });
});

describe('REDIS_URL', () => {
  it('names one server, Sentinels or a cluster', () => {
    expect(readRedisUrl('redis://127.0.0.1:6379/2')).toEqual({ kind: 'single', url: 'redis://127.0.0.1:6379/2' });
    expect(readRedisUrl('redis-sentinel://u:p%40w@a:1,b/main')).toEqual({
      kind: 'sentinel',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 26_379 },
      ],
      name: 'main',
      access: { username: 'u', password: 'p@w' },
    });
    expect(readRedisUrl('rediss-cluster://:secret@[::1]:7000,b:7001')).toMatchObject({
      kind: 'cluster',
      nodes: [
        { host: '::1', port: 7000 },
        { host: 'b', port: 7001 },
      ],
      access: { password: 'secret', tls: {} },
    });
  });

  it.each(['http://user:secret@x', 'redis-sentinel://user:secret@a:1', 'nonsense'])(
    '%s is refused, without its password',
    (url) => {
      expect(() => readRedisUrl(url)).toThrow(/REDIS_URL/);
      expect(() => readRedisUrl(url)).not.toThrow(/secret/);
    },
  );
});
