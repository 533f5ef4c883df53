/** Computed from groups: HAVING, percentiles, and calculations over the groups that HAVING left. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HavingTree, VisualDefinition } from '../../src/model/dashboard/metric.js';
import { type Period, periods } from '../../src/model/filter/period.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, type Place, question, refusalOf, table } from './world.js';

const columns = {
  id: 'BIGINT',
  at: 'TIMESTAMP',
  day: 'DATE',
  shop: 'VARCHAR',
  amount: 'BIGINT',
  price: 'DECIMAL(10,2)',
  weight: 'DOUBLE',
  uid: 'UUID',
  flag: 'BOOLEAN',
  moment: 'TIMESTAMP WITH TIME ZONE',
};
const uid = (digit: string): string => `${digit}0000000-0000-4000-8000-000000000000`;
type Cells = readonly (string | number | boolean | null)[];
const row = (
  id: number,
  at: string | null,
  shop: string | null,
  amount: number | null,
  price: number | null,
): Cells => [
  id,
  at,
  at === null ? null : at.slice(0, 10),
  shop,
  amount,
  price,
  amount,
  uid(String(id)),
  id % 2 === 0,
  at === null ? null : `${at}+00`,
];
/** March is missing for all shops, and two further months for shop b. */
const rows: readonly Cells[] = [
  row(1, '2024-01-10 10:00:00', 'a', 10, 1.1),
  row(2, '2024-01-31 10:00:00', 'b', 20, 2.2),
  row(3, '2024-02-01 11:00:00', 'a', 30, 3.3),
  row(4, '2024-04-01 10:30:00', 'a', 50, 0.4),
  row(5, '2024-04-02 10:00:00', 'b', -5, null),
  row(6, '2024-05-01 10:00:00', 'a', null, 0.6),
  row(7, null, 'a', 7, 0.7),
  row(8, '2023-01-05 10:00:00', null, 80, 0.8),
];

/** Periods across the end of a year and a leap day, and with gaps. */
const steps: readonly Cells[] = [
  '2023-12-31 23:59:00',
  '2024-01-01 00:00:30',
  '2024-02-28 22:00:00',
  '2024-02-29 23:00:00',
  '2024-03-01 00:00:00',
  '2024-06-30 12:00:00',
  '2026-01-01 00:00:00',
  null,
].map((at, index) => [index + 1, at, at === null ? null : `${at}+00`]);
const stepColumns = { id: 'BIGINT', at: 'TIMESTAMP', moment: 'TIMESTAMP WITH TIME ZONE' };

const mart = datamart({ tenancy: null, tables: [table('sales', columns), table('steps', stepColumns)] });
const column = (name: string) => columnRef(`sales.${name}`);
const count = { name: 'n', aggregate: 'COUNT' } as const;
const sum = { name: 'sum', aggregate: 'SUM', column: column('amount') } as const;
const month = { name: 'month', column: column('day'), grain: 'month' } as const;
const shop = { name: 'shop', column: column('shop') } as const;

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('calculations', [
      { name: 'sales', columns, rows },
      { name: 'steps', columns: stepColumns, rows: steps },
    ]);
    ({ engine } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const answer = (definition: Partial<VisualDefinition>, parts: Partial<MetricQuestion> = {}) =>
    engine.query(question(place, mart, 'None', metric('sales', definition), parts));
  const ask = async (definition: Partial<VisualDefinition>, parts: Partial<MetricQuestion> = {}) =>
    (await answer(definition, parts)).rows.map((found) => Object.values(found));

  describe('having', () => {
    const byShop = { dimensions: [shop], measures: [count, sum] };
    it.each([
      ['a count', { measure: 'n', predicate: { kind: 'compare', operator: '>', value: 1 } }, ['a', 'b']],
      ['a sum, exactly', { measure: 'sum', predicate: { kind: 'oneOf', values: [15, '80'] } }, ['b', null]],
      [
        'all of a group',
        {
          all: [
            { measure: 'n', predicate: { kind: 'compare', operator: '>', value: 1 } },
            { measure: 'sum', predicate: { kind: 'range', from: 50, to: null, toIsExclusive: false } },
          ],
        },
        ['a'],
      ],
      [
        'any of a group, in another',
        {
          all: [
            {
              any: [
                { measure: 'n', predicate: { kind: 'compare', operator: '=', value: 1 } },
                { measure: 'sum', predicate: { kind: 'compare', operator: '=', value: 15 } },
              ],
            },
            { measure: 'sum', predicate: { kind: 'compare', operator: '<', value: 80 } },
          ],
        },
        ['b'],
      ],
    ] as const)('a condition on measures keeps the groups that it names: %s', async (_, having, shops) => {
      const { rows: found, totalRecords } = await answer({ ...byShop, having: having as HavingTree });
      expect(found.map((group) => group.shop)).toEqual(shops);
      expect(totalRecords).toBe(shops.length);
    });

    it('counts the remaining groups before the limit, and NULL passes only a test for NULL', async () => {
      const having = { measure: 'n', predicate: { kind: 'compare', operator: '>', value: 1 } } as const;
      expect(await answer({ ...byShop, having }, { limit: 1 })).toMatchObject({ totalRecords: 2 });
      const byMonth = { dimensions: [month], measures: [sum] };
      const isNull = { measure: 'sum', predicate: { kind: 'isNull' } } as const;
      expect(await ask({ ...byMonth, having: isNull })).toEqual([['2024-05-01', null]]);
      const not = { measure: 'sum', predicate: { kind: 'noneOf', values: [30] } } as const;
      expect(await ask({ ...byMonth, having: not })).toHaveLength(3);
      const none = { measure: 'n', predicate: { kind: 'compare', operator: '>', value: 100 } } as const;
      expect(await answer({ measures: [count], having: none })).toMatchObject({ rows: [], totalRecords: 0 });
    });

    it.each([
      ['price', 'SUM', { kind: 'compare', operator: '=', value: '6.1' }],
      ['weight', 'SUM', { kind: 'compare', operator: '>', value: 90.5 }],
      ['price', 'AVG', { kind: 'compare', operator: '<', value: 1.3 }],
      ['price', 'MEDIAN', { kind: 'compare', operator: '<', value: 0.8 }],
      ['price', 'MAX', { kind: 'compare', operator: '=', value: 3.3 }],
      ['shop', 'MAX', { kind: 'like', pattern: 'a%' }],
      ['uid', 'MIN', { kind: 'oneOf', values: [uid('1')] }],
      ['flag', 'MIN', { kind: 'compare', operator: '=', value: false }],
      ['day', 'MIN', { kind: 'range', from: '2024-01-01', to: '2024-01-11', toIsExclusive: true }],
      ['at', 'MAX', { kind: 'compare', operator: '>=', value: '2024-05-01T10:00:00' }],
      ['moment', 'MAX', { kind: 'compare', operator: '>=', value: '2024-05-01' }],
      ['shop', 'COUNT_DISTINCT', { kind: 'compare', operator: '=', value: 1 }],
    ] as const)('a condition on the %s of %s uses the values of this measure', async (name, aggregate, predicate) => {
      const measures = [{ name: 'm', aggregate, column: column(name) }];
      const having = { measure: 'm', predicate } as const;
      const conditions = [{ column: column('shop'), predicate: { kind: 'oneOf', values: ['a', 'b'] } }] as const;
      const found = await ask({ dimensions: [shop], measures, having }, { conditions: [...conditions] });
      const expected = aggregate === 'COUNT_DISTINCT' || name === 'flag' ? ['a', 'b'] : ['a'];
      expect(found.map(([name]) => name)).toEqual(expected);
    });

    it.each([
      ['text for a number', 'amount', 'x'],
      ['a broken date', 'day', '2024-02-30'],
      ['a number for text', 'shop', 1],
    ])("%s is refused with the measure's name", async (_, name, value) => {
      const measures = [{ name: 'least', aggregate: 'MIN', column: column(name) }] as const;
      const having = { measure: 'least', predicate: { kind: 'compare', operator: '=', value } } as const;
      const refusal = await refusalOf(() => ask({ dimensions: [shop], measures, having }));
      expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'value-of-wrong-type' });
      expect(refusal.message).toContain('Measure least');
    });

    it('a condition on an unknown measure, or without a test, is refused', async () => {
      const unknown = { measure: 'shop', predicate: { kind: 'isNull' } } as const;
      expect(await refusalOf(() => ask({ ...byShop, having: unknown }))).toMatchObject({ reason: 'having-unknown' });
      expect(await refusalOf(() => ask({ ...byShop, having: { any: [] } }))).toMatchObject({ reason: 'group-empty' });
    });
  });

  describe('percentiles', () => {
    const five = [0, 0.25, 0.5, 0.75, 1].map(
      (percentile) =>
        ({ name: `p${percentile}`, aggregate: 'PERCENTILE', column: column('amount'), percentile }) as const,
    );
    const median = { name: 'median', aggregate: 'MEDIAN', column: column('amount') } as const;

    it('compute the five numbers of a boxplot', async () => {
      // The values are -5, 7, 10, 20, 30, 50, 80.
      expect(await ask({ measures: [...five, median] })).toEqual([[-5, 8.5, 20, 40, 80, 20]]);
      expect(await ask({ dimensions: [shop], measures: [...five, median] })).toEqual([
        ['a', 7, 9.25, 20, 35, 50, 20],
        ['b', -5, 1.25, 7.5, 13.75, 20, 7.5],
        [null, 80, 80, 80, 80, 80, 80],
      ]);
    });

    it('percentiles of decimals, of shares and of no values work', async () => {
      const price = { name: 'p', aggregate: 'PERCENTILE', column: column('price'), percentile: 0.1 } as const;
      const [[value] = []] = await ask({ measures: [price] });
      expect(value).toBeCloseTo(0.52, 12);
      const over = { kind: 'compare', operator: '>', value: 15 } as const;
      expect(
        await ask({ measures: [{ ...price, column: column('amount'), indicator: over, percentile: 0.5 }] }),
      ).toEqual([[1]]);
      const conditions = [{ column: column('id'), predicate: { kind: 'oneOf', values: [6] } }] as const;
      expect(await ask({ measures: five }, { conditions: [...conditions] })).toEqual([[null, null, null, null, null]]);
    });

    it.each([undefined, -0.1, 1.1, Number.NaN])('at %s are refused', async (percentile) => {
      const measure = { name: 'p', aggregate: 'PERCENTILE', column: column('amount'), percentile } as const;
      expect(await refusalOf(() => ask({ measures: [measure] }))).toMatchObject({ reason: 'percentile-invalid' });
    });
  });

  describe('a share of the total', () => {
    it('is of all groups, or of the groups with the same values', async () => {
      const definition = {
        dimensions: [month, shop],
        measures: [sum],
        calculations: [
          { kind: 'shareOfTotal', name: 'all', of: 'sum' },
          { kind: 'shareOfTotal', name: 'month share', of: 'sum', within: ['month'] },
        ],
      } as const;
      const found = await answer(definition);
      expect(found.columns.map(({ name, dataType }) => [name, dataType]).slice(3)).toEqual([
        ['all', 'number'],
        ['month share', 'number'],
      ]);
      expect(found.groupbyColumnList).toEqual(['month', 'shop']);
      expect(found.rows.map((group) => Object.values(group))).toEqual([
        ['2023-01-01', null, 80, 80 / 192, 1],
        ['2024-01-01', 'a', 10, 10 / 192, 10 / 30],
        ['2024-01-01', 'b', 20, 20 / 192, 20 / 30],
        ['2024-02-01', 'a', 30, 30 / 192, 1],
        ['2024-04-01', 'a', 50, 50 / 192, 50 / 45],
        ['2024-04-01', 'b', -5, -5 / 192, -5 / 45],
        ['2024-05-01', 'a', null, null, null],
        [null, 'a', 7, 7 / 192, 1],
      ]);
    });

    it('is of the groups that HAVING left, before sort and limit', async () => {
      const found = await ask({
        dimensions: [shop],
        measures: [count],
        having: { measure: 'n', predicate: { kind: 'compare', operator: '>', value: 1 } },
        calculations: [{ kind: 'shareOfTotal', name: 'share', of: 'n' }],
        sort: [{ name: 'share', direction: 'ASC' }],
        limit: 1,
      });
      expect(found).toEqual([['b', 2, 2 / 7]]);
    });
  });

  describe('a running total', () => {
    it('follows the first dimension, separately for each value of the others', async () => {
      const calculations = [{ kind: 'runningTotal', name: 'so far', of: 'sum' }] as const;
      expect(await ask({ dimensions: [month], measures: [sum], calculations })).toEqual([
        ['2023-01-01', 80, 80],
        ['2024-01-01', 30, 110],
        ['2024-02-01', 30, 140],
        ['2024-04-01', 45, 185],
        ['2024-05-01', null, 185],
        [null, 7, 192],
      ]);
      const along = [{ kind: 'runningTotal', name: 'so far', of: 'sum', along: 'month' }] as const;
      const both = await ask({ dimensions: [shop, month], measures: [sum], calculations: along });
      expect(both.filter(([name]) => name === 'b').map(([, , , total]) => total)).toEqual([20, 15]);
      expect(both.filter(([name]) => name === 'a').map(([, , , total]) => total)).toEqual([10, 40, 90, 90, 97]);
    });
  });

  describe('a previous period', () => {
    const previous = (parts: object = {}) => ({ kind: 'previousPeriod', name: 'before', of: 'sum', ...parts }) as const;

    it('is the previous one in the calendar, not in the answer', async () => {
      const calculations = [previous(), previous({ name: 'two', periods: 2 }), previous({ name: 'year', periods: 12 })];
      expect(await ask({ dimensions: [month], measures: [sum], calculations })).toEqual([
        ['2023-01-01', 80, null, null, null],
        ['2024-01-01', 30, null, null, 80],
        ['2024-02-01', 30, 30, null, null],
        ['2024-04-01', 45, null, 30, null],
        ['2024-05-01', null, 45, null, null],
        [null, 7, null, null, null],
      ]);
    });

    it('has the same values of the other dimensions, including NULL', async () => {
      const found = await ask({
        dimensions: [shop, { ...month, grain: 'year' }],
        measures: [count],
        calculations: [previous({ of: 'n', along: 'month' })],
      });
      expect(found).toEqual([
        ['a', '2024-01-01', 4, null],
        ['a', null, 1, null],
        ['b', '2024-01-01', 2, null],
        [null, '2023-01-01', 1, null],
      ]);
      const years = await ask({
        dimensions: [{ ...month, grain: 'year' }],
        measures: [count],
        calculations: [previous({ of: 'n' })],
      });
      expect(years).toEqual([
        ['2023-01-01', 1, null],
        ['2024-01-01', 6, 1],
        [null, 1, null],
      ]);
    });

    it('can be answered as a change, absolute or relative', async () => {
      const calculations = [
        previous({ name: 'change', result: 'change' }),
        previous({ name: 'relative', result: 'relativeChange' }),
      ];
      const found = await ask({
        dimensions: [{ ...month, grain: 'quarter' }],
        measures: [sum],
        calculations,
        sort: [{ name: 'change', direction: 'ASC' }],
      });
      expect(found).toEqual([
        ['2024-04-01', 45, -15, -0.25],
        ['2023-01-01', 80, null, null],
        ['2024-01-01', 60, null, null],
        [null, 7, null, null],
      ]);
    });

    it.each(periods.flatMap((grain) => (['at', 'moment'] as const).map((name) => [grain, name] as const)))(
      'a previous period is found by the %s of %s',
      async (grain, name) => {
        const dimensions = [{ name: 'period', column: columnRef(`steps.${name}`), grain }];
        const measures = [{ name: 'sum', aggregate: 'SUM', column: columnRef('steps.id') }] as const;
        const definition = metric('steps', { dimensions, measures, calculations: [previous()] });
        const { rows: groups } = await engine.query(question(place, mart, 'None', definition));
        const found = groups.map((group) => Object.values(group));
        const sums = new Map(found.map(([period, value]) => [period, value]));
        expect(found).toEqual(
          found.map(([period, value]) => [period, value, sums.get(previousOf(period, grain) ?? 'none') ?? null]),
        );
        expect(found.filter(([, , before]) => before !== null).length).toBeGreaterThan(0);
      },
    );
  });

  it('calculations that are impossible are refused', async () => {
    const measures = [sum, { name: 'first', aggregate: 'MIN', column: column('day') }] as const;
    const refused = async (calculation: object) =>
      (await refusalOf(() => ask({ dimensions: [month, shop], measures, calculations: [calculation as never] })))
        .reason;
    expect(await refused({ kind: 'shareOfTotal', name: 'c', of: 'first' })).toBe('calculation-of');
    expect(await refused({ kind: 'shareOfTotal', name: 'c', of: 'shop' })).toBe('calculation-of');
    expect(await refused({ kind: 'shareOfTotal', name: 'c', of: 'sum', within: ['sum'] })).toBe(
      'calculation-dimension',
    );
    expect(await refused({ kind: 'runningTotal', name: 'c', of: 'sum', along: 'x' })).toBe('calculation-dimension');
    expect(await refused({ kind: 'previousPeriod', name: 'c', of: 'sum', along: 'shop' })).toBe('calculation-periods');
    expect(await refused({ kind: 'previousPeriod', name: 'c', of: 'sum', periods: 61 })).toBe('calculation-periods');
    expect(await refused({ kind: 'previousPeriod', name: 'c', of: 'sum', result: 'x' })).toBe('unknown-kind');
    expect(await refused({ kind: 'movingAverage', name: 'c', of: 'sum' })).toBe('unknown-kind');
    expect(await refused({ kind: 'runningTotal', name: 'sum', of: 'sum' })).toBe('name-twice');
  });
});

/** Computes the previous period with JavaScript's calendar only. */
const previousOf = (period: unknown, grain: Period): string | null => {
  if (typeof period !== 'string') return null;
  const at = new Date(`${period.slice(0, 10)}T${period.slice(11) === '' ? '00:00:00' : period.slice(11)}Z`);
  const hours = { minute: 1 / 60, hour: 1, day: 24, week: 168, month: 0, quarter: 0, year: 0 }[grain];
  const months = { month: 1, quarter: 3, year: 12, minute: 0, hour: 0, day: 0, week: 0 }[grain];
  at.setTime(at.getTime() - hours * 3_600_000);
  at.setUTCMonth(at.getUTCMonth() - months);
  return at.toISOString().slice(0, period.length);
};
