/**
 * What the result cache must do with every kind of storage: two replicas, a clock that the test moves, and queries
 * whose end the test decides.
 */
import { describe, expect, it } from 'vitest';
import type { CacheKeyParts } from '../../src/engine/cache/key.js';
import type { CacheOutcome, ResultCache } from '../../src/engine/cache/result-cache.js';
import type { RunResult } from '../../src/engine/run/run.js';
import type { Epoch } from '../../src/model/brand.js';
import type { ClientDatabase, ClientId, TenantScope } from '../../src/model/datamart/tenant.js';
import type { MetricQuestion } from '../../src/model/query/engine.js';
import { Refusal } from '../../src/model/refusal.js';
import { datamart, datasourceAt, epoch as firstDay } from '../engine/world.js';
import { createLatch } from './sharing.js';

export type ReplicaUnderTest = { readonly cache: ResultCache; readonly outcomes: CacheOutcome[] };
export type ResultCacheUnderTest = {
  readonly replicas: () => readonly [ReplicaUnderTest, ReplicaUnderTest];
  readonly advance: (ms: number) => Promise<void>;
};

export type Asked = {
  readonly dataAppId?: string;
  /** Null: the datamart has no tenancy. */
  readonly clientId?: string | null;
  readonly epoch?: string;
  readonly timezone?: string | null;
  readonly version?: number;
  readonly sql?: string;
  readonly parameters?: readonly unknown[];
  readonly limit?: number | null;
  readonly database?: string;
  /** The client's own database. */
  readonly own?: string;
  readonly datasource?: Partial<MetricQuestion['datasource']>;
  readonly ttlSeconds?: number | null;
  readonly staleSeconds?: number;
};

/** The parts of a question's cache key. Outside of the cache's tests, only `compile` creates them. */
export const keyedOf = (asked: Asked): CacheKeyParts => {
  const { clientId = 'acme', sql = 'select 1', parameters = [], limit = null, version = 0 } = asked;
  const tenant: TenantScope =
    clientId === null
      ? { kind: 'untenanted' }
      : { kind: 'tenant', clientId: clientId as ClientId, database: (asked.own ?? null) as ClientDatabase | null };
  const updatedAt = new Date(firstDay.getTime() + version);
  return {
    question: {
      dataAppId: asked.dataAppId ?? 'app',
      epoch: (asked.epoch ?? '0/0') as Epoch,
      tenant,
      datasource: { ...datasourceAt('/data/a.duckdb'), ...asked.datasource } as MetricQuestion['datasource'],
      datamart: {
        ...datamart({ tables: [], updatedAt }),
        cacheTtlSeconds: asked.ttlSeconds,
        cacheStaleSeconds: asked.staleSeconds,
      },
      timezone: asked.timezone ?? null,
    },
    plan: { database: asked.database ?? 'main', leaves: [] } as unknown as CacheKeyParts['plan'],
    statements: { page: { sql, parameters } },
    page: { cap: null, limit, offset: 0 },
  };
};

export const rowsOf = (...cells: RunResult['rows'][number][number][]): RunResult => ({
  names: cells.map((_cell, index) => `c${index}`),
  dataTypes: cells.map(() => 'string'),
  rows: [cells],
  total: 1,
});

/** Questions that differ in exactly one input of the rows. */
export const different: Readonly<Record<string, Asked>> = {
  'the client': { clientId: 'Acme' },
  'the client by a blank': { clientId: 'acme ' },
  'the data app': { dataAppId: 'other' },
  'no tenancy': { clientId: null },
  'a client called None': { clientId: 'None' },
  'the epoch': { epoch: '1/0' },
  'the erasures': { epoch: '0/1' },
  'the timezone': { timezone: 'Europe/Berlin' },
  "the datamart's version": { version: 1 },
  'the text': { sql: 'select 1 ' },
  'a bound value': { parameters: ['a'] },
  'the number of bound values': { parameters: ['a', 'b'] },
  'a bound list': { parameters: [['a', 'b']] },
  'a bound value with a comma': { parameters: ['a,b'] },
  'the page': { limit: 1 },
  'the physical database': { database: 'client_7' },
  "the client's own database": { own: 'acme' },
  'the file': { datasource: { path: '/data/b.duckdb' } as Asked['datasource'] & {} },
  'the datasource': { datasource: { id: 'd2' } },
  'its last look': { datasource: { syncedAt: firstDay } },
};

export const describeResultCache = (name: string, { replicas, advance }: ResultCacheUnderTest): void => {
  let run = 0;
  /** Returns a data app that only this test uses, so that nothing of it is cached. */
  const own = () => {
    run += 1;
    const dataAppId = `app-${run}`;
    return (asked: Asked = {}): CacheKeyParts => keyedOf({ dataAppId, ...asked });
  };
  const never = async (): Promise<RunResult> => {
    throw new Error('the rows were not kept');
  };

  describe(`the result cache: ${name}`, () => {
    it('answers kept rows as they were, in every replica', async () => {
      const [first, second] = replicas();
      const keyed = own();
      const rows = rowsOf('ä', 1, -0.5, true, null, '12345678901234567890', '');
      expect(await first.cache.load(keyed(), async () => rows)).toEqual(rows);
      for (const { cache } of [first, second, first, second]) expect(await cache.load(keyed(), never)).toEqual(rows);
    });

    it('known leak 1: cached rows are found only by the same client in the same state, even if all else is equal', async () => {
      const [first, second] = replicas();
      const base = `app-base-${name}`;
      await first.cache.load(keyedOf({ dataAppId: base }), async () => rowsOf('kept'));
      for (const [what, asked] of Object.entries(different)) {
        for (const { cache } of [first, second]) {
          const found = await cache.load(keyedOf({ dataAppId: base, ...asked }), async () => rowsOf(what));
          expect(found.rows, what).toEqual([[what]]);
        }
      }
      expect(await second.cache.load(keyedOf({ dataAppId: base }), never)).toEqual(rowsOf('kept'));
    });

    it('gives older rows, with their age, only where the datamart and the caller allow it, and only for so long', async () => {
      const { cache, outcomes } = replicas()[0];
      const keyed = own();
      const asked = { ttlSeconds: 5, staleSeconds: 10 };
      const ask = async (parts: Asked, mayBeStale?: true, made = 'new') => {
        const { rows, readAtMs } = await cache.load({ ...keyed(parts), mayBeStale }, async () => rowsOf(made));
        return [rows[0]?.[0], readAtMs !== undefined];
      };
      const [stale, fresh, epochs] = [
        { ...asked, sql: 'a' },
        { ...asked, sql: 'b' },
        { ...asked, sql: 'c' },
      ];
      const without = { ttlSeconds: 5, sql: 'd' };
      for (const one of [stale, fresh, epochs, without]) expect(await ask(one, true, 'old')).toEqual(['old', false]);
      await advance(4_900);
      expect(await ask(stale, true)).toEqual(['old', false]);
      await advance(200);
      outcomes.length = 0;
      expect(await ask(stale, true)).toEqual(['old', true]);
      expect(outcomes).toEqual(['stale']);
      expect(await ask(fresh)).toEqual(['new', false]);
      expect(await ask(without, true)).toEqual(['new', false]);
      expect(await ask({ ...epochs, epoch: '1/0' }, true)).toEqual(['new', false]);
      expect(await ask({ ...epochs, version: 1 }, true)).toEqual(['new', false]);
      await advance(9_800);
      expect(await ask(stale, true)).toEqual(['old', true]);
      await advance(200);
      expect(await ask(stale, true)).toEqual(['new', false]);
    });

    it('never gives older rows of a client that was erased or revoked, nor of a datasource that was read again', async () => {
      const { cache } = replicas()[0];
      const dataAppId = `app-stale-${name}`;
      const of = (parts: Asked) => ({
        ...keyedOf({ dataAppId, ttlSeconds: 5, staleSeconds: 60, ...parts }),
        mayBeStale: true,
      });
      const ask = async (parts: Asked, made: string) =>
        (await cache.load(of(parts), async () => rowsOf(made))).rows[0]?.[0];
      await ask({}, 'acme');
      await ask({ clientId: 'zeta' }, 'zeta');
      await advance(6_000);
      expect(await ask({ clientId: 'zeta' }, 'other')).toBe('zeta');
      cache.forgetDatasource('d1');
      expect(await ask({ clientId: 'zeta' }, 'other')).toBe('other');
      await advance(6_000);
      expect(await ask({ clientId: 'zeta' }, 'another')).toBe('other');
      await cache.forgetClient(dataAppId, 'zeta');
      expect(await ask({ clientId: 'zeta' }, 'another')).toBe('another');
    });

    it('keeps rows for as long as the datamart says, otherwise as configured, and not at all for 0', async () => {
      const { cache } = replicas()[0];
      const keyed = own();
      let count = 0;
      const make = async (): Promise<RunResult> => {
        count += 1;
        return rowsOf(String(count));
      };
      const ask = async (asked: Asked) => (await cache.load(keyed(asked), make)).rows[0]?.[0];
      const [short, usual, none] = [{ sql: 'short', ttlSeconds: 5 }, { sql: 'usual' }, { sql: 'none', ttlSeconds: 0 }];
      expect([await ask(short), await ask(usual), await ask(none)]).toEqual(['1', '2', '3']);
      await advance(4_900);
      expect([await ask(short), await ask(usual), await ask(none)]).toEqual(['1', '2', '4']);
      await advance(200);
      expect([await ask(short), await ask(usual)]).toEqual(['5', '2']);
      await advance(60_000);
      expect(await ask(usual)).toBe('6');
    });

    it('has a query run once for all who ask meanwhile, and again after it failed', async () => {
      const keyed = own();
      const latch = createLatch();
      const state = { begun: 0, failure: null as Error | null };
      const make = async (): Promise<RunResult> => {
        state.begun += 1;
        await latch.opened;
        if (state.failure !== null) throw state.failure;
        return rowsOf('made');
      };
      state.failure = new Refusal('METRIC_QUERY_ERROR', 'It failed.', { reason: 'datasource-failed' });
      const asked = [...replicas(), ...replicas()].map(({ cache }) => cache.load(keyed(), make));
      const ended = Promise.allSettled(asked);
      await expect.poll(() => state.begun).toBeGreaterThan(0);
      latch.open();
      for (const outcome of await ended) {
        expect(outcome).toMatchObject({
          status: 'rejected',
          reason: { code: 'METRIC_QUERY_ERROR', message: 'It failed.' },
        });
      }
      const failed = state.begun;
      // One query for each replica that was not notified of the failure in time.
      expect(failed).toBeLessThanOrEqual(2);
      state.failure = null;
      for (const { cache } of replicas()) expect(await cache.load(keyed(), make)).toEqual(rowsOf('made'));
      expect(state.begun).toBe(failed + 1);
    });

    it('one caller that leaves does not end the query for others; when all have left, it ends and nothing is cached', async () => {
      const { cache } = replicas()[0];
      const keyed = own();
      const latch = createLatch();
      const signals: (AbortSignal | undefined)[] = [];
      const make = async (signal: AbortSignal | undefined): Promise<RunResult> => {
        signals.push(signal);
        await latch.opened;
        signal?.throwIfAborted();
        return rowsOf(`made ${signals.length}`);
      };
      const [leaving, staying] = [new AbortController(), new AbortController()];
      const gone = cache.load(keyed(), make, leaving.signal);
      const there = cache.load(keyed(), make, staying.signal);
      const alone = cache.load(keyed({ sql: 'alone' }), make, leaving.signal);
      await expect.poll(() => signals.length).toBe(2);
      leaving.abort(new Error('left'));
      await expect(gone).rejects.toThrow('left');
      await expect(alone).rejects.toThrow('left');
      expect(signals.map((signal) => signal?.aborted).sort()).toEqual([false, true]);
      latch.open();
      expect(await there).toEqual(rowsOf('made 2'));
      expect(await cache.load(keyed(), never)).toEqual(rowsOf('made 2'));
      expect(await cache.load(keyed({ sql: 'alone' }), make)).toEqual(rowsOf('made 3'));
      await expect(cache.load(keyed(), make, leaving.signal)).rejects.toThrow('left');
    });

    it('an asker who comes, or waits elsewhere, while a work is ended that all have left gets an answer of its own', async () => {
      const [first, second] = replicas();
      const keyed = own();
      const leaving = new AbortController();
      const latch = createLatch();
      let begun = 0;
      const gone = first.cache.load(
        keyed(),
        async () => {
          begun += 1;
          await latch.opened;
          throw new Refusal('METRIC_QUERY_ERROR', 'Query cancelled: the client disconnected.', {
            reason: 'caller-gone',
          });
        },
        leaving.signal,
      );
      await expect.poll(() => begun).toBe(1);
      const elsewhere =
        first.cache === second.cache ? undefined : second.cache.load(keyed(), async () => rowsOf('made'));
      leaving.abort(new Error('left'));
      const after = first.cache.load(keyed(), async () => rowsOf('made'));
      latch.open();
      await expect(gone).rejects.toThrow('left');
      for (const answer of [after, elsewhere]) expect((await answer)?.rows ?? [['made']]).toEqual([['made']]);
    });

    it('forgets a client in all replicas, for any epoch, and no other client', async () => {
      const [first, second] = replicas();
      const keyed = own();
      const [mine, others] = [{ clientId: 'acme' }, { clientId: 'globex' }];
      for (const asked of [mine, others]) {
        for (const { cache } of [first, second]) await cache.load(keyed(asked), async () => rowsOf('old'));
      }
      await first.cache.forgetClient(keyed().question.dataAppId, 'acme');
      await expect
        .poll(async () => {
          const found = await second.cache.load(keyed({ ...mine, ttlSeconds: 50 }), async () => rowsOf('new'));
          return found.rows;
        })
        .toEqual([['new']]);
      expect(await first.cache.load(keyed(others), never)).toEqual(rowsOf('old'));
      await first.cache.forgetClient(keyed().question.dataAppId, null);
      expect(await first.cache.load(keyed(others), async () => rowsOf('newer'))).toEqual(rowsOf('newer'));
    });

    it('caches nothing that was being computed when it was forgotten', async () => {
      const [first, second] = replicas();
      const keyed = own();
      const latch = createLatch();
      let begun = 0;
      const late = first.cache.load(keyed(), async () => {
        begun += 1;
        await latch.opened;
        return rowsOf('late');
      });
      const ofSource = first.cache.load(keyed({ sql: 'source', datasource: { id: 'changed' } }), async () => {
        begun += 1;
        await latch.opened;
        return rowsOf('late');
      });
      await expect.poll(() => begun).toBe(2);
      await first.cache.forgetClient(keyed().question.dataAppId, 'acme');
      first.cache.forgetDatasource('changed');
      latch.open();
      expect([await late, await ofSource]).toEqual([rowsOf('late'), rowsOf('late')]);
      for (const { cache } of [first, second]) {
        expect(await cache.load(keyed({ ttlSeconds: 59 }), async () => rowsOf('new'))).toEqual(rowsOf('new'));
      }
    });
  });
};
