/** Amounts: columns with a scale and a currency, on each database against plain SQL. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  Dimension,
  Measure,
  MetricDefinition,
  SqlDefinition,
  VisualDefinition,
} from '../../src/model/dashboard/metric.js';
import { withColumnRules } from '../../src/model/datamart/column-rules.js';
import type { Datamart, DatamartTable, ModelNumbers } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { AnswerColumn, Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { isTypeFault } from '../../src/model/query/engine.js';
import { systemClock } from '../../src/platform/work/time.js';
import { type Builder, createBuilder, findKinds, hasSql } from './test-databases.js';
import {
  at,
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
  rowsOf,
  stays,
  table,
} from './world.js';

const orders = {
  id: 'BIGINT',
  client: 'VARCHAR',
  month: 'VARCHAR',
  currency: 'VARCHAR',
  total_cents: 'BIGINT',
  fee_mills: 'INTEGER',
  tax: 'DECIMAL(12,2)',
  points: 'DOUBLE',
};
/** The greatest is beyond what a float holds exactly. */
const rows = [
  [1, 'a', 'jan', 'EUR', 12345, 1005, 1.5, 250],
  [2, 'a', 'jan', 'GBP', 9999, -7, 2.25, 125],
  [3, 'a', 'feb', 'EUR', 10000, 0, 0.01, 50],
  [4, 'a', 'feb', 'JPY', 10001, 3, 7, 0],
  [5, 'a', 'feb', null, 100, 1, 1, 1],
  [6, 'b', 'jan', 'USD', '90071992547409931', 2, 3, 75],
] as const;
const refunds = { id: 'BIGINT', client: 'VARCHAR', order: 'BIGINT', currency: 'VARCHAR' };
const clients = { id: 'VARCHAR', name: 'VARCHAR', currency: 'VARCHAR', region: 'VARCHAR' };
const clientRows = [
  ['a', 'A', 'gbp', 'north'],
  ['b', 'B', 'JPY', 'south'],
  ['c', 'C', 'pounds', 'south'],
];

type Numbers = Readonly<Record<string, ModelNumbers>>;
const withNumbers = (own: DatamartTable, numbers: Numbers): DatamartTable => ({
  ...own,
  columns: own.columns.map((column) => ({ ...column, numbers: numbers[column.columnName] })),
});
const computed = (columnName: string, sql: string, more: object = {}) => ({
  ...{ columnName, sql, isCustomColumn: true, datatype: '', alias: columnName, label: '' },
  ...{ isHide: false, isApplyTimezone: false, ...more },
});
const martOf = (numbers: Numbers, more: readonly ReturnType<typeof computed>[] = []): Datamart => {
  const own = withNumbers(table('orders', orders, 'client'), numbers);
  return datamart({
    tenancy: byClients(),
    tables: [table('clients', clients), { ...own, columns: [...own.columns, ...more] }],
  });
};
const scaled: Numbers = {
  total_cents: { scale: 2, currency: 'EUR' },
  fee_mills: { scale: 3 },
  tax: { scale: 1 },
  points: { scale: 2 },
};
const perRow: Numbers = {
  ...scaled,
  total_cents: { scale: 2, currency: { column: 'currency' } },
  tax: { currency: { column: 'currency' } },
};
const ofTenant: Numbers = { total_cents: { scale: 2, currency: { tenantColumn: 'currency' } } };

const of = (name: string, column: string): Dimension => ({ name, column: columnRef(`orders.${column}`) });
const sum = (column = 'total_cents', name = 'amount'): Measure => ({
  name,
  aggregate: 'SUM',
  column: columnRef(`orders.${column}`),
});
const sums = (parts: Partial<VisualDefinition> = {}): VisualDefinition =>
  metric('orders', { measures: [sum()], ...parts });
const inSql = (sql: string, ...measures: readonly string[]): SqlDefinition => ({
  ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [], measures: measures.map((name) => ({ name })) },
  ...{ filters: [], rlsVariables: [], sort: [], limit: null },
});
const token = (path: string, predicate: Condition['predicate']): Condition => ({
  ...condition(path, predicate),
  ...{ restriction: 'always', isHidden: true, isOfToken: true },
});
const isGbp = (path = 'orders.currency') => condition(path, { kind: 'oneOf', values: ['GBP'] });
const saidOf = ({ currency, currencyColumn }: Partial<AnswerColumn> = {}) => {
  if (currencyColumn !== undefined) return { column: currencyColumn };
  return currency === undefined ? undefined : { code: currency };
};
/** PostgreSQL and others write exact decimals in different ways. */
const plain = (value: unknown): unknown => (value === null ? null : Number(value));

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('amounts', [
      { name: 'clients', columns: clients, rows: clientRows },
      { name: 'orders', columns: orders, rows },
      { name: 'refunds', columns: refunds, rows: [[1, 'a', 1, 'GBP']] },
    ]);
    const cache = {
      secret: Buffer.alloc(32, 1),
      clock: systemClock,
      ttlSeconds: 60,
      maxBytes: 1_000_000,
      shared: null,
    };
    ({ engine } = createLoggedEngine({ maskSecret: Buffer.alloc(32, 2), cache }));
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });
  const ask = (mart: Datamart, definition: MetricDefinition, parts: Partial<MetricQuestion> = {}, client = 'a') =>
    engine.query(question(place, mart, client, definition, parts));
  const only = async (...asked: Parameters<typeof ask>): Promise<unknown> => {
    const { rows: found, columns } = await ask(...asked);
    return found[0]?.[columns.at(-1)?.name ?? ''];
  };
  const currencyOfAmount = async (...asked: Parameters<typeof ask>) =>
    saidOf((await ask(...asked)).columns.find(({ name }) => name === 'amount'));
  const fault = (...asked: Parameters<typeof ask>) => refusalOf(() => ask(...asked));

  it('every aggregate reads a column of cents in whole units', async () => {
    const mart = martOf(scaled);
    for (const [aggregate, expected] of [
      ['SUM', 424.45],
      ['AVG', 84.89],
      ['MIN', 1],
      ['MAX', 123.45],
      ['MEDIAN', 100],
    ] as const) {
      const measures = [{ name: 'amount', aggregate, column: columnRef('orders.total_cents') }];
      expect(plain(await only(mart, sums({ measures })))).toBeCloseTo(expected, 10);
    }
  });

  it.runIf(kind !== 'SQLITE')('whole units are exact beyond the digits of a float', async () => {
    expect(String(await only(martOf(scaled), sums(), {}, 'b'))).toBe('900719925474099.31');
  });

  it('decimals, small integers and floats take a scale too', async () => {
    for (const [column, expected] of [
      ['fee_mills', 1.002],
      ['tax', 1.176],
      ['points', 4.26],
    ] as const) {
      expect(plain(await only(martOf(scaled), metric('orders', { measures: [sum(column)] })))).toBe(expected);
    }
  });

  it('a filter over 100 means whole units, whoever sets it', async () => {
    const above = condition('orders.total_cents', { kind: 'compare', operator: '>', value: 100 });
    const count = metric('orders', { measures: [{ name: 'n', aggregate: 'COUNT' }] });
    const mart = martOf(scaled);
    expect(plain(await only(mart, count, { conditions: [above] }))).toBe(2);
    expect(plain(await only(mart, { ...count, where: above }))).toBe(2);
    expect(plain(await only(mart, count, { conditions: [token('orders.total_cents', above.predicate)] }))).toBe(2);
    const exactly = condition('orders.total_cents', { kind: 'oneOf', values: ['123.45', 100] });
    expect(plain(await only(mart, count, { conditions: [exactly] }))).toBe(2);
    const groups = sums({
      dimensions: [of('month', 'month')],
      having: { measure: 'amount', predicate: { kind: 'compare', operator: '>', value: 223 } },
    });
    expect((await ask(mart, groups)).rows.map(({ month }) => month)).toEqual(['jan']);
  });

  it('options, buckets, rows and downloads have whole units', async () => {
    const mart = martOf(scaled);
    const asked = question(place, mart, 'a', sums({ underlying: [columnRef('orders.total_cents')] }));
    const { sort: _, offset: __, ...rest } = asked;
    const column = at(place, columnRef('orders.total_cents'));
    const options = await engine.options({ ...rest, column, search: null, limit: 10 });
    expect(options.map(plain)).toEqual([1, 99.99, 100, 100.01, 123.45]);
    expect((await engine.underlying(asked)).rows.map((row) => plain(row.total_cents)).toSorted()).toEqual(
      [1, 99.99, 100, 100.01, 123.45].toSorted(),
    );
    const buckets = metric('orders', {
      dimensions: [{ ...of('amount', 'total_cents'), bucketWidth: 100 }],
      measures: [{ name: 'n', aggregate: 'COUNT' }],
    });
    expect((await ask(mart, buckets)).rows.map((row) => [plain(row.amount), plain(row.n)])).toEqual([
      [0, 2],
      [100, 3],
    ]);
    const [row] = await rowsOf(await engine.stream(asked));
    expect(row?.map(plain)).toEqual([424.45]);
  });

  it.runIf(hasSql(kind))('expressions, custom columns and SQL read whole units', async () => {
    const mart = martOf(scaled, [
      computed('doubled', 'total_cents * 2'),
      computed('revenue', 'sum(total_cents)', { isAggregate: true }),
    ]);
    for (const measure of [
      { name: 'amount', expression: 'sum(orders.total_cents)' },
      { name: 'amount', aggregate: 'AGGREGATE', column: columnRef('orders.revenue') },
    ] as const) {
      expect(plain(await only(mart, sums({ measures: [measure] })))).toBe(424.45);
    }
    expect(plain(await only(mart, sums({ measures: [sum('doubled')] })))).toBe(848.9);
    expect(plain(await only(mart, inSql('select sum(o.total_cents) as amount from orders o', 'amount')))).toBe(424.45);
  });

  it('a mask hides digits of the whole units', async () => {
    const mart = withColumnRules(martOf(scaled), {
      hideColumns: [],
      maskColumns: { 'main.orders.total_cents': 'bucket(100)' },
    });
    expect(plain(await only(mart, sums()))).toBe(300);
    const above = token('orders.total_cents', { kind: 'compare', operator: '>', value: '100.005' });
    expect(plain(await only(mart, sums(), { conditions: [above] }))).toBe(200);
  });

  it.runIf(hasSql(kind))('amounts of several currencies are refused with what to do', async () => {
    const mart = martOf(perRow, [computed('gross', 'total_cents + tax')]);
    const share = { kind: 'shareOfTotal', name: 'share', of: 'amount' } as const;
    const running = { kind: 'runningTotal', name: 'running', of: 'amount' } as const;
    const dimensions = [of('currency', 'currency'), of('month', 'month')];
    const greatest = { sort: [{ name: 'amount', direction: 'DESC' }], limit: 1, others: true } as const;
    for (const definition of [
      sums(),
      sums({ dimensions: [of('month', 'month')] }),
      sums({ measures: [sum('gross')] }),
      sums({ measures: [{ name: 'amount', aggregate: 'MAX', column: columnRef('orders.total_cents') }] }),
      sums({ measures: [{ name: 'amount', expression: 'sum(orders.total_cents) / count(*)' }] }),
      sums({ where: { any: [isGbp(), condition('orders.currency', { kind: 'oneOf', values: ['EUR'] })] } }),
      sums({ where: condition('orders.currency', { kind: 'oneOf', values: ['EUR', 'GBP'] }) }),
      sums({ dimensions, calculations: [share] }),
      sums({ dimensions, calculations: [running] }),
      sums({ dimensions: [of('currency', 'currency')], ...greatest }),
      sums({ dimensions: [of('month', 'month'), of('currency', 'currency')], ...greatest }),
      sums({ dimensions, ...greatest }),
      inSql('select sum(o.total_cents) as amount from orders o', 'amount'),
    ]) {
      const refusal = await fault(mart, definition);
      expect([refusal.code, refusal.reason]).toEqual(['METRIC_QUERY_ERROR', 'currencies-mixed']);
    }
    expect((await fault(mart, sums())).message).toContain('Group the metric by orders.currency');
    const { datasource, tenant, conditions, definition } = question(place, mart, 'a', sums());
    const asked = { datasource, datamart: at(place, mart), tenant, conditions, definition };
    const error: unknown = await engine.check(asked, stays).catch((refused: unknown) => refused);
    expect(isTypeFault(error)).toBe(true);
  });

  it('a metric that is grouped by the currency says which column names it', async () => {
    const split = sums({ dimensions: [of('money', 'currency')] });
    expect(await currencyOfAmount(martOf(perRow), split)).toEqual({ column: 'money' });
    const { rows: found } = await ask(martOf(perRow), split);
    expect(found.map(({ money, amount }) => [money, plain(amount)])).toEqual([
      ['EUR', 223.45],
      ['GBP', 99.99],
      ['JPY', 100.01],
      [null, 1],
    ]);
    const within = { kind: 'shareOfTotal', name: 'share', of: 'amount', within: ['money'] } as const;
    const along = { kind: 'runningTotal', name: 'running', of: 'amount', along: 'month' } as const;
    const both = sums({
      dimensions: [of('money', 'currency'), of('month', 'month')],
      calculations: [within, along],
    });
    const { columns } = await ask(martOf(perRow), both);
    expect(columns.map((column) => [column.name, saidOf(column)])).toEqual([
      ['money', undefined],
      ['month', undefined],
      ['amount', { column: 'money' }],
      ['share', undefined],
      ['running', { column: 'money' }],
    ]);
  });

  it('a filter to one currency is enough, and gives the answer its currency', async () => {
    const mart = martOf(perRow);
    expect(await currencyOfAmount(mart, sums(), { conditions: [isGbp()] })).toEqual({ code: 'GBP' });
    expect(await currencyOfAmount(mart, sums({ where: { all: [isGbp()] } }))).toEqual({ code: 'GBP' });
    const own = token('orders.currency', { kind: 'compare', operator: '=', value: 'EUR' });
    expect(await currencyOfAmount(mart, sums(), { conditions: [own] })).toEqual({ code: 'EUR' });
    expect(plain(await only(mart, sums(), { conditions: [own] }))).toBe(223.45);
  });

  it.runIf(hasSql(kind))('SQL that names the currency keeps the amounts apart itself', async () => {
    const definition: MetricDefinition = {
      ...inSql('select o.currency as money, sum(o.total_cents) as amount from orders o group by o.currency', 'amount'),
      dimensions: [{ name: 'money' }],
      sort: [{ name: 'money', direction: 'ASC' }],
    };
    const { rows: found } = await ask(martOf(perRow), definition);
    expect(found.map(({ amount }) => plain(amount))).toEqual([223.45, 99.99, 100.01, 1]);
  });

  it('counts and shares of rows have no currency', async () => {
    const column = columnRef('orders.total_cents');
    const measures: readonly Measure[] = [
      { name: 'amount', aggregate: 'COUNT', column },
      { name: 'some', aggregate: 'COUNT_DISTINCT', column },
      { name: 'large', aggregate: 'AVG', column, indicator: { kind: 'compare', operator: '>', value: 100 } },
    ];
    const { columns } = await ask(martOf(perRow), sums({ measures }));
    expect(columns.every((column) => saidOf(column) === undefined)).toBe(true);
  });

  it.runIf(hasSql(kind))('columns of different currencies are not combined in one expression', async () => {
    const mart = martOf({ total_cents: { scale: 2, currency: 'EUR' }, tax: { currency: 'USD' } }, [
      computed('converted', 'total_cents + tax', { numbers: { currency: 'EUR' } }),
      computed('mixed', 'total_cents + tax'),
    ]);
    const both = { name: 'amount', expression: 'sum(orders.total_cents) + sum(orders.tax)' };
    expect((await fault(mart, sums({ measures: [both] }))).reason).toBe('currencies-mixed');
    expect((await fault(mart, sums({ measures: [sum('mixed')] }))).reason).toBe('currencies-mixed');
    expect(await currencyOfAmount(mart, sums({ measures: [sum('converted')] }))).toEqual({ code: 'EUR' });
  });

  it('amounts are in the currency that the row of the tenant names', async () => {
    const mart = martOf(ofTenant);
    expect(await currencyOfAmount(mart, sums())).toEqual({ code: 'GBP' });
    expect(await currencyOfAmount(mart, sums(), {}, 'b')).toEqual({ code: 'JPY' });
    // What is no code is no currency.
    const empty = await ask(mart, sums({ dimensions: [of('month', 'month')] }), {}, 'c');
    expect(empty.columns).toEqual([]);
    const counted = await ask(mart, sums(), {}, 'c');
    expect(counted.columns.map(saidOf)).toEqual([undefined]);
    const stream = await engine.stream(question(place, mart, 'b', sums()));
    expect(stream.columns.map(saidOf)).toEqual([{ code: 'JPY' }]);
    await rowsOf(stream);
  });

  it('a token that may not see the currency gets no sum, and no name of the currency', async () => {
    const rules = (hideColumns: readonly string[], maskColumns: Readonly<Record<string, string>> = {}) => ({
      hideColumns,
      maskColumns,
    });
    const name = 'main.orders.currency';
    const own = token('orders.currency', { kind: 'compare', operator: '=', value: 'EUR' });
    for (const mart of [
      withColumnRules(martOf(perRow), rules([name])),
      withColumnRules(martOf(perRow), rules([], { [name]: 'first' })),
    ]) {
      const refusal = await fault(mart, sums());
      expect(refusal.reason).toBe('currencies-mixed');
      expect(refusal.message).not.toContain('orders.currency');
      expect(await currencyOfAmount(mart, sums(), { conditions: [own] })).toBeUndefined();
    }
    const masked = withColumnRules(martOf(perRow), rules([], { [name]: 'first' }));
    expect((await fault(masked, sums({ dimensions: [of('currency', 'currency')] }))).reason).toBe('currencies-mixed');
    const first = condition('orders.currency', { kind: 'oneOf', values: ['E'] });
    expect((await fault(masked, sums(), { conditions: [first] })).reason).toBe('currencies-mixed');
    for (const mart of [
      withColumnRules(martOf(ofTenant), rules(['main.clients.currency'])),
      withColumnRules(martOf(ofTenant), rules([], { 'main.clients.currency': 'first' })),
    ]) {
      expect(await currencyOfAmount(mart, sums())).toBeUndefined();
    }
    const elsewhere = token('clients.region', { kind: 'oneOf', values: ['south'] });
    const north = { ...elsewhere, restriction: 'whereRead' } as const;
    expect(await currencyOfAmount(martOf(ofTenant), sums(), { conditions: [north] })).toBeUndefined();
  });

  it('rows name the currency of each amount where they show it', async () => {
    const names = async (...columns: readonly string[]) => {
      const underlying = columns.map((column) => columnRef(`orders.${column}`));
      const asked = question(place, martOf(perRow), 'a', metric('orders', { underlying }));
      return (await engine.underlying(asked)).columns.map(saidOf);
    };
    expect(await names('total_cents', 'currency')).toEqual([{ column: 'currency' }, undefined]);
    expect(await names('total_cents')).toEqual([undefined]);
  });

  it('rows have no currency by a filter whose condition on their table does not apply', async () => {
    const own = martOf(perRow);
    const mart = {
      ...own,
      tables: [...own.tables, table('refunds', refunds, 'client')],
      relationships: [{ ...relationship('refunds.order', 'orders.id'), cardinality: 'ManyToOne' as const }],
    };
    const mappedTo = ['refunds.currency', 'orders.currency'].map(columnRef);
    const conditions = ['refunds.currency', 'orders.currency'].map((path) => ({ ...isGbp(path), mappedTo }));
    const definition = metric('refunds', { underlying: [columnRef('orders.total_cents')] });
    const asked = question(place, mart, 'a', definition, { conditions });
    const { rows: found, columns } = await engine.underlying(asked);
    expect(found.map((row) => plain(Object.values(row)[0]))).toEqual([123.45]);
    expect(columns.map(saidOf)).toEqual([undefined]);
  });

  it.runIf(hasSql(kind))('no random metric combines amounts of two currencies', async () => {
    const mart = martOf(perRow, [computed('gross', 'total_cents + tax')]);
    const currencies = ['EUR', 'GBP', 'JPY'];
    const measure: fc.Arbitrary<Measure> = fc.oneof(
      fc.record({
        name: fc.constant('amount'),
        aggregate: fc.constantFrom('SUM', 'AVG', 'MIN', 'MAX', 'MEDIAN', 'COUNT'),
        column: fc.constantFrom('total_cents', 'tax', 'gross').map((one) => columnRef(`orders.${one}`)),
      }),
      fc.constantFrom('sum(orders.total_cents)', 'max(orders.tax) - min(orders.total_cents)').map((expression) => ({
        ...{ name: 'amount', expression },
      })),
    );
    const filter = fc
      .subarray(currencies, { minLength: 1 })
      .map((values) => condition('orders.currency', { kind: 'oneOf', values }));
    const arbitrary = fc.record({
      measure,
      dimensions: fc.subarray([of('currency', 'currency'), of('month', 'month')]),
      conditions: fc.array(filter, { maxLength: 2 }),
      where: fc.option(filter, { nil: undefined }),
      isRunning: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ measure: asked, dimensions, conditions, where, isRunning }) => {
        const calculations = isRunning ? [{ kind: 'runningTotal', name: 'running', of: 'amount' } as const] : [];
        const definition = sums({ measures: [asked], dimensions, where, calculations });
        const left = currencies.filter((code) =>
          [...conditions, ...(where === undefined ? [] : [where])].every(
            ({ predicate }) => predicate.kind === 'oneOf' && predicate.values.includes(code),
          ),
        );
        const isCount = asked.aggregate === 'COUNT';
        const isFiltered = [...conditions, ...(where === undefined ? [] : [where])].some(
          ({ predicate }) => predicate.kind === 'oneOf' && predicate.values.length === 1,
        );
        const runsAlong = isRunning && dimensions[0]?.name === 'currency';
        const isSplit = dimensions.some(({ name }) => name === 'currency') && !runsAlong;
        const answered = await ask(mart, definition, { conditions }).then(
          ({ columns }) => columns,
          (error: { readonly reason?: string }) => error.reason,
        );
        if (typeof answered === 'string') {
          // A running total needs a dimension.
          if (answered === 'calculation-dimension') {
            expect(dimensions).toEqual([]);
            return;
          }
          expect(answered).toBe('currencies-mixed');
          expect(isCount || isFiltered || isSplit).toBe(false);
          return;
        }
        expect(isCount || isFiltered || isSplit || left.length < 2).toBe(true);
        const amount = answered?.find(({ name }) => name === 'amount');
        if (amount === undefined || isCount) return;
        expect(saidOf(amount)).toEqual(isFiltered ? { code: expect.stringMatching(/^...$/) } : { column: 'currency' });
      }),
      { numRuns: 40 },
    );
  });
});
