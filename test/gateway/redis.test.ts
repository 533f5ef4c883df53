import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRedisCache } from '../../src/platform/caches/cache-redis.js';
import { isRedisServerThere, startOwnRedis } from '../suites/redis.js';
import { analyst, startGateway } from './harness.js';
import { openTestLedger } from './ledgers.js';

const hasServer = isRedisServerThere();

describe.runIf(hasServer)('the gateway with Redis', () => {
  it('shares tokens between replicas, and continues minting when Redis is killed', async () => {
    const redis = await startOwnRedis();
    onTestFinished(() => redis.stop());
    const { url } = redis;
    const log = pino({ level: 'silent' });
    const caches = await Promise.all([createRedisCache({ url, log }), createRedisCache({ url, log })]);
    onTestFinished(async () => {
      await Promise.all(caches.map((cache) => cache.close()));
    });
    const ledger = { ...(await openTestLedger()), isShared: true };
    const first = await startGateway({ ledger, cache: caches[0] });
    const second = await startGateway({ ledger, cache: caches[1] });
    const { token } = await first.granted(analyst);
    await second.granted({ ...analyst, sub: 'warm-up' });
    expect((await second.granted(analyst)).token).toBe(token);
    expect(second.upstream.mints()).toHaveLength(1);
    const line = ({ lines }: typeof first) => lines.findLast(({ msg }) => msg === 'embed token');
    expect(line(second)?.mintedBy).toBe(line(first)?.requestId);
    await redis.stop();
    // Each replica uses what it has cached, and mints each other token once, however many requests need it.
    const before = first.upstream.mints().length;
    expect((await first.granted(analyst)).token).toBe(token);
    expect((await second.granted(analyst)).token).toBe(token);
    expect(first.upstream.mints()).toHaveLength(before);
    const bob = { ...analyst, sub: 'bob' };
    const answers = await Promise.all(Array.from({ length: 50 }, () => first.granted(bob)));
    expect(new Set(answers.map((answer) => answer.token)).size).toBe(1);
    expect(first.upstream.mints()).toHaveLength(before + 1);
  });
});
