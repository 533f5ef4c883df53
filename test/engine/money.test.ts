/** Amounts of the type `money` of PostgreSQL are numbers wherever they are read: the database writes them as text. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Measure, MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { plainColumn } from './type-world.js';
import { columnRef, createLoggedEngine, datamart, metric, type Place, question, table } from './world.js';

const computed = (columnName: string, sql: string, isAggregate = false) => ({
  ...{ ...plainColumn, columnName, datatype: '', isCustomColumn: true, sql, isAggregate },
});
const plain = table('bills', { id: 'BIGINT', amount: 'MONEY' });
const mart = datamart({
  tenancy: null,
  tables: [
    {
      ...plain,
      columns: [
        ...plain.columns,
        computed('twice', 'amount * 2'),
        computed('least', 'MIN(amount)', true),
        computed('total', 'SUM(amount)', true),
      ],
    },
  ],
});
const inSql = (sql: string): MetricDefinition => ({
  ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [], measures: [{ name: 'x' }], filters: [] },
  ...{ rlsVariables: [], sort: [], limit: null },
});
const measured = (...measures: readonly Measure[]): MetricDefinition => metric('bills', { measures });

describe.runIf((await findKinds()).includes('POSTGRES'))('amounts of the type money', () => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder('POSTGRES');
    place = await builder.build('bills', [
      'CREATE TABLE bills (id BIGINT, amount MONEY)',
      "INSERT INTO bills VALUES (1, '1234.50'), (2, '-0.25'), (3, NULL)",
    ]);
    ({ engine } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it.each<[string, MetricDefinition, number]>([
    ['an expression of MAX', measured({ name: 'x', expression: 'MAX(bills.amount)' }), 1234.5],
    ['an expression of SUM', measured({ name: 'x', expression: 'SUM(bills.amount)' }), 1234.25],
    ['an expression of MIN twice', measured({ name: 'x', expression: 'MIN(bills.amount) * 2' }), -0.5],
    ['a custom column', measured({ name: 'x', aggregate: 'MAX', column: columnRef('bills.twice') }), 2469],
    ['an aggregating MIN', measured({ name: 'x', aggregate: 'AGGREGATE', column: columnRef('bills.least') }), -0.25],
    ['an aggregating SUM', measured({ name: 'x', aggregate: 'AGGREGATE', column: columnRef('bills.total') }), 1234.25],
    ['a metric in SQL', inSql('SELECT SUM(amount) AS x FROM bills'), 1234.25],
  ])('are answered as a number by %s', async (_, definition, expected) => {
    const { rows, columns } = await engine.query(question(place, mart, 'None', definition));
    expect([rows, columns]).toEqual([[{ x: expected }], [{ name: 'x', dataType: 'number' }]]);
  });

  it('are compared, sorted and divided as numbers where an expression reads them', async () => {
    const share = { kind: 'shareOfTotal', name: 'share', of: 'x' } as const;
    const definition = metric('bills', {
      ...{ dimensions: [{ name: 'id', column: columnRef('bills.id') }], calculations: [share] },
      measures: [{ name: 'x', expression: 'SUM(bills.amount) * 3' }],
      having: { measure: 'x', predicate: { kind: 'compare', operator: '>', value: -1 } },
      sort: [{ name: 'x', direction: 'DESC' }],
    });
    const { rows } = await engine.query(question(place, mart, 'None', definition));
    expect(rows).toEqual([
      { id: 1, x: 3703.5, share: 3703.5 / 3702.75 },
      { id: 2, x: -0.75, share: -0.75 / 3702.75 },
    ]);
  });
});
