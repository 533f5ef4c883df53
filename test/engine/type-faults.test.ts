/**
 * Faults of types that are found when a metric is written, against what each database answers when it is asked: what is
 * refused at the write, every query refuses too.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSqlRewriter } from '../../src/engine/custom/sql-rewriter.js';
import type { MetricDefinition, VisualDefinition } from '../../src/model/dashboard/metric.js';
import { definitionTypeFaults } from '../../src/model/dashboard/type-faults.js';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import type { Predicate, Scalar } from '../../src/model/filter/filter.js';
import type { Engine } from '../../src/model/query/engine.js';
import { Refusal } from '../../src/model/refusal.js';
import { checkDatamartExpression } from '../../src/service/dashboards/check-expression.js';
import type { Store } from '../../src/service/store/store.js';
import { type Builder, createBuilder, findSqlKinds, type TableData } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, type Place, question, table } from './world.js';

const data: TableData = {
  name: 'kinds',
  columns: {
    whole: 'BIGINT',
    small: 'SMALLINT',
    exact: 'DECIMAL(9,2)',
    float: 'DOUBLE',
    text: 'VARCHAR',
    fixed: 'CHAR(3)',
    flag: 'BOOLEAN',
    day: 'DATE',
    time: 'TIMESTAMP',
    instant: 'TIMESTAMP WITH TIME ZONE',
    kind: "ENUM('x','y')",
    id: 'UUID',
  },
  rows: [],
};
const columns = Object.keys(data.columns);
const refOf = (column: string) => columnRef(`kinds.${column}`);

const count = { name: 'n', aggregate: 'COUNT' as const };
const values: readonly Scalar[] = [1, 2.5, '3', 'x', true, '2024-01-31', '00000000-0000-4000-8000-000000000000'];
const predicates: readonly Predicate[] = [
  ...values.map((value) => ({ kind: 'compare' as const, operator: '=' as const, value })),
  ...values.map((value) => ({ kind: 'oneOf' as const, values: [value] })),
  ...values.map((value) => ({ kind: 'range' as const, from: value, to: null, toIsExclusive: false })),
  { kind: 'like', pattern: 'x%' },
  { kind: 'isNull' },
];

/** Metrics that read one column in every way that has a type. */
const metricsOf = (column: string): readonly Partial<VisualDefinition>[] => {
  const ref = refOf(column);
  const aggregated = (['SUM', 'AVG', 'MIN', 'MAX', 'COUNT', 'COUNT_DISTINCT', 'MEDIAN'] as const).map((aggregate) => ({
    name: 'm',
    aggregate,
    column: ref,
  }));
  return [
    ...aggregated.map((measure) => ({ measures: [measure] })),
    ...aggregated.flatMap((measure) =>
      predicates
        .slice(0, values.length)
        .map((predicate) => ({ measures: [measure], having: { measure: 'm', predicate } })),
    ),
    { measures: [{ name: 'm', aggregate: 'PERCENTILE', column: ref, percentile: 0.5 }] },
    {
      measures: aggregated.slice(2, 3),
      calculations: [{ kind: 'runningTotal', name: 'c', of: 'm' }],
      dimensions: [{ name: 'd', column: ref }],
    },
    { dimensions: [{ name: 'd', column: ref, grain: 'month' }], measures: [count] },
    { dimensions: [{ name: 'd', column: ref, grain: 'hourOfDay' }], measures: [count] },
    { dimensions: [{ name: 'd', column: ref, bucketWidth: 5 }], measures: [count] },
    { dimensions: [{ name: 'd', column: ref, bucketCount: 5 }], measures: [count] },
    ...predicates.map((predicate) => ({ measures: [count], where: { column: ref, predicate } })),
    ...predicates.map((indicator) => ({
      measures: [{ name: 'm', aggregate: 'SUM' as const, column: ref, indicator }],
    })),
  ];
};

const isRefused = async (work: () => Promise<unknown>): Promise<boolean> => {
  try {
    await work();
    return false;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'METRIC_QUERY_ERROR') return true;
    throw error;
  }
};

describe.each(await findSqlKinds())('%s', (kind) => {
  let builder: Builder;
  let engine: Engine;
  let place: Place;
  let mart: Datamart;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('kinds', [data]);
    engine = createLoggedEngine().engine;
    const found = (await engine.introspect(place.datasource)).find(({ tableName }) => tableName === 'kinds');
    const types = Object.fromEntries((found?.columns ?? []).map(({ columnName, datatype }) => [columnName, datatype]));
    mart = datamart({ tenancy: null, tables: [table('kinds', types)] });
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  test.each(columns)('a metric over %s that is refused when written is also refused by every query', async (column) => {
    const wronged: string[] = [];
    let refused = 0;
    for (const parts of metricsOf(column)) {
      const definition: MetricDefinition = metric('kinds', parts);
      const faults = definitionTypeFaults(definition, mart);
      if (faults.length === 0) continue;
      refused += 1;
      const query = () => engine.query(question(place, mart, 'None', definition));
      if (!(await isRefused(query))) wronged.push(...faults);
    }
    expect(wronged).toEqual([]);
    expect(refused).toBeGreaterThan(0);
  });

  test('an expression that the database refuses has its fault at the smallest part that it refuses', async () => {
    const { schemaName } = place;
    const own = { ...mart, tables: mart.tables.map((one) => ({ ...one, schemaName })) };
    const store = {
      datamarts: { findByName: async () => own },
      datasources: { findById: async () => place.datasource },
    } as unknown as Store;
    const check = checkDatamartExpression({ store, engine, sqlRewriter: createSqlRewriter() });
    const caller = { kind: 'serviceToken', tokenId: 't' } as const;
    const signal = new AbortController().signal;
    const placesIn = async (sql: string) => {
      const { faults, isChecked } = await check(caller, { datamartName: 'mart', tableName: 'kinds', sql }, signal);
      return [isChecked, ...faults.map((fault) => [fault.place?.line, fault.place?.column])];
    };
    expect(await placesIn('SUM(whole) / COUNT(*)')).toEqual([true]);
    expect(await placesIn('SUM(whole)\n + SUM(id) * 2')).toEqual([true, [2, 4]]);
    expect(await placesIn('SUM(whole) + MIN(nowhere)')).toEqual([true, [1, 18]]);
    expect(await placesIn('whole + secrets(small)')).toEqual([true, [1, 9]]);
  });

  // PostgreSQL gives an enum the name that its owner chose, so only the database knows what it is.
  const named = ['text', 'fixed', 'flag', 'day', 'time', 'instant', ...(kind === 'POSTGRES' ? [] : ['kind']), 'id'];
  test.each(named)('SUM and AVG over %s are refused when they are written; COUNT, MIN and MAX are not', (column) => {
    const faultsOf = (aggregate: 'SUM' | 'AVG' | 'COUNT' | 'MIN' | 'MAX') =>
      definitionTypeFaults(metric('kinds', { measures: [{ name: 'm', aggregate, column: refOf(column) }] }), mart);
    for (const aggregate of ['SUM', 'AVG'] as const) {
      expect(faultsOf(aggregate), aggregate).toEqual([
        expect.stringMatching(
          /^measures\[0\] "m": (SUM|AVG) needs numbers, and column main\.kinds\.\w+ holds .+; choose /,
        ),
      ]);
    }
    for (const aggregate of ['COUNT', 'MIN', 'MAX'] as const) expect(faultsOf(aggregate), aggregate).toEqual([]);
  });
});
