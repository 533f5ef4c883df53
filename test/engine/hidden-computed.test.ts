/**
 * The host's expressions are computed only on visible rows. If they ran on a hidden value that cannot be cast, the
 * error would reveal that the row exists.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MetricDefinition, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findSqlKinds, type Kind } from './test-databases.js';
import {
  byClients,
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  relationship,
  table,
} from './world.js';

const customers = { id: 'VARCHAR', client: 'VARCHAR', region: 'VARCHAR' };
const orders = {
  id: 'BIGINT',
  client: 'VARCHAR',
  customer: 'VARCHAR',
  status: 'VARCHAR',
  total: 'BIGINT',
  payer: 'VARCHAR',
  code: 'VARCHAR',
};
const mart = datamart({
  tenancy: byClients(),
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    table('customers', customers, 'client'),
    table('orders', orders, 'client'),
  ],
  relationships: [relationship('orders.customer', 'customers.id')],
});
const castOf = (kind: Kind): string => `CAST(code AS ${kind === 'CLICKHOUSE' ? 'Int64' : 'BIGINT'})`;
const customFor = (kind: Kind) => ({
  ...mart,
  tables: mart.tables.map((one) =>
    one.tableName !== 'orders'
      ? one
      : {
          ...one,
          columns: [
            ...one.columns,
            {
              columnName: 'number',
              datatype: 'BIGINT',
              alias: '',
              label: '',
              isHide: false,
              isApplyTimezone: false,
              isCustomColumn: true,
              sql: castOf(kind),
            },
          ],
        },
  ),
});
const rows = {
  customers: [
    ['ann', 'a', 'EU'],
    ['bob', 'a', 'US'],
  ],
  orders: [
    [1, 'a', 'ann', 'public', 10, 'ann', '1'],
    [2, 'a', 'ann', 'secret', 900, 'ann', '2'],
    [3, 'a', 'bob', 'public', 500, 'ann', 'oops'],
  ],
};
const token = (path: string, value: string): Condition => ({
  ...condition(path, { kind: 'oneOf', values: [value] }),
  restriction: 'always',
  isHidden: true,
});
const [onlyPublic, onlyEurope] = [token('orders.status', 'public'), token('customers.region', 'EU')];
const listOf = (t: string, c: string, parts: Partial<VisualDefinition> = {}): VisualDefinition =>
  metric(t, { dimensions: [{ name: 'k', column: columnRef(`${t}.${c}`) }], ...parts });

const inSql = (sql: string): MetricDefinition => ({
  kind: 'sql',
  chart: { type: 'table' },
  sql,
  dimensions: [{ name: 'k' }],
  measures: [],
  filters: [],
  rlsVariables: [],
  sort: [],
  limit: null,
});

// MariaDB casts such a text to 0 without an error.
describe.each((await findSqlKinds()).filter((kind) => kind !== 'MYSQL'))('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('computed', [
      { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [['a', 'A']] },
      { name: 'customers', columns: customers, rows: rows.customers },
      { name: 'orders', columns: orders, rows: rows.orders },
    ]);
    ({ engine } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });
  const keys = async (
    d: MetricDefinition,
    conditions: readonly Condition[],
    parts: Partial<MetricQuestion> = {},
    m = mart,
  ) =>
    [
      ...(await engine.query(question(place, m, 'a', d, { conditions, ...parts }))).rows.map(({ k }) => String(k)),
    ].sort();

  const custom = customFor(kind);
  const over = condition('orders.number', { kind: 'compare', operator: '>=', value: 1 });

  it('a condition on a custom column', async () => {
    expect(await keys(listOf('orders', 'id'), [onlyEurope, over], {}, custom)).toEqual(['1', '2']);
  });

  it("a custom column in a metric's where, under two restrictions", async () => {
    expect(await keys(listOf('orders', 'id', { where: over }), [onlyEurope, onlyPublic], {}, custom)).toEqual(['1']);
  });

  it('a custom column of a table that the metric does not join', async () => {
    expect(await keys(listOf('customers', 'id'), [onlyEurope, over], {}, custom)).toEqual(['ann']);
  });

  it('a restriction on a custom column', async () => {
    const restricted = [onlyEurope, { ...over, restriction: 'always', isHidden: true } as const];
    expect(await keys(listOf('orders', 'id'), restricted, {}, custom)).toEqual(['1', '2']);
  });

  it.each([
    ['own', [token('orders.code', '1')], ['1']],
    ['far', [onlyEurope], ['1', '2']],
  ] as const)("an expression of a metric's SQL, under an %s condition", async (_, conditions, expected) => {
    const { schemaName } = place;
    const sql = `SELECT o.id AS k FROM ${schemaName}.orders o WHERE ${castOf(kind).replace('code', 'o.code')} >= 1`;
    expect(await keys(inSql(sql), conditions)).toEqual(expected);
  });
});
