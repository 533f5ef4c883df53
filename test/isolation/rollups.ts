/**
 * Random questions over one table with rollups, restricted in every way: the answer with rollups must be the answer without,
 * for each tenant, after late rows and after each build.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type {
  Calculation,
  Dimension,
  HavingTree,
  Measure,
  VisualDefinition,
} from '../../src/model/dashboard/metric.js';
import { noColumnRules, withColumnRules } from '../../src/model/datamart/column-rules.js';
import type { BaseFilter, Datamart, Rollup } from '../../src/model/datamart/datamart.js';
import type { Condition, Predicate } from '../../src/model/filter/filter.js';
import type { Engine, MetricAnswer, MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, type Kind, type TableData, type Value } from '../engine/test-databases.js';
import {
  at,
  byClients,
  columnRef,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  processes,
  question,
  relationship,
  stays,
  table,
  tableRef,
} from '../engine/world.js';
import { assertSameAnswer, outcomeOf } from './judge.js';

const owners = ['acme', 'ACME', "o'x", ' acme', 'ácme'];
/** Of which the table has no row. */
const strangers = ['nobody'];
const regions = ['north', 'North', 'north ', 'nórth', 'south', '', 'a%b'];
const kinds = ['x', 'y', 'z'];

const columns = {
  client: 'VARCHAR',
  region: 'VARCHAR',
  kind: 'VARCHAR',
  store: 'INTEGER',
  paid: 'BOOLEAN',
  qty: 'BIGINT',
  price: 'DECIMAL(12,2)',
  weight: 'DOUBLE',
  sold: 'DATE',
  at: 'TIMESTAMP',
  moment: 'TIMESTAMP WITH TIME ZONE',
  removed: 'TIMESTAMP',
} as const;
type ColumnName = keyof typeof columns;
const names = Object.keys(columns) as readonly ColumnName[];

/** Builds read the time from here: the open month of most rollups is June 2024. */
const now = new Date('2024-06-16T10:00:00Z');

type Row = readonly Value[];

const moments = [
  ...['2023-11-30 23:30:00', '2023-12-31 23:59:59.999999', '2024-01-01 00:00:00', '2024-02-29 12:00:00'],
  ...['2024-03-31 01:30:00', '2024-03-31 22:30:00', '2024-05-31 23:00:00', '2024-06-01 00:00:00'],
  ...['2024-06-14 08:15:30.25', '2024-06-15 00:00:00', '2024-07-04 09:00:00', '2025-01-01 00:00:00'],
];

const aMoment = fc.constantFrom(...moments, null);
const aRow: fc.Arbitrary<Row> = fc
  .record({
    client: fc.constantFrom(...owners, ...owners, null),
    region: fc.constantFrom(...regions, null),
    kind: fc.constantFrom(...kinds, null),
    store: fc.constantFrom(1, 2, 30, -4, null),
    paid: fc.constantFrom(true, false, null),
    qty: fc.constantFrom(0, 1, -5, 7, 1000, 9_007_199_254_740_000, null),
    price: fc.constantFrom('0.10', '19.99', '-3.50', '1234567890.12', null),
    weight: fc.constantFrom(0.1, 0.2, 3, null),
    sold: aMoment,
    at: aMoment,
    moment: aMoment,
    removed: fc.constantFrom(null, null, null, '2024-02-01 00:00:00'),
  })
  .map((row) =>
    names.map((name): Value => {
      const value = row[name];
      if (name === 'sold' && typeof value === 'string') return value.slice(0, 10);
      return name === 'moment' && typeof value === 'string' ? `${value}+00` : value;
    }),
  );

export const someRows = (seed: number, count: number): readonly Row[] => fc.sample(aRow, { seed, numRuns: count });

/** Dates that MySQL stores, and that are none. */
const noDates = ['0000-00-00', '2024-00-05', '2024-02-00', '0000-05-03'];

/** On MySQL, some rows without a date have one without a year, month or day. */
const rowsOn = (kind: Kind, rows: readonly Row[]): readonly Row[] =>
  kind !== 'MYSQL'
    ? rows
    : rows.map((row, index) =>
        row.map((value, at) =>
          value === null && ['sold', 'at'].includes(names[at] ?? '') ? (noDates[index % 6] ?? null) : value,
        ),
      );

const dataOf = (rows: readonly Row[]): readonly TableData[] => [
  { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: owners.map((id) => [id, id]) },
  { name: 'sales', columns, rows },
  // Of all tenants.
  { name: 'news', columns, rows },
  {
    name: 'areas',
    columns: { code: 'VARCHAR', client: 'VARCHAR', open: 'BOOLEAN' },
    rows: owners.flatMap((client) => regions.map((code, index) => [code, client, index % 2 === 0])),
  },
];

const rollup = (name: string, parts: Partial<Rollup>): Rollup => ({
  name,
  from: tableRef('sales'),
  dimensions: ['region', 'kind', 'store', 'paid'],
  grain: 'day',
  measures: [
    { aggregate: 'SUM', column: 'qty' },
    { aggregate: 'AVG', column: 'qty' },
    { aggregate: 'COUNT', column: 'qty' },
    { aggregate: 'MIN', column: 'qty' },
    { aggregate: 'MAX', column: 'price' },
    { aggregate: 'SUM', column: 'price' },
    { aggregate: 'AVG', column: 'price' },
    { aggregate: 'COUNT', column: 'weight' },
    { aggregate: 'MIN', column: 'at' },
    { aggregate: 'MAX', column: 'sold' },
  ],
  partition: { column: 'sold', by: 'month', closesAfterHours: 24 },
  refresh: { everyMinutes: 60, again: 0 },
  ...parts,
});

const rollups: readonly Rollup[] = [
  rollup('by day', { measures: rollup('', {}).measures.filter(({ column }) => column !== 'sold') }),
  rollup('small', { dimensions: ['region'], measures: [{ aggregate: 'SUM', column: 'qty' }] }),
  rollup('by hour', {
    grain: 'hour',
    partition: { column: 'at', by: 'day', closesAfterHours: 0 },
    dimensions: ['region', 'kind', 'sold'],
    measures: [
      { aggregate: 'SUM', column: 'qty' },
      { aggregate: 'MAX', column: 'moment' },
      { aggregate: 'AVG', column: 'store' },
    ],
  }),
  rollup('by instant', {
    grain: 'day',
    partition: { column: 'moment', by: 'quarter', closesAfterHours: 1 },
    dimensions: ['kind', 'store'],
    measures: [
      { aggregate: 'SUM', column: 'price' },
      { aggregate: 'COUNT', column: 'qty' },
    ],
  }),
  rollup('by month', {
    grain: 'month',
    partition: { column: 'at', by: 'year', closesAfterHours: 24 },
    measures: [
      { aggregate: 'SUM', column: 'qty' },
      { aggregate: 'MIN', column: 'moment' },
    ],
  }),
];

/** Each build takes time, so a shared table and a table with base filters have only some of them, by position. */
const ofAll: ReadonlySet<number> = new Set([0, 2]);
const filtered: ReadonlySet<number> = new Set([0, 3]);

const news = rollups
  .filter((_, index) => ofAll.has(index))
  .map((one) => ({ ...one, name: `${one.name} of all`, from: tableRef('news') }));

/** `@`: read in the question's timezone. */
const salesTable = (baseFilters: readonly BaseFilter[]) => {
  const { at: at_, moment, ...others } = columns;
  return { ...table('sales', { ...others, at: at_, 'moment@': moment }, 'client'), baseFilters };
};

/** Datamarts of the same tables: each has rollups of its own. */
const marts: readonly Datamart[] = [
  { id: 'plain', baseFilters: [], kept: [...rollups, ...news] },
  {
    id: 'filtered',
    baseFilters: [{ columnName: 'removed', predicate: { kind: 'isNull' } as const }],
    kept: rollups.filter((_, index) => filtered.has(index)),
  },
].map(({ id, baseFilters, kept }) =>
  datamart({
    ...{ id, name: id, tenancy: byClients(), sharedTables: ['news'], rollups: kept },
    tables: [
      salesTable(baseFilters),
      { ...salesTable([]), tableName: 'news', clientColumn: null },
      table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
      table('areas', { code: 'VARCHAR', client: 'VARCHAR', open: 'BOOLEAN' }, 'client'),
    ],
    relationships: [relationship('sales.region', 'areas.code')],
  }),
);

const values: Readonly<Record<ColumnName, readonly (string | number | boolean)[]>> = {
  client: [...owners, ...strangers],
  region: regions,
  kind: kinds,
  store: [1, 2, 30, -4, 5],
  paid: [true, false],
  qty: [0, 1, 7, '9007199254740000'],
  price: ['0.10', '19.99', 3.5],
  weight: [0.1, 3],
  sold: ['2023-12-31', '2024-01-01', '2024-03-31', '2024-06-01', '2024-06-15', '2024-07-04'],
  at: ['2024-01-01', '2024-06-01T00:00:00', '2024-03-31T01:00', '2024-06-15T00:30:00'],
  moment: ['2024-01-01', '2024-04-01T00:00:00', '2024-07-01', '2024-06-01T01:30'],
  removed: ['2024-02-01'],
};

const aPredicate = (column: ColumnName): fc.Arbitrary<Predicate> => {
  const value = fc.constantFrom(...values[column]);
  const isDate = ['sold', 'at', 'moment', 'removed'].includes(column);
  const isBoolean = column === 'paid';
  const ranges: readonly fc.Arbitrary<Predicate>[] = [
    fc.record({ kind: fc.constant('range' as const), from: value, to: value, toIsExclusive: fc.boolean() }),
    fc.record({ kind: fc.constant('range' as const), from: value, to: fc.constant(null), toIsExclusive: fc.boolean() }),
    fc.record({ kind: fc.constant('range' as const), from: fc.constant(null), to: value, toIsExclusive: fc.boolean() }),
    fc.record({
      kind: fc.constant('compare' as const),
      operator: fc.constantFrom('<', '<=', '>', '>=' as const),
      value,
    }),
  ];
  return fc.oneof(
    ...(isBoolean ? [] : ranges),
    ...(isDate
      ? [
          ...ranges,
          fc.record({
            kind: fc.constant('recurring' as const),
            grain: fc.constantFrom('hourOfDay', 'dayOfWeek'),
            value: fc.constantFrom(0, 1, 5, 23, null),
          }) as fc.Arbitrary<Predicate>,
        ]
      : [
          fc.record({
            kind: fc.constantFrom('oneOf' as const, 'noneOf' as const),
            values: fc.array(value, { minLength: 1, maxLength: 3 }),
          }),
        ]),
    fc.record({ kind: fc.constant('compare' as const), operator: fc.constantFrom('=', '<>' as const), value }),
    fc.constantFrom<Predicate>({ kind: 'isNull' }, { kind: 'isNotNull' }),
    ...(column === 'region' ? [fc.constant<Predicate>({ kind: 'like', pattern: '%o%' })] : []),
  );
};

/** Mostly columns of the rollup, so that many questions can be answered by it. */
const columnOf = ({ dimensions, partition }: Rollup): fc.Arbitrary<ColumnName> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...([...dimensions, partition.column] as readonly ColumnName[])) },
    { weight: 1, arbitrary: fc.constantFrom(...names) },
  );

type ATest = { readonly column: ColumnName; readonly predicate: Predicate };

/** Of its time, mostly ranges of whole periods. */
const testOf = (focus: Rollup): fc.Arbitrary<ATest> =>
  columnOf(focus).chain((column) => {
    const start = fc.constantFrom('2023-01-01', '2024-01-01', '2024-06-01', '2025-01-01');
    const aligned: fc.Arbitrary<Predicate> = fc
      .tuple(fc.option(start, { freq: 3 }), start)
      .map(([from, to]) => ({ kind: 'range', from, to, toIsExclusive: true }));
    const predicate =
      column === focus.partition.column
        ? fc.oneof({ weight: 4, arbitrary: aligned }, { weight: 1, arbitrary: aPredicate(column) })
        : aPredicate(column);
    return fc.record({ column: fc.constant(column), predicate });
  });

type ATree = ATest | { readonly all: readonly ATree[] } | { readonly any: readonly ATree[] };
const treeOf = (focus: Rollup): fc.Arbitrary<ATree> =>
  fc.letrec<{ tree: ATree }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      testOf(focus),
      fc.record({ all: fc.array(tie('tree'), { minLength: 1, maxLength: 2 }) }),
      fc.record({ any: fc.array(tie('tree'), { minLength: 1, maxLength: 2 }) }),
    ),
  })).tree;

const grains = ['hour', 'day', 'week', 'month', 'quarter', 'year', 'hourOfDay', 'dayOfWeek'] as const;
const aggregates = ['SUM', 'AVG', 'COUNT', 'MIN', 'MAX', 'COUNT_DISTINCT', 'MEDIAN'] as const;

type AMeasure = { readonly aggregate: (typeof aggregates)[number]; readonly column: ColumnName };

const measureOfFocus = ({ measures }: Rollup): fc.Arbitrary<AMeasure> =>
  fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom(...(measures as readonly AMeasure[])) },
    {
      weight: 1,
      arbitrary: fc.record({ aggregate: fc.constantFrom(...aggregates), column: fc.constantFrom(...names) }),
    },
  );

const rarely = (most: number) => fc.nat(most).map((one) => one === 0);

/** In one of `of` cases there is one. */
const oneIn = <T>(of: number, one: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: of - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: one });

const caseOf = (focus: number) => {
  const of = rollups[focus] as Rollup;
  return fc.record({
    mart: fc.nat(filtered.has(focus) ? 1 : 0),
    isShared: ofAll.has(focus) ? rarely(3) : fc.constant(false),
    tenant: fc.constantFrom(...owners, ...strangers),
    /** Which of the rollups the datamart has. */
    offered: fc.subarray([0, 1, 2, 3, 4]).map((others) => [...new Set([focus, ...others])]),
    dimensions: fc.array(
      fc.record({
        column: columnOf(of),
        grain: fc.option(
          fc.oneof(
            { weight: 5, arbitrary: fc.constantFrom('month' as const, 'quarter' as const, 'year' as const) },
            { weight: 2, arbitrary: fc.constantFrom(...grains) },
          ),
          { freq: 12 },
        ),
        width: fc.constantFrom(null, null, 2, 7),
      }),
      { maxLength: 3 },
    ),
    measures: fc.array(
      fc.record({ measure: measureOfFocus(of), isOfRows: fc.nat(3).map((one) => one === 0), isIndicated: rarely(30) }),
      { maxLength: 3 },
    ),
    conditions: fc.array(
      fc.record({
        test: testOf(of),
        restriction: fc.constantFrom(undefined, undefined, 'always' as const, 'whereRead' as const),
        isOfToken: fc.boolean(),
        isHidden: fc.boolean(),
      }),
      { maxLength: 2 },
    ),
    /** A condition on the table that sales refer to. */
    far: fc.constantFrom(...Array<null>(18).fill(null), 'always' as const, 'whereRead' as const, 'open' as const),
    where: oneIn(3, treeOf(of)),
    having: oneIn(
      4,
      fc.record({
        of: fc.nat(2),
        operator: fc.constantFrom('>' as const, '<=' as const, '<>' as const),
        value: fc.constantFrom(0, 1, 2, 12.5),
      }),
    ),
    calculation: oneIn(4, fc.constantFrom('shareOfTotal' as const, 'runningTotal' as const, 'previousPeriod' as const)),
    sort: oneIn(2, fc.record({ of: fc.nat(5), direction: fc.constantFrom('ASC' as const, 'DESC' as const) })),
    limit: oneIn(4, fc.integer({ min: 1, max: 4 })),
    cap: oneIn(4, fc.integer({ min: 1, max: 6 })),
    offset: fc.constantFrom(0, 0, 0, 1, 2),
    isOthers: rarely(6),
    isUnfiltered: rarely(20),
    timezone: fc.constantFrom(null, null, null, 'UTC', 'Europe/Berlin', 'Asia/Kathmandu'),
    masked: oneIn(5, fc.constantFrom<ColumnName>(...names)),
    hidden: oneIn(5, fc.constantFrom<ColumnName>(...names)),
    isDownload: rarely(4),
  });
};

export const aRollupCase = fc.nat(rollups.length - 1).chain(caseOf);
export type ARollupCase = typeof aRollupCase extends fc.Arbitrary<infer Case> ? Case : never;

const dates: ReadonlySet<ColumnName> = new Set(['sold', 'at', 'moment', 'removed']);
const numbers: ReadonlySet<ColumnName> = new Set(['store', 'qty', 'price', 'weight']);

const measureOf =
  (path: (column: ColumnName) => string) =>
  (
    { measure: { aggregate, column }, isOfRows, isIndicated }: ARollupCase['measures'][number],
    index: number,
  ): Measure => {
    const name = `of ${index}`;
    if (isOfRows) return { name, aggregate: 'COUNT' };
    const isSummed = aggregate === 'SUM' || aggregate === 'AVG' || aggregate === 'MEDIAN';
    const fitting =
      isSummed && !numbers.has(column)
        ? 'COUNT_DISTINCT'
        : column === 'paid' && aggregate !== 'COUNT'
          ? 'COUNT_DISTINCT'
          : aggregate;
    const indicator: Predicate = { kind: 'compare', operator: '=', value: 'x' };
    return isIndicated
      ? { name, aggregate: 'SUM', column: columnRef(path('kind')), indicator }
      : { name, aggregate: fitting, column: columnRef(path(column)) };
  };

const definitionOf = (one: ARollupCase, tableName: string): VisualDefinition => {
  const path = (column: ColumnName): string => `${tableName}.${column}`;
  const dimensions = one.dimensions.map(
    ({ column, grain, width }, index): Dimension => ({
      ...{ name: `by ${index}`, column: columnRef(path(column)) },
      ...(grain !== null && dates.has(column) ? { grain } : {}),
      ...(width !== null && numbers.has(column) && column !== 'weight' ? { bucketWidth: width } : {}),
    }),
  );
  const drawn = one.measures.map(measureOf(path));
  const measures = drawn.length + dimensions.length === 0 ? [{ name: 'of 0', aggregate: 'COUNT' } as const] : drawn;
  const sortable = [
    ...dimensions,
    ...measures.filter(
      ({ aggregate, column }) => aggregate !== 'AVG' && aggregate !== 'MEDIAN' && column?.columnName !== 'weight',
    ),
  ];
  const chosen = one.sort === null ? undefined : sortable[one.sort.of % Math.max(1, sortable.length)];
  const isOthers =
    one.isOthers && dimensions.length > 0 && dimensions.length < 3 && sortable.length > dimensions.length;
  const first = sortable[dimensions.length];
  const measured = measures[(one.having?.of ?? 0) % Math.max(1, measures.length)];
  const having: HavingTree | undefined =
    one.having === null || measured === undefined || !['SUM', 'COUNT', 'AVG'].includes(measured.aggregate ?? '')
      ? undefined
      : {
          measure: measured.name,
          predicate: { kind: 'compare', operator: one.having.operator, value: one.having.value },
        };
  const summed = measures.find(({ aggregate }) => aggregate === 'SUM' || aggregate === 'COUNT');
  const along = dimensions.find(({ grain }) => grain === 'day' || grain === 'month' || grain === 'year');
  const isPrevious = one.calculation === 'previousPeriod';
  const calculation: readonly Calculation[] =
    one.calculation === null ||
    summed === undefined ||
    dimensions.length === 0 ||
    (isPrevious && along === undefined) ||
    isOthers
      ? []
      : [
          {
            kind: one.calculation,
            name: 'calculated',
            of: summed.name,
            ...(isPrevious ? { along: along?.name ?? '' } : {}),
          },
        ];
  const whereOf = (tree: ATree): NonNullable<VisualDefinition['where']> => {
    if ('all' in tree) return { all: tree.all.map(whereOf) };
    if ('any' in tree) return { any: tree.any.map(whereOf) };
    return { column: columnRef(path(tree.column)), predicate: tree.predicate };
  };
  return metric(tableName, {
    dimensions,
    measures,
    calculations: calculation,
    ...(one.where === null ? {} : { where: whereOf(one.where) }),
    ...(having === undefined || isOthers ? {} : { having }),
    sort:
      isOthers && first !== undefined
        ? [{ name: first.name, direction: 'DESC' }]
        : chosen === undefined
          ? []
          : [{ name: chosen.name, direction: one.sort?.direction ?? 'ASC' }],
    limit: isOthers ? (one.cap ?? 2) : one.cap,
    ...(isOthers ? { others: true } : {}),
    ...(one.isUnfiltered ? { withoutBaseFilters: [tableRef(tableName)] } : {}),
  });
};

const conditionsOf = (one: ARollupCase, tableName: string): readonly Condition[] => [
  ...one.conditions.map(
    ({ test, restriction, isOfToken, isHidden }): Condition => ({
      column: columnRef(`${tableName}.${test.column}`),
      predicate: test.predicate,
      ...(restriction === undefined ? {} : { restriction, isHidden, ...(isOfToken ? { isOfToken: true } : {}) }),
    }),
  ),
  ...(one.far === null || tableName !== 'sales'
    ? []
    : [
        {
          column: columnRef('areas.open'),
          predicate: { kind: 'compare' as const, operator: '=' as const, value: true },
          ...(one.far === 'open' ? {} : { restriction: one.far, isOfToken: true as const }),
        },
      ]),
];

const maskOf = (column: ColumnName): string =>
  numbers.has(column) ? 'bucket:10' : dates.has(column) ? 'year' : column === 'paid' ? 'null' : 'last4';

/** The question, with rollups and without. */
const questionsOf = (one: ARollupCase, place: Place): readonly [MetricQuestion, MetricQuestion] => {
  const tableName = one.isShared ? 'news' : 'sales';
  const mart = marts[one.mart] ?? (marts[0] as Datamart);
  const offered = one.offered.flatMap((index) => [rollups[index]?.name ?? '', `${rollups[index]?.name} of all`]);
  const ruled = (source: Datamart): Datamart =>
    withColumnRules(at(place, source), {
      ...noColumnRules,
      hideColumns: one.hidden === null ? [] : [`${place.schemaName}.${tableName}.${one.hidden}`],
      maskColumns:
        one.masked === null || one.masked === one.hidden
          ? {}
          : { [`${place.schemaName}.${tableName}.${one.masked}`]: maskOf(one.masked) },
    });
  const parts = {
    ...{ conditions: conditionsOf(one, tableName), timezone: one.timezone, limit: one.limit, offset: one.offset },
    ...{ today: '2024-06-16' },
  };
  const asked = (source: Datamart): MetricQuestion => ({
    ...question(place, mart, one.tenant, definitionOf(one, tableName), parts),
    datamart: ruled(source),
  });
  const chosen = (mart.rollups ?? []).filter(({ name }) => offered.includes(name));
  return [asked({ ...mart, rollups: chosen }), asked({ ...mart, rollups: [] })];
};

export type RollupStage = {
  readonly kind: Kind;
  readonly engine: Engine;
  readonly place: () => Place;
  /** Replaces the rows. */
  readonly refill: (rows: readonly Row[]) => Promise<void>;
  readonly build: (isWhole: boolean) => Promise<void>;
  readonly lines: readonly { readonly message: string }[];
  readonly remove: () => Promise<void>;
};

export const createRollupStage = async (kind: Kind, rows: readonly Row[], tailRows = 1000): Promise<RollupStage> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-rollups-'));
  const builder: Builder = await createBuilder(kind, { POSTGRES: { VARCHAR: 'VARCHAR COLLATE public.loose' } });
  let place = await builder.build('rollups', dataOf(rowsOn(kind, rows)));
  let fills = 0;
  const { engine, lines } = createLoggedEngine({
    clock: { now: () => now },
    maskSecret: Buffer.alloc(32, 7),
    // Few enough rows that each period has several files.
    rollups: { folder, processes, limits: { memoryMegabytes: 256, diskMegabytes: 256, fileRows: 6 }, tailRows },
  });
  return {
    ...{ kind, engine, lines },
    place: () => place,
    refill: async (next) => {
      fills += 1;
      place = await builder.refill(`rollups${fills}`, place, dataOf(rowsOn(kind, next)));
    },
    build: async (isWhole) => {
      const { datasource } = place;
      const builds = marts.flatMap((mart) => {
        const datamart = at(place, mart);
        return (datamart.rollups ?? []).map((one) => ({ datasource, datamart, rollup: one, isWhole }));
      });
      await Promise.all(builds.map((one) => engine.rollups?.build(one, stays)));
    },
    remove: async () => {
      await engine.close();
      await builder.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

export type RollupTally = {
  asked: number;
  kept: number;
  several: number;
  restricted: number;
  readonly refused: Map<string, number>;
};
export const createRollupTally = (): RollupTally => ({
  asked: 0,
  kept: 0,
  several: 0,
  restricted: 0,
  refused: new Map(),
});

const downloadOf = async (engine: Engine, asked: MetricQuestion): Promise<MetricAnswer> => {
  const { columns, batches } = await engine.stream(asked);
  const rows: MetricAnswer['rows'][number][] = [];
  for await (const batch of batches)
    rows.push(...batch.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null]))));
  return { columns, rows, groupbyColumnList: [], totalRecords: rows.length };
};

/** Throws if the download with rollups differs from the download without. */
const assertSameRows = async (engine: Engine, ...[kept, plain]: readonly [MetricQuestion, MetricQuestion]) =>
  assertSameAnswer(
    'the rollup gives other rows to a download than the source',
    await downloadOf(engine, kept),
    await downloadOf(engine, plain),
  );

/** Throws if the answer with rollups differs from the answer without. */
export const judgeRollups = async (
  { engine, place, lines }: RollupStage,
  one: ARollupCase,
  tally: RollupTally,
): Promise<void> => {
  const [withRollups, without] = questionsOf(one, place());
  const [kept, plain] = await Promise.all([
    outcomeOf(() => engine.query(withRollups)),
    outcomeOf(() => engine.query(without)),
  ]);
  tally.asked += 1;
  if ('refused' in kept || 'refused' in plain) {
    if (JSON.stringify(kept) !== JSON.stringify(plain))
      throw new Error(`${JSON.stringify(kept)}\n${JSON.stringify(plain)}`);
    const reason = 'refused' in kept ? kept.refused : '';
    tally.refused.set(reason, (tally.refused.get(reason) ?? 0) + 1);
    return;
  }
  const failed = lines.find(({ message }) => message.includes('rollup'));
  if (failed !== undefined)
    throw new Error(JSON.stringify(failed, (_, item) => (item instanceof Error ? String(item) : item)));
  if (one.isDownload) await assertSameRows(engine, withRollups, without);
  const { asOf, ...answer }: MetricAnswer = kept.answer;
  if (plain.answer.asOf !== undefined) throw new Error('a question without rollups was answered by one');
  assertSameAnswer('the rollup has another answer than the source', answer, plain.answer);
  if (asOf === undefined) return;
  tally.kept += 1;
  if (answer.rows.length > 1) tally.several += 1;
  if (one.conditions.length > 0) tally.restricted += 1;
};
