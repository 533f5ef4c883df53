import { rm } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readRedisUrl } from '../../src/platform/addresses/redis-url.js';
import { createRedisCache, type RedisCacheOptions, type SharedCache } from '../../src/platform/caches/cache-redis.js';
import { isRedisServerThere, type OwnRedis, startOwnRedis } from '../suites/redis.js';
import { createLatch, createWork, describeSharing } from '../suites/sharing.js';

const isThere = isRedisServerThere();
const log = pino({ level: 'silent' });
/** A short lease, so that the test that waits for its end is fast. No other work here takes this long. */
const shortLease = { leaseMs: 500, pollMs: 20 };

const clusterFile = `guestlist-nodes-${process.pid}.conf`;
const servers = {
  'one server': { extra: [], urlOf: ({ url }: OwnRedis) => url },
  'a cluster': {
    extra: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', '--cluster-config-file', clusterFile],
    urlOf: ({ port }: OwnRedis) => `redis-cluster://127.0.0.1:${port}`,
  },
};

/**
 * Makes a cluster of one node. It has all slots, and refuses commands with keys of several slots as a larger cluster
 * does.
 */
const takeAllSlots = async ({ url }: OwnRedis): Promise<void> => {
  const admin = new Redis(url);
  await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  while (!String(await admin.call('CLUSTER', 'INFO')).includes('cluster_state:ok'));
  admin.disconnect();
};

for (const [name, { extra, urlOf }] of Object.entries(servers)) {
  describe.runIf(isThere)(`Redis: ${name}`, () => {
    let redis: OwnRedis;
    let caches: readonly [SharedCache, SharedCache];
    const open = (more: Partial<RedisCacheOptions> = {}) => createRedisCache({ url: urlOf(redis), log, ...more });
    beforeAll(async () => {
      redis = await startOwnRedis(extra);
      if (name === 'a cluster') await takeAllSlots(redis);
      caches = [await open(), await open()];
    });
    afterAll(async () => {
      for (const cache of caches ?? []) await cache.close();
      await redis.stop();
      await rm(`/tmp/${clusterFile}`, { force: true });
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
      const admin = new Redis(redis.url);
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
      const admin = new Redis(redis.url);
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
      const admin = new Redis(redis.url);
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
