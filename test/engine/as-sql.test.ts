/**
 * A metric of fields that is turned into SQL answers the same for every viewer, or is refused with the reason. The text
 * holds nothing of whoever asked for it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChartType } from '../../src/model/dashboard/chart.js';
import type { Measure, SqlDefinition, VisualDefinition } from '../../src/model/dashboard/metric.js';
import { withColumnRules } from '../../src/model/datamart/column-rules.js';
import type { Datamart, DatamartColumn } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { Refusal } from '../../src/model/refusal.js';
import { areAlike } from '../isolation/judge.js';
import { charts, definitionOf } from './chart-cases.js';
import { columns, items, rows, mart as shop, type TableName } from './metrics.js';
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
  refusalOf,
  relationship,
  stays,
  table,
} from './world.js';

const turned = (engine: Engine, { datasource, datamart, tenant, definition }: MetricQuestion): Promise<SqlDefinition> =>
  engine.asSql({ datasource, datamart, tenant, definition }, stays);

const textOf = async (engine: Engine, asked: MetricQuestion): Promise<string> => (await turned(engine, asked)).sql;

/** Why a metric is refused, by what the message says. */
const whys = {
  calculations: /it has calculations/,
  comparison: /compares with an earlier period/,
  buckets: /width of its buckets/,
  timezone: /reader’s own timezone/,
  'repeated rows': /repeats rows/,
  'added rows': /adds rows/,
  percentiles: /no medians and percentiles/,
  'name in quotes': /has a quoted name that is/,
} as const;

const whyOf = ({ message }: Refusal): string =>
  Object.entries(whys).find(([, pattern]) => pattern.test(message))?.[0] ?? message;

/** `equal`, a name of `whys`, or how the answers differ. */
const outcomeOf = async (engine: Engine, asked: MetricQuestion): Promise<string> => {
  try {
    const definition = await turned(engine, asked);
    const [before, after] = [await engine.query(asked), await engine.query({ ...asked, definition })];
    const described = ({ columns: all, groupbyColumnList, totalRecords }: typeof before) =>
      JSON.stringify([all.map(({ name, dataType }) => [name, dataType]), groupbyColumnList, totalRecords]);
    const isAlike = before.rows.every((row, index) =>
      Object.keys(row).every((name) => areAlike(after.rows[index]?.[name], row[name] ?? null)),
    );
    if (described(before) === described(after) && before.rows.length === after.rows.length && isAlike) return 'equal';
    return `${JSON.stringify(before)} is not ${JSON.stringify(after)}`;
  } catch (error) {
    if (error instanceof Refusal) return whyOf(error);
    throw error;
  }
};

const counted = (outcomes: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...new Set(outcomes)].toSorted().map((one) => [one, outcomes.filter((other) => other === one).length]),
  );

/** The metrics of metrics.ts, and one for each type of chart. */
const suite = [
  ...items,
  ...(Object.keys(charts) as ChartType[]).map((type) => ({ name: type, definition: definitionOf(type) })),
];

const refusedEverywhere = { calculations: 4, comparison: 1, buckets: 2, 'repeated rows': 3 };

const inSuite: Readonly<Record<Kind, Readonly<Record<string, number>>>> = {
  DUCKDB: { equal: 32, ...refusedEverywhere, 'added rows': 2, timezone: 4 },
  POSTGRES: { equal: 32, ...refusedEverywhere, 'added rows': 2, timezone: 4 },
  MYSQL: { equal: 30, ...refusedEverywhere, 'added rows': 1, timezone: 3, percentiles: 3 },
  CLICKHOUSE: { equal: 32, ...refusedEverywhere, 'added rows': 2, timezone: 4 },
  SQLITE: {},
};

describe.each(await findSqlKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    const tables = (Object.keys(rows) as TableName[]).map((name) => ({
      name,
      columns: Object.fromEntries(
        Object.entries(columns[name]).map(([column, type]) => [column.replace('@', ''), type]),
      ),
      rows: rows[name],
    }));
    place = await builder.build('shop', tables);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it('each metric of the suite answers the same in SQL, or is refused with a reason of the list', async () => {
    const outcomes: string[] = [];
    for (const { definition, ...item } of suite) {
      const {
        conditions,
        timezone,
        limit,
        offset,
        mart = shop,
        absent,
      } = { absent: {}, ...item } as (typeof items)[number];
      if (absent?.[kind] !== undefined) continue;
      const parts = {
        ...{ conditions: conditions ?? [], timezone: timezone ?? null, limit: limit ?? null, offset: offset ?? 0 },
      };
      outcomes.push(await outcomeOf(engine, question(place, mart, 'None', definition, parts)));
    }
    expect(counted(outcomes)).toEqual(inSuite[kind]);
  });
});

const [a, b] = ['tenant-a-7431', 'tenant-b-9920'];
const visibleStatus = 'status-open-4411';

const custom = (columnName: string, sql: string, isAggregate = false): DatamartColumn => ({
  ...{ columnName, sql, datatype: '', alias: '', label: '', isHide: false, isApplyTimezone: false },
  ...{ isCustomColumn: true, isAggregate },
});

const stored = {
  clients: { id: 'VARCHAR', name: 'VARCHAR' },
  customers: { id: 'VARCHAR', client: 'VARCHAR', region: 'VARCHAR', phone: 'VARCHAR' },
  orders: {
    ...{
      id: 'BIGINT',
      client: 'VARCHAR',
      customer: 'VARCHAR',
      status: 'VARCHAR',
      total: 'BIGINT',
      tax: 'DECIMAL(10,2)',
    },
    ...{ weight: 'DOUBLE', day: 'DATE', 'at@': 'TIMESTAMP', isDeleted: 'BOOLEAN', gl_note: 'VARCHAR' },
  },
  lines: { order: 'BIGINT', sku: 'VARCHAR' },
};

const values = {
  clients: [
    [a, 'A'],
    [b, 'B'],
  ],
  customers: [
    ['ann', a, 'EU', '555-0101'],
    ['bob', a, "O'Brien's", '555-0102'],
    ['cid', b, 'EU', '555-0203'],
  ],
  orders: [
    [1, a, 'ann', visibleStatus, 10, '1.10', 0.5, '2024-01-30', '2024-01-30 10:00:00', false, 'n'],
    [2, a, 'ann', 'secret', 900, '2.20', 1.5, '2024-02-01', '2024-02-01 10:00:00', false, 'n'],
    [3, a, 'bob', visibleStatus, 500, '0.05', 2.5, '2024-02-02', '2024-02-02 10:00:00', false, 'n'],
    [4, a, 'bob', visibleStatus, 70, '0.30', 3.5, '2024-02-02', '2024-02-02 10:00:00', true, 'n'],
    [5, a, null, visibleStatus, 30, null, null, null, null, false, 'n'],
    [6, b, 'cid', visibleStatus, 4000, '7.00', 9.5, '2024-03-01', '2024-03-01 10:00:00', false, 'n'],
    [7, b, 'cid', 'secret', 5000, '8.00', 8.5, '2024-03-02', '2024-03-02 10:00:00', false, 'n'],
  ],
  lines: [
    [1, 'tea'],
    [1, 'tea'],
    [3, 'cup'],
    [6, 'tea'],
  ],
};

const orders = table('orders', stored.orders, 'client');
const isKept = { columnName: 'isDeleted', predicate: { kind: 'compare', operator: '=', value: false } } as const;
const world: Datamart = datamart({
  tenancy: byClients(),
  tables: [
    table('clients', stored.clients),
    table('customers', stored.customers, 'client'),
    {
      ...orders,
      columns: [...orders.columns, custom('net', 'total - 5'), custom('mean', 'SUM(total) / COUNT(*)', true)],
      baseFilters: [isKept],
    },
    table('lines', stored.lines),
  ],
  relationships: [
    relationship('orders.customer', 'customers.id', 'LEFT JOIN'),
    relationship('orders.id', 'lines.order', 'LEFT JOIN', 'OneToMany'),
  ],
});

const by = (path: string, rest: object = {}) => ({ name: path, column: columnRef(path), ...rest });
const sum = { name: 'sum', aggregate: 'SUM', column: columnRef('orders.total') } as const;
const count: Measure = { name: 'rows', aggregate: 'COUNT' };
const over = (parts: Partial<VisualDefinition>): VisualDefinition => metric('orders', parts);

const metrics: Readonly<Record<string, VisualDefinition>> = {
  'a joined table, sorted and cut': over({
    dimensions: [by('customers.region')],
    measures: [sum, count],
    sort: [{ name: 'sum', direction: 'DESC' }],
    limit: 2,
  }),
  'months, and a share': over({
    dimensions: [by('orders.day', { grain: 'month' })],
    measures: [
      {
        name: 'share',
        aggregate: 'AVG',
        column: columnRef('orders.total'),
        indicator: { kind: 'range', from: 100, to: null, toIsExclusive: false },
      },
    ],
  }),
  'conditions of the author, on a table that is not joined too': over({
    dimensions: [by('orders.id')],
    where: {
      any: [
        condition('lines.sku', { kind: 'oneOf', values: ['tea'] }),
        condition('customers.region', { kind: 'like', pattern: "O'B%" }),
        condition('orders.total', { kind: 'noneOf', values: [10, 500, 900, 4000, 5000] }),
      ],
    },
  }),
  'groups with enough rows, by a measure that is not shown': over({
    dimensions: [by('orders.customer')],
    measures: [sum, { ...count, isHidden: true }],
    having: { measure: 'rows', predicate: { kind: 'compare', operator: '>=', value: 2 } },
  }),
  'custom columns, as dimension, measure and condition': over({
    dimensions: [by('orders.net', { bucketWidth: 100 })],
    measures: [{ name: 'net', aggregate: 'MAX', column: columnRef('orders.net') }],
    where: condition('orders.net', { kind: 'compare', operator: '>', value: 6 }),
  }),
  'an expression, and a measure of the model': over({
    measures: [
      { name: 'ratio', expression: 'SUM(orders.total) / COUNT(*)' },
      { name: 'mean', aggregate: 'AGGREGATE', column: columnRef('orders.mean') },
    ],
  }),
  'without the base filters': over({
    measures: [count, sum],
    withoutBaseFilters: [{ schemaName: 'main', tableName: 'orders' }],
  }),
  'names with quotes': over({
    dimensions: [{ ...by('customers.region'), name: `it's "so"` }],
    measures: [{ ...count, name: 'count; --' }],
  }),
  'dates and decimals': over({
    measures: [
      { name: 'first', aggregate: 'MIN', column: columnRef('orders.day') },
      { name: 'tax', aggregate: 'SUM', column: columnRef('orders.tax') },
      { name: 'weight', aggregate: 'MAX', column: columnRef('orders.weight') },
      { name: 'customers', aggregate: 'COUNT_DISTINCT', column: columnRef('orders.customer') },
    ],
  }),
  'phones, which a viewer may see in part': over({ dimensions: [by('customers.phone')], measures: [count] }),
};

/** What the grammars of two databases refuse of them. */
const lacking: Partial<Record<Kind, Readonly<Record<string, string>>>> = {
  MYSQL: { 'names with quotes': 'name in quotes' },
  CLICKHOUSE: { 'names with quotes': 'name in quotes' },
};

const token = (path: string, value: string): Condition => ({
  ...condition(path, { kind: 'oneOf', values: [value] }),
  ...{ restriction: 'always', isHidden: true, isOfToken: true },
});

/** Metrics that stay as they are, with what the message says. */
const unsayable: readonly (readonly [string, VisualDefinition, RegExp])[] = [
  [
    'a backslash in a value',
    over({ measures: [count], where: condition('orders.status', { kind: 'oneOf', values: ['a\\'] }) }),
    /backslash/,
  ],
  [
    'a line break in a value',
    over({ measures: [count], where: condition('orders.status', { kind: 'oneOf', values: ['a\nb'] }) }),
    /control character/,
  ],
  [
    'the placeholder of a database in a value',
    over({ measures: [count], where: condition('orders.status', { kind: 'oneOf', values: ['{{DATABASE_NAME}}'] }) }),
    /placeholder/,
  ],
  ['a reserved column', over({ dimensions: [{ ...by('orders.gl_note'), name: 'note' }] }), /"gl_note" is not allowed/],
  ['a reserved name', over({ measures: [{ ...count, name: 'gl_leaf_0' }] }), /"gl_leaf_0" is not allowed/],
  [
    'a name like a variable',
    over({ measures: [{ ...count, name: 'client_id_variable' }] }),
    /"client_id_variable" is not allowed/,
  ],
  [
    'a period that moves',
    over({ measures: [count], where: condition('orders.day', { kind: 'relative', period: 'This Month' }) }),
    /moves with the day/,
  ],
  [
    'a comparison',
    over({ measures: [count], comparison: { column: columnRef('orders.day'), grain: 'month', periods: 1 } }),
    /earlier period/,
  ],
  [
    'others',
    over({
      dimensions: [by('orders.customer')],
      measures: [sum],
      sort: [{ name: 'sum', direction: 'DESC' }],
      limit: 1,
      others: true,
    }),
    /Other/,
  ],
  [
    'a sort by what is not shown',
    over({
      dimensions: [by('orders.customer')],
      measures: [{ ...count, isHidden: true }],
      sort: [{ name: 'rows', direction: 'ASC' }],
    }),
    /sorted by a measure/,
  ],
  ['times of the reader', over({ dimensions: [by('orders.at', { grain: 'day' })] }), /own timezone/],
];

describe.each(await findSqlKinds())('for tenants, on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  const ask = (clientId: string, definition: VisualDefinition, parts: object = {}, mart = world): MetricQuestion =>
    question(place, mart, clientId, definition, parts);
  const onlyOpen = { conditions: [token('orders.status', visibleStatus)] };

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build(
      'tenants',
      (Object.keys(stored) as (keyof typeof stored)[]).map((name) => ({
        name,
        columns: Object.fromEntries(
          Object.entries(stored[name]).map(([column, type]) => [column.replace('@', ''), type]),
        ),
        rows: values[name],
      })),
    );
    engine = createLoggedEngine({ maskSecret: Buffer.alloc(32, 7) }).engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it('two tenants and a restricted user get the answers that they got before', async () => {
    const viewers = [ask.bind(null, a), ask.bind(null, b), (one: VisualDefinition) => ask(a, one, onlyOpen)];
    for (const [name, definition] of Object.entries(metrics)) {
      for (const viewer of viewers) {
        const outcome = await outcomeOf(engine, viewer(definition));
        expect([name, outcome]).toEqual([name, lacking[kind]?.[name] ?? 'equal']);
      }
    }
  });

  it('the text is the same whoever asks, and holds nothing of a tenant, a user or a base filter', async () => {
    for (const definition of Object.values(metrics)) {
      const [ofA, ofB] = [await textOf(engine, ask(a, definition)), await textOf(engine, ask(b, definition))];
      const whole = { ...ask(a, definition, onlyOpen), variables: new Map([['region', ['EU-8842']]]) };
      expect(ofB).toBe(ofA);
      expect((await engine.asSql(whole, stays)).sql).toBe(ofA);
      expect(ofA).not.toMatch(/7431|9920|4411|8842|isDeleted|gl_|client/);
    }
  });

  it.each(unsayable)(
    'refuses %s with its reason, and never writes a text that means something else',
    async (_, one, said) => {
      const refusal = await refusalOf(() => textOf(engine, ask(a, one)));
      expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'metric-not-in-sql' });
      expect(refusal.message).toMatch(said);
    },
  );

  it('a column that is hidden from a viewer stays hidden in the SQL of an author who sees it', async () => {
    const phones = metrics['phones, which a viewer may see in part'] as VisualDefinition;
    const { definition, datamart: whole } = ask(a, phones);
    const [{ schemaName = '' } = {}] = whole.tables;
    const rules = { hideColumns: [`${schemaName}.customers.phone`], maskColumns: {} };
    const hidden = { ...ask(a, phones), datamart: withColumnRules(whole, rules) };
    const written = { ...hidden, definition: await turned(engine, ask(a, phones)) };
    expect(await engine.query({ ...written, datamart: whole })).toMatchObject({ totalRecords: 3 });
    expect(definition.kind).toBe('visual');
    await expect(engine.query(written)).rejects.toMatchObject({ code: 'METRIC_QUERY_ERROR' });
    await expect(textOf(engine, hidden)).rejects.toMatchObject({ reason: 'column-not-in-datamart' });
  });

  it('a masked column is answered masked, and its viewer cannot turn the metric into SQL', async () => {
    const phones = metrics['phones, which a viewer may see in part'] as VisualDefinition;
    const { datamart: whole } = ask(a, phones);
    const [{ schemaName = '' } = {}] = whole.tables;
    const rules = { hideColumns: [], maskColumns: { [`${schemaName}.customers.phone`]: 'last4' } };
    const masked = { ...ask(a, phones), datamart: withColumnRules(whole, rules) };
    const refusal = await refusalOf(() => textOf(engine, masked));
    expect(refusal).toMatchObject({ reason: 'metric-not-in-sql', message: expect.stringMatching(/masked or hidden/) });
    const answer = await engine.query({ ...masked, definition: await turned(engine, ask(a, phones)) });
    expect(answer.rows).toEqual((await engine.query(masked)).rows);
    expect(JSON.stringify(answer.rows)).not.toContain('555');
  });

  it('a metric in SQL is not turned into SQL once more', async () => {
    const definition = { ...(await turned(engine, ask(a, over({ measures: [count] })))), sql: 'SELECT 1' };
    await expect(engine.asSql({ ...ask(a, over({})), definition }, stays)).rejects.toMatchObject({
      reason: 'metric-not-in-sql',
    });
  });
});
