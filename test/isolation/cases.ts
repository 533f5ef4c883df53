/**
 * Random questions as data that fast-check can shrink: datamarts over the tables of the data set, and metrics over the
 * datamarts.
 */
import fc from 'fast-check';
import type { Aggregate, TimeGrain } from '../../src/model/dashboard/metric.js';
import type { JoinKind } from '../../src/model/datamart/datamart.js';
import { parentOf, type TableName, type Tenant, tableNames, tenants } from './dataset.js';

export type ColumnName =
  | 'id'
  | 'ref'
  | 'code'
  | 'label'
  | 'amount'
  | 'price'
  | 'weight'
  | 'flag'
  | 'day'
  | 'at'
  | 'stamp'
  | 'moment'
  | 'tenant';
/** A column, by the position of its table in the datamart. */
export type AColumn = { readonly table: number; readonly column: ColumnName };

export type ATest = AColumn & { readonly choice: number; readonly predicate: PredicateKind };
export type ATree = ATest | { readonly all: readonly ATree[] } | { readonly any: readonly ATree[] };
export type PredicateKind = (typeof predicateKinds)[number];
const predicateKinds = [
  '=',
  '<>',
  '<',
  '<=',
  '>',
  '>=',
  'oneOf',
  'noneOf',
  'range',
  'openRange',
  'relative',
  'like',
  'isNull',
  'isNotNull',
] as const;

/** A test of a measure, by the measure's position. */
export type AHavingTest = { readonly of: number; readonly predicate: PredicateKind; readonly choice: number };
export type AHaving = AHavingTest | { readonly all: readonly AHaving[] } | { readonly any: readonly AHaving[] };
export type ACalculation = {
  readonly kind: 'shareOfTotal' | 'runningTotal' | 'previousPeriod';
  readonly of: number;
  readonly along: number;
  readonly isPlain: boolean;
  readonly periods: number;
  readonly result: 'value' | 'change' | 'relativeChange';
};

export type AnEdge = {
  /** Position of the earlier table that this one is joined to. */
  readonly to: number;
  readonly pair: number;
  readonly join: JoinKind | null;
  readonly isFlipped: boolean;
  /** Selects one of the cardinalities that are true for the data. */
  readonly cardinality: number;
};

export type ACase = {
  readonly tenant: Tenant;
  readonly isNumber: boolean;
  /** Tables without a client column. Their rows belong to the client of their parent rows. */
  readonly derived: readonly TableName[];
  readonly tables: readonly TableName[];
  readonly edges: readonly AnEdge[];
  /**
   * `none`: a correct datamart. `loop`: a second path to a table. `gap`: no path. `untrue`: every relationship says
   * OneToOne. `keys`: correct, and the table of clients is related by the keys of the tables with a client column alone.
   */
  readonly flaw: 'none' | 'loop' | 'gap' | 'untrue' | 'wild' | 'keys';
  readonly from: number;
  readonly dimensions: readonly (AColumn & {
    readonly grain: TimeGrain;
    readonly isGrained: boolean;
    readonly bucket: number | null;
    /** Whether the bucket is given as a number of buckets. */
    readonly isCounted: boolean;
  })[];
  readonly measures: readonly (AColumn & {
    readonly aggregate: Aggregate;
    readonly isOfRows: boolean;
    readonly indicator: ATest | null;
    readonly share: number;
  })[];
  readonly where: ATree | null;
  readonly conditions: readonly ATest[];
  readonly having: AHaving | null;
  readonly calculations: readonly ACalculation[];
  readonly sorts: readonly { readonly of: number; readonly direction: 'ASC' | 'DESC' }[];
  readonly isSortAsked: boolean;
  readonly cap: number | null;
  /** Whether all but the greatest groups are combined. */
  readonly isOthers: boolean;
  readonly limit: number | null;
  readonly offset: number;
  readonly timezone: string | null;
  readonly isWorksheet: boolean;
  readonly ask: 'answer' | 'underlying' | 'options';
  readonly underlying: readonly AColumn[];
  readonly option: AColumn;
  readonly search: string | null;
  /** Whether the question is repeated after more rows of other tenants were added to the shared database. */
  readonly isGrown: boolean;
};

const joins: readonly (JoinKind | null)[] = ['INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', null];
const columnNames: readonly ColumnName[] = [
  'id',
  'ref',
  'code',
  'label',
  'amount',
  'price',
  'weight',
  'flag',
  'day',
  'at',
  'stamp',
  'moment',
  'tenant',
];
const grains: readonly TimeGrain[] = [
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
  'hourOfDay',
  'dayOfWeek',
];
export const zones = [null, 'UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata'] as const;

/** Positions of tables. Earlier tables are chosen more often, since a metric rarely names all tables. */
const place = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.constant(1) },
  { weight: 2, arbitrary: fc.nat(5) },
);
const aColumn = fc.record({ table: place, column: fc.constantFrom(...columnNames) });
const aTest: fc.Arbitrary<ATest> = fc.record({
  table: fc.nat(5),
  column: fc.constantFrom(...columnNames),
  predicate: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...predicateKinds) },
    { weight: 1, arbitrary: fc.constantFrom<PredicateKind>('<>', '<=', '>=', 'noneOf', 'openRange', 'isNotNull') },
  ),
  choice: fc.nat(1000),
});
const { tree } = fc.letrec<{ tree: ATree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    aTest,
    fc.record({ all: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }) }),
  ),
}));
const aHavingTest: fc.Arbitrary<AHavingTest> = fc.record({
  of: fc.nat(3),
  predicate: fc.constantFrom<PredicateKind>('<>', '<', '<=', '>', '>=', 'noneOf', 'openRange', 'isNotNull', '='),
  choice: fc.nat(1000),
});
const { aHaving } = fc.letrec<{ aHaving: AHaving }>((tie) => ({
  aHaving: fc.oneof(
    { maxDepth: 1, withCrossShrink: true },
    aHavingTest,
    fc.record({ all: fc.array(tie('aHaving'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ any: fc.array(tie('aHaving'), { minLength: 1, maxLength: 3 }) }),
  ),
}));
const aCalculation: fc.Arbitrary<ACalculation> = fc.record({
  kind: fc.constantFrom('shareOfTotal' as const, 'runningTotal' as const, 'previousPeriod' as const),
  of: fc.nat(3),
  along: fc.nat(2),
  isPlain: fc.boolean(),
  periods: fc.integer({ min: 1, max: 3 }),
  result: fc.constantFrom('value' as const, 'change' as const, 'relativeChange' as const),
});
export const anEdge: fc.Arbitrary<AnEdge> = fc.record({
  to: fc.nat(4),
  pair: fc.nat(20),
  join: fc.constantFrom(...joins),
  isFlipped: fc.boolean(),
  cardinality: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(4) }),
});

/** Usually one or more items, sometimes none. */
const few = <T>(item: fc.Arbitrary<T>, maxLength: number): fc.Arbitrary<readonly T[]> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.array(item, { minLength: 1, maxLength }) },
    { weight: 1, arbitrary: fc.constant<readonly T[]>([]) },
  );

const aDrawnCase: fc.Arbitrary<ACase> = fc.record({
  tenant: fc.constantFrom(...tenants),
  isNumber: fc.boolean(),
  derived: fc.constantFrom<readonly TableName[]>([], ['lines'], ['visits'], ['lines', 'visits']),
  tables: fc.shuffledSubarray([...tableNames], { minLength: 1 }),
  edges: fc.array(anEdge, { minLength: 5, maxLength: 5 }),
  flaw: fc.oneof(
    { weight: 75, arbitrary: fc.constant('none' as const) },
    { weight: 10, arbitrary: fc.constant('keys' as const) },
    { weight: 15, arbitrary: fc.constantFrom('loop' as const, 'gap' as const, 'untrue' as const, 'wild' as const) },
  ),
  from: fc.nat(5),
  dimensions: few(
    fc.record({
      table: place,
      column: fc.constantFrom(...columnNames),
      grain: fc.constantFrom(...grains),
      isGrained: fc.boolean(),
      bucket: fc.option(fc.constantFrom(0.5, 2.5, 5, 10), { freq: 2 }),
      isCounted: fc.boolean(),
    }),
    3,
  ),
  measures: fc.array(
    fc.record({
      table: place,
      column: fc.constantFrom(...columnNames),
      aggregate: fc.constantFrom<Aggregate>(
        'SUM',
        'AVG',
        'MIN',
        'MAX',
        'COUNT',
        'COUNT_DISTINCT',
        'MEDIAN',
        'PERCENTILE',
      ),
      isOfRows: fc.boolean(),
      indicator: fc.option(aTest, { freq: 3 }),
      share: fc.constantFrom(0, 0.1, 0.25, 0.5, 0.75, 1),
    }),
    { maxLength: 4 },
  ),
  where: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: tree }),
  conditions: fc.oneof(
    { weight: 3, arbitrary: fc.constant<readonly ATest[]>([]) },
    { weight: 2, arbitrary: fc.array(aTest, { minLength: 1, maxLength: 3 }) },
    // Both conditions are on one table: one row must meet both.
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.nat(5), fc.array(aTest, { minLength: 2, maxLength: 3 }))
        .map(([table, tests]) => tests.map((test) => ({ ...test, table }))),
    },
  ),
  having: fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: aHaving }),
  calculations: fc.oneof(
    { weight: 2, arbitrary: fc.constant<readonly ACalculation[]>([]) },
    { weight: 1, arbitrary: fc.array(aCalculation, { minLength: 1, maxLength: 2 }) },
  ),
  sorts: fc.array(fc.record({ of: fc.nat(6), direction: fc.constantFrom('ASC' as const, 'DESC' as const) }), {
    maxLength: 2,
  }),
  isSortAsked: fc.boolean(),
  cap: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(8) }),
  isOthers: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  limit: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(8) }),
  offset: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(4) }),
  timezone: fc.constantFrom(...zones),
  isWorksheet: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  ask: fc.constantFrom(
    'answer' as const,
    'answer' as const,
    'answer' as const,
    'underlying' as const,
    'options' as const,
  ),
  underlying: fc.array(aColumn, { minLength: 1, maxLength: 4 }),
  option: aColumn,
  search: fc.option(fc.constantFrom('e', 'RED', '1', '%', '_', '\\', "'"), { freq: 2 }),
  isGrown: fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

/** Adds the tables through which the derived tables get their client, each before the table that needs it. */
export const withParentTables = (drawn: readonly TableName[], derived: readonly TableName[]): readonly TableName[] => {
  const tables: TableName[] = [];
  const add = (name: TableName): void => {
    const parent = parentOf[name];
    if (parent !== undefined && derived.includes(name)) add(parent);
    if (!tables.includes(name)) tables.push(name);
  };
  for (const name of drawn) add(name);
  return tables;
};

export const aCase: fc.Arbitrary<ACase> = aDrawnCase.map((drawn) => ({
  ...drawn,
  tables: withParentTables(drawn.tables, drawn.derived),
}));
