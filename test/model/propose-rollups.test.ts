/** Rollups that are proposed: of which metrics, with what, and why not of others. */
import { describe, expect, it } from 'vitest';
import type { DashboardFilter } from '../../src/model/dashboard/dashboard.js';
import type { VisualDefinition } from '../../src/model/dashboard/metric.js';
import { type AskedMetric, proposeRollups } from '../../src/model/dashboard/propose-rollups.js';
import type { Rollup } from '../../src/model/datamart/datamart.js';
import { columnRef, datamart, metric, table, tableRef } from '../engine/world.js';

const mart = (rollups: readonly Rollup[] = []) =>
  datamart({
    rollups,
    tables: [
      table('sales', { client: 'VARCHAR', region: 'VARCHAR', kind: 'VARCHAR', qty: 'BIGINT', sold: 'DATE' }, 'client'),
      table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
      table('areas', { code: 'VARCHAR', open: 'BOOLEAN' }),
    ],
  });
const sum = { name: 'sum', aggregate: 'SUM', column: columnRef('sales.qty') } as const;
const byRegion = { name: 'region', column: columnRef('sales.region') };
const byMonth = { name: 'month', column: columnRef('sales.sold'), grain: 'month' } as const;
const asked = (
  name: string | null,
  parts: Partial<VisualDefinition>,
  more: Partial<AskedMetric> = {},
): AskedMetric => ({
  ...{ name, definition: metric('sales', { measures: [sum], ...parts }), filters: [], queries: 10, ms: 2000 },
  ...more,
});
const onSold: DashboardFilter = {
  ...{ name: 'Date', dataType: 'date' },
  applyOnTables: [{ ...columnRef('sales.sold'), dataType: 'date' }],
};
const propose = (metrics: readonly AskedMetric[], rollups: readonly Rollup[] = []) =>
  proposeRollups(mart(rollups), metrics, 28);

describe('a proposal of rollups', () => {
  it('joins the columns of metrics over one table and time, and says what they cost', () => {
    const monthly = asked('Monthly', { dimensions: [byMonth, byRegion] });
    const where = { column: columnRef('sales.kind'), predicate: { kind: 'oneOf', values: ['secret'] } } as const;
    const total = asked(
      'Total',
      { where, measures: [{ name: 'n', aggregate: 'COUNT' }] },
      { filters: [onSold], ms: 500 },
    );
    const { proposed, left } = propose([total, monthly]);
    expect(left).toEqual([]);
    expect(proposed).toEqual([
      {
        rollup: {
          ...{ name: 'sales by day', from: 'sales', dimensions: ['kind', 'region'], grain: 'day' },
          measures: [{ aggregate: 'SUM', column: 'qty' }],
          partition: { column: 'sold', by: 'month', closesAfterHours: 24 },
          refresh: { everyMinutes: 60, again: 1 },
        },
        ...{ names: ['Monthly', 'Total'], queries: 20, ms: 2500 },
        reason: 'In 28 days, 20 queries and 2.5 s of the datasource were of metrics whose columns it has.',
      },
    ]);
    expect(JSON.stringify(proposed)).not.toContain('secret');
  });

  it('leaves out what a rollup in force has, and names it', () => {
    const { proposed } = propose([asked('Monthly', { dimensions: [byMonth, byRegion] })]);
    const [first] = proposed;
    if (first === undefined) throw new Error('nothing is proposed');
    const known: Rollup = { ...first.rollup, from: tableRef('sales') };
    const again = propose([asked('Monthly', { dimensions: [byMonth] })], [known]);
    expect(again).toEqual({
      proposed: [],
      left: [{ why: 'the rollup "sales by month" has its columns', names: ['Monthly'], queries: 10, ms: 2000 }],
    });
  });

  it.each<[string, AskedMetric]>([
    ['it joins other tables', asked('m', { dimensions: [byMonth, { name: 'open', column: columnRef('areas.open') }] })],
    [
      'a measure counts only some rows',
      asked('m', {
        dimensions: [byMonth],
        measures: [{ ...sum, indicator: { kind: 'compare', operator: '>', value: 1 } as const }],
      }),
    ],
    ['MEDIAN does not add up', asked('m', { dimensions: [byMonth], measures: [{ ...sum, aggregate: 'MEDIAN' }] })],
    [
      'a measure is an expression',
      asked('m', { dimensions: [byMonth], measures: [{ name: 'x', expression: 'sum(qty)' }] }),
    ],
    ['its table has no date', asked('m', { from: tableRef('areas'), measures: [{ name: 'n', aggregate: 'COUNT' }] })],
    ['it is without base filters', asked('m', { dimensions: [byMonth], withoutBaseFilters: [tableRef('sales')] })],
  ])('says of a metric that no rollup answers: %s', (why, one) => {
    expect(propose([one])).toEqual({ proposed: [], left: [{ why, names: ['m'], queries: 10, ms: 2000 }] });
  });

  it('divides by a date of the table what asks for none', () => {
    expect(propose([asked('m', { dimensions: [byRegion] })]).proposed).toMatchObject([
      { rollup: { dimensions: ['region'], grain: 'month', partition: { column: 'sold' } } },
    ]);
  });

  it('counts a metric that a guest named, without its name', () => {
    expect(propose([asked(null, { dimensions: [byMonth] })]).proposed).toMatchObject([{ names: [], queries: 10 }]);
  });
});
