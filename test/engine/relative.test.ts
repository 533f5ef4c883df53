/** Conditions of periods relative to the reader's present day, on every database: they move with the day of the question. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConditionTree, VisualDefinition } from '../../src/model/dashboard/metric.js';
import { todayOf } from '../../src/model/filter/date-range.js';
import type { Predicate } from '../../src/model/filter/filter.js';
import { compared } from '../../src/model/query/comparison.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { columnRef, condition, createLoggedEngine, datamart, metric, type Place, question, table } from './world.js';

const columns = { id: 'BIGINT', day: 'DATE', 'at@': 'TIMESTAMP' };
const mart = datamart({ tenancy: null, tables: [table('sales', columns)] });

/** `at` is stored in UTC. */
const rows = [
  [1, '2024-02-28', '2024-02-28 23:30:00'],
  [2, '2024-02-29', '2024-02-29 12:00:00'],
  [3, '2024-03-01', '2024-03-01 00:30:00'],
  [4, '2024-03-30', '2024-03-30 22:59:59'],
  [5, '2024-03-31', '2024-03-30 23:00:00'],
  [6, '2024-03-31', '2024-03-31 21:59:59'],
  [7, '2024-04-01', '2024-03-31 22:00:00'],
  [8, '2024-12-31', '2024-12-31 23:30:00'],
  [9, null, null],
] as const;

const relative = (period: string): Predicate => ({ kind: 'relative', period });
const ids = { dimensions: [{ name: 'id', column: columnRef('sales.id') }] };
const where = (path: string, period: string): { readonly where: ConditionTree } => ({
  where: { all: [condition(path, relative(period))] },
});

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    const named = { id: 'BIGINT', day: 'DATE', at: 'TIMESTAMP' };
    place = await builder.build('relative', [{ name: 'sales', columns: named, rows }]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine?.close();
    await builder?.remove();
  });

  const asked = (parts: Partial<VisualDefinition>, more: Partial<MetricQuestion>): MetricQuestion =>
    question(place, mart, 'None', metric('sales', parts), more);
  const idsOf = async (parts: Partial<VisualDefinition>, more: Partial<MetricQuestion>): Promise<readonly unknown[]> =>
    (await engine.query(asked({ ...ids, ...parts }, more))).rows.map(({ id }) => Number(id));

  it.each([
    ['sales.day', 'Today', '2024-03-31', [5, 6]],
    ['sales.day', 'Yesterday', '2024-03-01', [2]],
    ['sales.day', 'Tomorrow', '2024-02-28', [2]],
    ['sales.day', 'Last 2 Days', '2024-03-01', [2, 3]],
    ['sales.day', 'Month to Date', '2024-03-30', [3, 4]],
    ['sales.day', 'Next 1 Months', '2024-02-29', [2, 3]],
    ['sales.day', 'This Week', '2024-03-31', [5, 6]],
    ['sales.day', 'Last Week', '2024-04-01', [5, 6]],
    ['sales.day', 'Next Year', '2023-06-01', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['sales.at', 'Today', '2024-02-29', [2]],
  ] as const)('%s in %s on %s has the rows of these days', async (path, period, today, expected) => {
    // Of the week from 25 to 31 March, the days before the 30th have no row.
    const whole = period === 'This Week' || period === 'Last Week' ? [4, ...expected] : expected;
    expect(await idsOf(where(path, period), { today })).toEqual(whole);
  });

  it('counts the days of the reader, who may be ahead of or behind UTC', async () => {
    const now = new Date('2024-03-31T23:30:00Z');
    const askedIn = (timezone: string) =>
      idsOf(where('sales.at', 'Today'), { timezone, today: todayOf({ now, timezone }) });
    // Berlin went over to daylight saving on 31 March, and the first of April began there at 22:00 UTC.
    expect(await askedIn('Europe/Berlin')).toEqual([7]);
    expect(await askedIn('UTC')).toEqual([6, 7]);
    expect(await askedIn('America/Los_Angeles')).toEqual([6, 7]);
  });

  it('answers the next day anew, and does not find the cached rows of the day before', async () => {
    const counted = { measures: [{ name: 'n', aggregate: 'COUNT' as const }], ...where('sales.day', 'Last 3 Days') };
    const definition = metric('sales', counted);
    const ask = async (today: string) => {
      const { rows: found } = await engine.query(question(place, mart, 'None', definition, { today }));
      return Number(found[0]?.n);
    };
    expect([
      await ask('2024-03-31'),
      await ask('2024-04-01'),
      await ask('2024-04-02'),
      await ask('2024-03-31'),
    ]).toEqual([3, 4, 3, 3]);
  });

  it('is one form in filters, in groups of conditions, in indicators and in conditions on measures', async () => {
    const day = '2024-03-31';
    const conditions = [condition('sales.day', relative('This Month'))];
    expect(await idsOf({}, { today: day, conditions })).toEqual([3, 4, 5, 6]);
    const any: ConditionTree = {
      any: [condition('sales.day', relative('Tomorrow')), condition('sales.id', { kind: 'oneOf', values: [1] })],
    };
    expect(await idsOf({ where: any }, { today: day })).toEqual([1, 7]);
    const indicator = relative('Last 2 Days');
    const summed = { name: 'n', aggregate: 'SUM', column: columnRef('sales.day'), indicator } as const;
    const { rows: found } = await engine.query(asked({ measures: [summed] }, { today: day }));
    expect(Number(found[0]?.n)).toBe(3);
    const newest = { name: 'newest', aggregate: 'MAX', column: columnRef('sales.day') } as const;
    const having = { measure: 'newest', predicate: relative('Year to Date') };
    expect(await idsOf({ measures: [newest], having }, { today: '2024-03-01' })).toEqual([1, 2, 3]);
  });

  it('compares the last 30 days with the 30 days before them', async () => {
    const comparison = { column: columnRef('sales.day'), grain: 'day', periods: 30 } as const;
    const parts = {
      measures: [{ name: 'n', aggregate: 'COUNT' as const }],
      comparison,
      ...where('sales.day', 'Last 30 Days'),
    };
    const { rows: found, comparisonValue } = await compared(engine.query)(asked(parts, { today: '2024-03-31' }));
    // From 2 to 31 March; from 1 February to 1 March.
    expect([Number(found[0]?.n), Number(comparisonValue)]).toEqual([3, 3]);
  });

  it('refuses a period on a column that holds no dates', async () => {
    await expect(idsOf(where('sales.id', 'Today'), { today: '2024-03-31' })).rejects.toMatchObject({
      code: 'METRIC_QUERY_ERROR',
    });
  });
});
