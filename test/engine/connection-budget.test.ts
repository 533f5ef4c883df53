/**
 * Connections to servers are limited in total and for each datasource. An idle connection is closed if another
 * datasource needs one, and no caller waits forever.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createConnectionBudget, type Permit } from '../../src/engine/connections/budget.js';
import { createPool } from '../../src/engine/connections/pool.js';
import { refusalOf } from './world.js';

const waitLimits = { maxWaiting: 100, waitMs: 30_000 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('permits', () => {
  it('are limited in total and for each datasource', async () => {
    const budget = createConnectionBudget({ ...waitLimits, maxConnections: 3, maxConnectionsPerDatasource: 2 });
    const [one, two] = [budget.permitsOf('one'), budget.permitsOf('two')];
    const first = await one.acquire();
    await one.acquire();
    let third: Permit | undefined;
    const waiting = one.acquire().then((permit) => {
      third = permit;
    });
    await two.acquire();
    await settled();
    expect(third).toBeUndefined();
    first.release();
    first.release();
    await waiting;
    expect(third).toBeDefined();
  });

  it('permits of idle connections are given to others, the longest idle first; one that is used again is kept', async () => {
    const budget = createConnectionBudget({ ...waitLimits, maxConnections: 2, maxConnectionsPerDatasource: 2 });
    const [one, two] = [budget.permitsOf('one'), budget.permitsOf('two')];
    const evicted: string[] = [];
    const markIdleAs = (permit: Permit, name: string): void =>
      permit.markIdle(async () => {
        evicted.push(name);
      });
    const [older, newer] = [await one.acquire(), await one.acquire()];
    markIdleAs(older, 'older');
    markIdleAs(newer, 'newer');
    expect(older.markInUse()).toBe(true);
    markIdleAs(older, 'older');
    await two.acquire();
    expect(evicted).toEqual(['newer']);
    expect(newer.markInUse()).toBe(false);
    expect(older.markInUse()).toBe(true);
    const wanted = two.acquire();
    await settled();
    expect(evicted).toEqual(['newer']);
    markIdleAs(older, 'older');
    await wanted;
    expect(evicted).toEqual(['newer', 'older']);
  });

  it('permits that are released go to the datasources in turn, however many callers of one are waiting', async () => {
    const budget = createConnectionBudget({ ...waitLimits, maxConnections: 1, maxConnectionsPerDatasource: 1 });
    const first = await budget.permitsOf('one').acquire();
    const order: string[] = [];
    const waiting = ['one', 'one', 'one', 'two', 'three'].map(async (id) => {
      const permit = await budget.permitsOf(id).acquire();
      order.push(id);
      await settled();
      permit.release();
    });
    first.release();
    await Promise.all(waiting);
    expect(order).toEqual(['one', 'two', 'three', 'one', 'one']);
  });

  it('are refused if none is released in time, or if too many callers wait', async () => {
    const budget = createConnectionBudget({
      maxWaiting: 1,
      waitMs: 1,
      maxConnections: 1,
      maxConnectionsPerDatasource: 1,
    });
    const permits = budget.permitsOf('one');
    const permit = await permits.acquire();
    const [late, tooMany] = await Promise.all([refusalOf(() => permits.acquire()), refusalOf(() => permits.acquire())]);
    for (const { code, reason } of [late, tooMany]) {
      expect({ code, reason }).toEqual({ code: 'METRIC_QUERY_ERROR', reason: 'datasource-busy' });
    }
    permit.release();
    expect(await permits.acquire()).toBeDefined();
  });

  it('never exceed the limits, and every caller is served, in any order of calls', async () => {
    const user = fc.record({ datasource: fc.constantFrom('a', 'b', 'c'), turns: fc.nat(4), ends: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(user, { maxLength: 30 }), async (users) => {
        const budget = createConnectionBudget({ ...waitLimits, maxConnections: 4, maxConnectionsPerDatasource: 2 });
        const open = new Map<string, number>();
        const count = (id: string, by: number): void => {
          open.set(id, (open.get(id) ?? 0) + by);
          expect(open.get(id)).toBeLessThanOrEqual(2);
          expect([...open.values()].reduce((sum, of) => sum + of, 0)).toBeLessThanOrEqual(4);
        };
        await Promise.all(
          users.map(async ({ datasource, turns, ends }) => {
            const permit = await budget.permitsOf(datasource).acquire();
            count(datasource, 1);
            for (let turn = 0; turn < turns; turn += 1) await settled();
            const end = async (): Promise<void> => {
              await settled();
              count(datasource, -1);
            };
            if (!ends) return permit.markIdle(end);
            await end();
            permit.release();
          }),
        );
      }),
      { seed: 4, numRuns: 100 },
    );
  });
});

it('waiting for a limited resource has a time limit and a limit of callers', async () => {
  const pool = createPool(['only'], { maxWaiting: 1, waitMs: 1 });
  let release: (() => void) | undefined;
  const holding = pool.use(
    () =>
      new Promise<void>((resolve) => {
        release = resolve;
      }),
  );
  const refusals = await Promise.all([1, 2].map(() => refusalOf(() => pool.use(async () => undefined))));
  expect(refusals.map(({ reason }) => reason)).toEqual(['datasource-busy', 'datasource-busy']);
  release?.();
  await holding;
  expect(await pool.use(async (item) => item)).toBe('only');
});
