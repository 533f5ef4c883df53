import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type CacheKeyParts, createKeys } from '../../src/engine/cache/key.js';
import { createMemoryCache } from '../../src/engine/cache/memory.js';
import {
  type CacheOutcome,
  createResultCache,
  type ResultCache,
  type ResultCacheOptions,
} from '../../src/engine/cache/result-cache.js';
import type { RunResult } from '../../src/engine/run/run.js';
import { createRedisCache, type SharedCache } from '../../src/platform/caches/cache-redis.js';
import { createSealer } from '../../src/platform/keys/sealing.js';
import { createMovableClock } from '../gateway/harness.js';
import { isRedisServerThere, type OwnRedis, startOwnRedis } from '../suites/redis.js';
import { describeResultCache, different, keyedOf, type ReplicaUnderTest, rowsOf } from '../suites/result-cache.js';

const secret = createHash('sha256').update('keys').digest();
const sealer = createSealer(createHash('sha256').update('rows').digest());
const silent = pino({ level: 'silent' });

type Parts = Partial<ResultCacheOptions> & { readonly clock: ResultCacheOptions['clock'] };
const createReplica = (parts: Parts): ReplicaUnderTest & { readonly evicted: () => number } => {
  const outcomes: CacheOutcome[] = [];
  let evicted = 0;
  const noted = {
    answered: (outcome: CacheOutcome) => void outcomes.push(outcome),
    evicted: () => {
      evicted += 1;
    },
  };
  const cache = createResultCache({
    secret,
    ttlSeconds: 60,
    maxBytes: 1e6,
    shared: null,
    log: silent,
    noted,
    ...parts,
  });
  return { cache, outcomes, evicted: () => evicted };
};
const over = (rows: SharedCache) => ({ sharing: rows.sharing, cache: rows, sealer });

const alone = createMovableClock();
const only = createReplica({ clock: alone });
afterAll(() => only.cache.close());
describeResultCache('in the memory of one process', {
  replicas: () => [only, only],
  advance: async (ms) => alone.advance(ms),
});

const isThere = isRedisServerThere();
describe.runIf(isThere)('over Redis', () => {
  const clock = createMovableClock();
  let redis: OwnRedis;
  let stores: readonly SharedCache[] = [];
  let replicas: readonly [ReplicaUnderTest, ReplicaUnderTest];
  let admin: Redis;
  beforeAll(async () => {
    redis = await startOwnRedis();
    admin = new Redis(redis.url);
    stores = await Promise.all([1, 2].map(() => createRedisCache({ url: redis.url, log: silent })));
    const [first, second] = stores.map((rows) => createReplica({ clock, shared: over(rows) }));
    if (first === undefined || second === undefined) throw new Error('no replicas');
    replicas = [first, second];
  });
  afterAll(async () => {
    for (const { cache } of replicas) cache.close();
    for (const store of stores) await store.close();
    admin.disconnect();
    await redis.stop();
  });
  /** Redis uses its own clock, so the remaining life of its keys is shortened instead. */
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (const key of await admin.keys('guestlist:rows:*')) await admin.pexpire(key, (await admin.pttl(key)) - ms);
  };
  describeResultCache('of two replicas over Redis', { replicas: () => replicas, advance });

  const rowKeys = async () => (await admin.keys('*')).filter((key) => key.startsWith('guestlist:rows:'));

  it('two replicas query the datasource once', async () => {
    const keyed = keyedOf({ dataAppId: 'once' });
    const [first, second] = replicas;
    let begun = 0;
    const make = async () => {
      begun += 1;
      return rowsOf('made');
    };
    await Promise.all([first, second, first, second].map(({ cache }) => cache.load(keyed, make)));
    expect(begun).toBe(1);
    expect(new Set([...first.outcomes.slice(-2), ...second.outcomes.slice(-2)])).toContain('shared');
  });

  it("known leak 1: Redis contains no plain rows, clients or values, and rows under another client's key do not open", async () => {
    await admin.flushall();
    const [first, second] = replicas;
    const mine = keyedOf({ dataAppId: 'moved', clientId: 'acme-corp', parameters: ['secret-value'] });
    const theirs = keyedOf({ dataAppId: 'moved', clientId: 'globex-corp', parameters: ['secret-value'] });
    await first.cache.load(mine, async () => rowsOf('private-cell'));
    const [key = '', ...more] = await rowKeys();
    expect(more).toEqual([]);
    const text = (await admin.get(key)) ?? '';
    expect(text.length).toBeGreaterThan(0);
    for (const word of ['acme-corp', 'private-cell', 'secret-value', 'select']) {
      for (const at of [key, text, Buffer.from(text.split('.')[2] ?? '', 'base64url').toString('latin1')])
        expect(at).not.toContain(word);
    }
    const { text: theirKey } = createKeys(secret).keyOf(theirs);
    await admin.set(theirKey, text);
    expect(await second.cache.load(theirs, async () => rowsOf('their own'))).toEqual(rowsOf('their own'));
  });

  it.each(['', 'null', 'v1..', '[1,2]', 'x'.repeat(300)])(
    'what an attacker writes to Redis is a miss: %j',
    async (text) => {
      const keyed = keyedOf({ dataAppId: `forged ${text}` });
      await admin.set(createKeys(secret).keyOf(keyed).text, text);
      for (const { cache } of replicas)
        expect(await cache.load(keyed, async () => rowsOf('own'))).toEqual(rowsOf('own'));
    },
  );

  it("an erased client's rows are deleted there, and no other client's", async () => {
    await admin.flushall();
    const [first, second] = replicas;
    for (const clientId of ['gone', 'stays']) {
      for (const sql of ['one', 'two']) {
        await first.cache.load(keyedOf({ dataAppId: 'erased', clientId, sql }), async () => rowsOf(clientId));
      }
    }
    expect(await rowKeys()).toHaveLength(4);
    await second.cache.forgetClient('erased', 'gone');
    const left = createKeys(secret).prefixOf('erased', 'stays');
    expect((await rowKeys()).map((key) => key.startsWith(left))).toEqual([true, true]);
  });
});

describe.runIf(isThere)('an outage of Redis', () => {
  const open = async (redis: OwnRedis, more: Partial<ResultCacheOptions> = {}) => {
    const limits = { commandTimeoutMs: 100, sharingLimits: { commandTimeoutMs: 100 } };
    const rows = await createRedisCache({ url: redis.url, log: silent, ...limits });
    const replica = createReplica({ clock: createMovableClock(), shared: over(rows), ...more });
    onTestFinished(async () => {
      replica.cache.close();
      await rows.close();
    });
    return replica;
  };

  it('fails no question: each replica queries for itself, and erased rows do not come back with Redis', async () => {
    const redis = await startOwnRedis();
    onTestFinished(() => redis.stop());
    const [first, second] = [await open(redis), await open(redis)];
    const asked = { dataAppId: 'out', clientId: 'acme' };
    await first.cache.load(keyedOf(asked), async () => rowsOf('old'));
    redis.child().kill('SIGSTOP');
    // The erasure does not wait for Redis. No later question finds the rows that Redis still holds.
    await second.cache.forgetClient('out', 'acme');
    const after = keyedOf({ ...asked, epoch: '0/1' });
    for (const { cache } of [first, second])
      expect(await cache.load(after, async () => rowsOf('new'))).toEqual(rowsOf('new'));
    redis.child().kill('SIGCONT');
    const fresh = await open(redis);
    expect(await fresh.cache.load(after, async () => rowsOf('newest'))).not.toEqual(rowsOf('old'));
  });

  it('if Redis hangs, only the first question waits for it', async () => {
    const redis = await startOwnRedis();
    onTestFinished(() => redis.stop());
    let nowMs = 0;
    const timing = { nowMs: () => nowMs, after: () => () => {} };
    const replica = await open(redis, { timing });
    const admin = new Redis(redis.url);
    onTestFinished(() => admin.disconnect());
    const commands = async () => Number(/total_commands_processed:(\d+)/.exec(await admin.info('stats'))?.[1]);
    const before = await commands();
    redis.child().kill('SIGSTOP');
    const ask = (sql: string) => replica.cache.load(keyedOf({ dataAppId: 'hung', sql }), async () => rowsOf(sql));
    expect(await ask('first')).toEqual(rowsOf('first'));
    for (let index = 0; index < 50; index += 1) expect(await ask(`${index}`)).toEqual(rowsOf(`${index}`));
    redis.child().kill('SIGCONT');
    // The later questions sent nothing to Redis.
    expect((await commands()) - before).toBeLessThan(25);
    nowMs += 10_000;
    expect(await ask('after')).toEqual(rowsOf('after'));
  });
});

describe('the cache key', () => {
  const keys = createKeys(secret);
  it('differs for everything that rows depend on, alone and in pairs', () => {
    const all = Object.values(different);
    const pairs = all.flatMap((a) =>
      all.map((b) => ({ ...a, ...b, datasource: { ...a.datasource, ...b.datasource } })),
    );
    const texts = pairs.map((asked) => keys.keyOf(keyedOf(asked as Parameters<typeof keyedOf>[0])).text);
    const meant = new Set(pairs.map((asked) => JSON.stringify(keyedOf(asked as Parameters<typeof keyedOf>[0]))));
    expect(new Set(texts).size).toBe(meant.size);
  });

  it.each([
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1n,
    new Map([['a', 1]]),
    Symbol('a'),
    () => 1,
    [undefined],
    { $date: 'x' },
  ])('is refused if JSON would make two values equal: %s', (value) => {
    expect(() => keys.keyOf(keyedOf({ parameters: [value] }))).toThrow(TypeError);
  });

  it('reveals nothing without the secret: another secret gives another key', () => {
    const other = createKeys(createHash('sha256').update('another').digest());
    const [one, two] = [keys, other].map((each) => each.keyOf(keyedOf({})).text.split(':').slice(2));
    expect(one?.filter((part) => two?.includes(part))).toEqual([]);
  });
});

describe('the memory cache', () => {
  it('has a maximum size: the least recently used entries are dropped, and too large answers are not cached', async () => {
    const { cache, evicted } = createReplica({ clock: createMovableClock(), maxBytes: 40_000 });
    onTestFinished(() => cache.close());
    const large: RunResult = { names: ['c'], dataTypes: ['string'], rows: [['x'.repeat(20_000)]], total: 1 };
    expect(await cache.load(keyedOf({ sql: 'large' }), async () => large)).toEqual(large);
    expect(await cache.load(keyedOf({ sql: 'large' }), async () => rowsOf('again'))).toEqual(rowsOf('again'));
    for (let index = 0; index < 100; index += 1) {
      await cache.load(keyedOf({ sql: `${index}` }), async () => rowsOf('x'.repeat(1000)));
      expect(cache.bytes()).toBeLessThanOrEqual(40_000);
    }
    expect(evicted()).toBeGreaterThan(80);
  });

  it('drops entries that no question can find any more', () => {
    const clock = createMovableClock();
    const memory = createMemoryCache({ clock, maxBytes: 1e6, evicted: () => {} });
    const keep = (key: string, ttlMs: number) =>
      memory.keep(key, { rows: rowsOf('x'), madeAtMs: clock.now().getTime(), datasourceId: 'd' }, ttlMs);
    keep('short', 1_000);
    keep('long', 5_000);
    const both = memory.bytes();
    clock.advance(2_000);
    memory.sweep();
    expect(memory.bytes()).toBe(both / 2);
    // A clock that was set back must not lengthen the entry's life.
    clock.advance(-3_000);
    expect(memory.find('long', 5_000)).toBeUndefined();
  });
});

describe('known leaks 1 and 8: random questions of many clients, with changes and failures in between', () => {
  type Step = {
    readonly kind: 'ask' | 'fail' | 'slow' | 'revoke' | 'change' | 'forget' | 'finish';
    readonly who: number;
    readonly sql: number;
  };
  const steps = fc.array(
    fc.record({
      kind: fc.constantFrom<Step['kind']>('ask', 'ask', 'ask', 'slow', 'fail', 'revoke', 'change', 'forget', 'finish'),
      who: fc.nat(7),
      sql: fc.nat(1),
    }),
    { minLength: 5, maxLength: 40 },
  );
  const people = ['app', 'other'].flatMap((dataAppId) =>
    ['acme', 'globex'].flatMap((clientId) =>
      [null, 'Asia/Tokyo'].map((timezone) => ({ dataAppId, clientId, timezone })),
    ),
  );

  /** Each row contains its client and its version, so a wrong answer is a leak. */
  const check = async (replicas: readonly ResultCache[], list: readonly Step[]): Promise<void> => {
    const epochs = new Map<string, number>();
    let version = 0;
    let asked = 0;
    const under: { readonly open: () => void; readonly answer: Promise<void> }[] = [];
    const ask = ({ kind, who, sql }: Step): Promise<void> => {
      const person = people[who] ?? { dataAppId: 'app', clientId: 'acme', timezone: null };
      const epoch = `${epochs.get(`${person.dataAppId} ${person.clientId}`) ?? 0}/0`;
      const keyed: CacheKeyParts = keyedOf({ ...person, epoch, version, sql: `select ${sql}` });
      const expected = rowsOf(JSON.stringify([person, epoch, version, sql]));
      asked += 1;
      let open = (): void => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      const make = async (): Promise<RunResult> => {
        if (kind === 'slow') await opened;
        if (kind === 'fail') throw new Error('failed');
        return expected;
      };
      const load = replicas[asked % replicas.length]?.load(keyed, make) ?? Promise.reject(new Error('no replica'));
      const answer = load.then(
        (rows) => expect(rows).toEqual(expected),
        (error) => expect(error).toMatchObject({ message: 'failed' }),
      );
      if (kind === 'slow') under.push({ open, answer });
      else under.push({ open: () => {}, answer });
      return answer;
    };
    for (const step of list) {
      const { dataAppId, clientId } = people[step.who] ?? { dataAppId: '', clientId: '' };
      const client = `${dataAppId} ${clientId}`;
      if (step.kind === 'revoke') epochs.set(client, (epochs.get(client) ?? 0) + 1);
      else if (step.kind === 'change') version += 1;
      else if (step.kind === 'forget') await replicas[step.sql % replicas.length]?.forgetClient(dataAppId, clientId);
      else if (step.kind === 'finish') for (const { open } of under) open();
      else void ask(step);
      await Promise.resolve();
    }
    for (const { open } of under) open();
    await Promise.all(under.map(({ answer }) => answer));
  };

  it('no answer belongs to another client or to an earlier state', { timeout: 30_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const { cache } = createReplica({ clock: createMovableClock() });
        try {
          await check([cache], list);
        } finally {
          cache.close();
        }
      }),
      { numRuns: 300, seed: 1, endOnFailure: true },
    );
  });

  it.runIf(isThere)('the same holds for two replicas with Redis', { timeout: 60_000 }, async () => {
    const redis = await startOwnRedis();
    onTestFinished(() => redis.stop());
    const stores = await Promise.all([1, 2].map(() => createRedisCache({ url: redis.url, log: silent })));
    onTestFinished(async () => {
      for (const store of stores) await store.close();
    });
    const admin = new Redis(redis.url);
    onTestFinished(() => admin.disconnect());
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const replicas = stores.map((rows) => createReplica({ clock: createMovableClock(), shared: over(rows) }).cache);
        try {
          await check(replicas, list);
        } finally {
          for (const cache of replicas) cache.close();
          await admin.flushall();
        }
      }),
      { numRuns: 40, seed: 2, endOnFailure: true },
    );
  });
});
