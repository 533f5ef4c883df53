/** Connections to servers: bounded in all and for each datasource, never kept from who needs one by who does not, never waited for without end. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createConnectionBudget, type Permit } from '../../src/engine/connections/budget.js';
import { createPool } from '../../src/engine/connections/pool.js';
import { refusalOf } from './world.js';

const patience = { maxWaiting: 100, waitMs: 30_000 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('permits', () => {
  it('are as many as there may be, in all and for one datasource', async () => {
    const quota = createConnectionBudget({ ...patience, maxConnections: 3, maxConnectionsPerDatasource: 2 });
    const [one, two] = [quota.permitsOf('one'), quota.permitsOf('two')];
    const first = await one.take();
    await one.take();
    let third: Permit | undefined;
    const waiting = one.take().then((permit) => {
      third = permit;
    });
    await two.take();
    await settled();
    expect(third).toBeUndefined();
    first.leave();
    first.leave();
    await waiting;
    expect(third).toBeDefined();
  });

  it('that rest make room, the longest idle first; one that is used again does not', async () => {
    const quota = createConnectionBudget({ ...patience, maxConnections: 2, maxConnectionsPerDatasource: 2 });
    const [one, two] = [quota.permitsOf('one'), quota.permitsOf('two')];
    const evicted: string[] = [];
    const restAs = (permit: Permit, name: string): void =>
      permit.rest(async () => {
        evicted.push(name);
      });
    const [older, newer] = [await one.take(), await one.take()];
    restAs(older, 'older');
    restAs(newer, 'newer');
    expect(older.wake()).toBe(true);
    restAs(older, 'older');
    await two.take();
    expect(evicted).toEqual(['newer']);
    expect(newer.wake()).toBe(false);
    expect(older.wake()).toBe(true);
    const wanted = two.take();
    await settled();
    expect(evicted).toEqual(['newer']);
    restAs(older, 'older');
    await wanted;
    expect(evicted).toEqual(['newer', 'older']);
  });

  it('that come free go to the datasources in turn, however many of one wait', async () => {
    const quota = createConnectionBudget({ ...patience, maxConnections: 1, maxConnectionsPerDatasource: 1 });
    const first = await quota.permitsOf('one').take();
    const order: string[] = [];
    const waiting = ['one', 'one', 'one', 'two', 'three'].map(async (id) => {
      const permit = await quota.permitsOf(id).take();
      order.push(id);
      await settled();
      permit.leave();
    });
    first.leave();
    await Promise.all(waiting);
    expect(order).toEqual(['one', 'two', 'three', 'one', 'one']);
  });

  it('are refused where none comes in time, or too many wait', async () => {
    const quota = createConnectionBudget({
      maxWaiting: 1,
      waitMs: 1,
      maxConnections: 1,
      maxConnectionsPerDatasource: 1,
    });
    const permits = quota.permitsOf('one');
    const permit = await permits.take();
    const [late, tooMany] = await Promise.all([refusalOf(() => permits.take()), refusalOf(() => permits.take())]);
    for (const { code, reason } of [late, tooMany]) {
      expect({ code, reason }).toEqual({ code: 'METRIC_QUERY_ERROR', reason: 'datasource-busy' });
    }
    permit.leave();
    expect(await permits.take()).toBeDefined();
  });

  it('never are more than the bounds, and everybody is served, whatever comes in whatever order', async () => {
    const user = fc.record({ datasource: fc.constantFrom('a', 'b', 'c'), turns: fc.nat(4), ends: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(user, { maxLength: 30 }), async (users) => {
        const quota = createConnectionBudget({ ...patience, maxConnections: 4, maxConnectionsPerDatasource: 2 });
        const open = new Map<string, number>();
        const count = (id: string, by: number): void => {
          open.set(id, (open.get(id) ?? 0) + by);
          expect(open.get(id)).toBeLessThanOrEqual(2);
          expect([...open.values()].reduce((sum, of) => sum + of, 0)).toBeLessThanOrEqual(4);
        };
        await Promise.all(
          users.map(async ({ datasource, turns, ends }) => {
            const permit = await quota.permitsOf(datasource).take();
            count(datasource, 1);
            for (let turn = 0; turn < turns; turn += 1) await settled();
            const end = async (): Promise<void> => {
              await settled();
              count(datasource, -1);
            };
            if (!ends) return permit.rest(end);
            await end();
            permit.leave();
          }),
        );
      }),
      { seed: 4, numRuns: 100 },
    );
  });
});

it('a limited thing is waited for so long, by so many', async () => {
  const limiter = createPool(['only'], { maxWaiting: 1, waitMs: 1 });
  let release: (() => void) | undefined;
  const holding = limiter.use(
    () =>
      new Promise<void>((resolve) => {
        release = resolve;
      }),
  );
  const refusals = await Promise.all([1, 2].map(() => refusalOf(() => limiter.use(async () => undefined))));
  expect(refusals.map(({ reason }) => reason)).toEqual(['datasource-busy', 'datasource-busy']);
  release?.();
  await holding;
  expect(await limiter.use(async (item) => item)).toBe('only');
});
