/**
 * The core of the editor: every definition that a sequence of actions can reach passes the schema of the service, and
 * is run by the engine unless the core said beforehand that it may not.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chartTypes } from '../../src/model/dashboard/chart.js';
import { definitionFaults } from '../../src/model/dashboard/definition.js';
import { aggregates, type Calculation, type ConditionTree } from '../../src/model/dashboard/metric.js';
import { definitionTypeFaults } from '../../src/model/dashboard/type-faults.js';
import type { ColumnDates } from '../../src/model/datamart/dates.js';
import type { Predicate, Scalar } from '../../src/model/filter/filter.js';
import { guestFields } from '../../src/model/guest/fields.js';
import { guestFaults, type NewGuestDefinition } from '../../src/model/guest/metric.js';
import { Refusal } from '../../src/model/refusal.js';
import { metricDefinition } from '../../src/service/dashboards/contract/export.js';
import { newGuestDefinition } from '../../src/service/guest/contract/definition.js';
import { searchFields } from '../../src/web/editor/catalogue.js';
import { cautionsOf } from '../../src/web/editor/cautions.js';
import { chartFits, chartNeed, suggestedChart } from '../../src/web/editor/charts.js';
import { type Draft, type Drafted, definitionOf, draftOf, emptyDraft, wholeOf } from '../../src/web/editor/draft.js';
import { type Action, edit, type Grouping, refusalOf, type Shelf } from '../../src/web/editor/edit.js';
import { changed, historyOf, redone, undone } from '../../src/web/editor/history.js';
import {
  columnRef,
  createFolder,
  createLoggedEngine,
  datamart,
  question,
  relationship,
  table,
} from '../engine/world.js';

const numRuns = Number(process.env.EDITOR_CASES ?? 500);
const seed = 20_261_123;

const kinds = {
  id: 'BIGINT',
  client: 'VARCHAR',
  shop: 'INTEGER',
  amount: 'DECIMAL(12,2)',
  weight: 'DOUBLE',
  sold: 'TIMESTAMP',
  day: 'DATE',
  paid: 'BOOLEAN',
  code: 'UUID',
  size: "ENUM('small', 'large')",
  note: 'JSON',
  tags: 'VARCHAR[]',
};
const sales = table('sales', kinds, 'client');
const doubled = {
  columnName: 'doubled',
  datatype: '',
  alias: '',
  label: 'Doubled',
  isHide: false,
  isApplyTimezone: false,
};
const shops = table('shops', { id: 'INTEGER', name: 'VARCHAR', region: 'INTEGER', secret: 'VARCHAR' });
const mart = datamart({
  tables: [
    {
      ...sales,
      label: 'Receipts',
      columns: [
        ...sales.columns,
        { ...doubled, isCustomColumn: true, sql: 'amount * 2' },
        { ...doubled, columnName: 'mean', label: 'Mean', isCustomColumn: true, isAggregate: true, sql: 'avg(amount)' },
      ],
    },
    { ...shops, columns: shops.columns.map((column) => ({ ...column, isHide: column.columnName === 'secret' })) },
    table('regions', { id: 'INTEGER', name: 'VARCHAR' }),
    table('visits', { client: 'VARCHAR', day: 'DATE', seen: 'INTEGER' }, 'client'),
    table('loose', { x: 'INTEGER' }),
  ],
  relationships: [relationship('sales.shop', 'shops.id'), relationship('shops.region', 'regions.id')],
  sharedTables: ['shops', 'regions'],
});
const statements = [
  `CREATE TABLE sales (${Object.entries(kinds)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')})`,
  `INSERT INTO sales SELECT i, CASE WHEN i % 3 = 0 THEN 'b' ELSE 'a' END, i % 4, i * 1.5, i / 7.0,
    TIMESTAMP '2024-01-01' + INTERVAL (i) DAY, DATE '2024-01-01' + CAST(i AS INTEGER), i % 2 = 0, uuid(),
    CASE WHEN i % 2 = 0 THEN 'small' ELSE 'large' END, '{"a": 1}', ['x'] FROM range(60) t(i)`,
  'CREATE TABLE shops (id INTEGER, name VARCHAR, region INTEGER, secret VARCHAR)',
  "INSERT INTO shops VALUES (0, 'North 1', 1, 's'), (1, 'North 2', 1, 's'), (2, 'South', 2, 's')",
  'CREATE TABLE regions (id INTEGER, name VARCHAR)',
  "INSERT INTO regions VALUES (1, 'north'), (2, 'south')",
  'CREATE TABLE visits (client VARCHAR, day DATE, seen INTEGER)',
  "INSERT INTO visits VALUES ('a', '2024-01-02', 3), ('b', '2024-01-03', 4)",
  'CREATE TABLE loose (x INTEGER)',
];
const catalogue = guestFields(
  { datamart: mart, isReadable: ({ tableName }) => tableName !== 'loose', joinModel: 'multi', conditions: [] },
  undefined,
);

const folder = await createFolder();
const { engine } = createLoggedEngine();
let path = '';
beforeAll(async () => {
  path = await folder.build('editor', statements);
});
afterAll(async () => {
  await engine.close();
  await folder.remove();
});

const listed = catalogue.tables.flatMap(({ tableName, fields }) =>
  fields.map(({ columnName }) => columnRef(`${tableName}.${columnName}`)),
);
const aColumn = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...listed) },
  { weight: 1, arbitrary: fc.constantFrom(columnRef('shops.secret'), columnRef('loose.x'), columnRef('no.where')) },
);
const aValue: fc.Arbitrary<Scalar> = fc.oneof(
  fc.constantFrom<Scalar>(
    'small',
    '2024-01-31',
    '2024-02-30',
    '2024-03-05T10:00',
    true,
    0,
    12.5,
    -3,
    1e21,
    2 ** 31,
    '',
  ),
  fc.constantFrom<Scalar>('00000000-0000-4000-8000-000000000000', '\0', '\ud800', 'Ünï %_\\'),
  fc.string({ maxLength: 5 }),
  fc.double({ noNaN: true }),
);
const aPredicate: fc.Arbitrary<Predicate> = fc.oneof(
  fc.record({ kind: fc.constantFrom('oneOf' as const, 'noneOf' as const), values: fc.array(aValue, { maxLength: 3 }) }),
  fc.record({ kind: fc.constant('compare' as const), operator: fc.constantFrom('=', '<>', '<', '>='), value: aValue }),
  fc.record({
    ...{ kind: fc.constant('range' as const), from: fc.option(aValue), to: fc.option(aValue) },
    toIsExclusive: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('like' as const), pattern: fc.string({ maxLength: 4 }) }),
  fc.constantFrom<Predicate>({ kind: 'isNull' }, { kind: 'isNotNull' }),
  fc.record({ kind: fc.constant('relative' as const), period: fc.constantFrom('Last 30 Days', 'Next Week', 'soon') }),
) as fc.Arbitrary<Predicate>;
const groupings: readonly Grouping[] = [
  ...[{}, {}, {}, { bucketWidth: 10 }, { bucketWidth: 0.25 }, { bucketWidth: -1 }, { bucketWidth: 1e-30 }],
  ...[{ bucketCount: 5 }, { bucketCount: 0 }, { bucketCount: 3, bucketWidth: 3 }],
  ...(['day', 'year', 'hourOfDay', 'minute'] as const).map((grain) => ({ grain })),
  { bucketCount: 3, grain: 'day' },
];
const aGrouping = fc.constantFrom(...groupings);
const aName = fc.oneof(fc.constantFrom('Total', 'total', 'Rows', '', ' ', 'x'.repeat(300), '\u0007'), fc.string());
const at = fc.nat(4);
const shelf = fc.constantFrom<Shelf>('dimensions', 'drillPath', 'measures', 'calculations', 'filters', 'having');
const conditionShelf = fc.constantFrom('filters' as const, 'having' as const);
const percentile = fc.constantFrom(undefined, undefined, 0.25, 1, 2);
const groupShelf = fc.constantFrom('dimensions' as const, 'dimensions' as const, 'drillPath' as const);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** An action; names are those of a draft at the time, chosen by `pick`. */
const likely = {
  measure: fc.record({ kind: fc.constant('addMeasure' as const), column: fc.option(aColumn, { freq: 3 }) }),
  group: fc.record({ kind: fc.constant('addGroup' as const), shelf: groupShelf, column: aColumn }),
};
const likelyFilters: readonly (readonly [string, Predicate])[] = [
  ['sales.amount', { kind: 'range', from: 1.5, to: null, toIsExclusive: false }],
  ['sales.shop', { kind: 'noneOf', values: [3, 2_147_483_647] }],
  ['sales.weight', { kind: 'compare', operator: '<', value: 1e15 }],
  ['sales.sold', { kind: 'range', from: '2024-01-05', to: '2024-02-01T10:00', toIsExclusive: true }],
  ['sales.sold', { kind: 'relative', period: 'Last 30 Days' }],
  ['sales.day', { kind: 'oneOf', values: ['2024-01-05', '2024-01-06T00:00:00'] }],
  ['sales.paid', { kind: 'oneOf', values: [true] }],
  ['sales.code', { kind: 'noneOf', values: ['00000000-0000-4000-8000-000000000000'] }],
  ['sales.size', { kind: 'oneOf', values: ['small', 'none'] }],
  ['sales.note', { kind: 'isNotNull' }],
  ['shops.name', { kind: 'like', pattern: 'North %' }],
  ['regions.name', { kind: 'oneOf', values: ['north'] }],
];
const likelyFilter = fc
  .constantFrom(...likelyFilters)
  .map(([name, predicate]) => ({ kind: 'addFilter' as const, column: columnRef(name), predicate }));

const likelyGroups = fc.constantFrom<Predicate>(
  { kind: 'range', from: 2, to: null, toIsExclusive: false },
  { kind: 'range', from: -5, to: 1_000_000, toIsExclusive: true },
  { kind: 'compare', operator: '>', value: 12.5 },
  { kind: 'noneOf', values: [3, 4] },
  { kind: 'isNotNull' },
);
const anExpression = fc.constantFrom(
  ...['SUM(sales.amount) / COUNT(*)', 'COUNT(*) * 2', 'MAX(sales.weight)', 'SUM(sales.nothing)', 'sales.amount'],
  ...['AVG(', ' ', '', 'x'.repeat(5000), "MIN(sales.client) || 'x'"],
);

const anAction = fc.oneof(
  fc.record({ kind: fc.constant('groupFilter' as const), pick: fc.nat(9), predicate: likelyGroups }),
  fc.record({ kind: fc.constant('groupFilter' as const), pick: fc.nat(9), predicate: aPredicate }),
  fc.record({ kind: fc.constant('changeGroupFilter' as const), at, predicate: fc.oneof(likelyGroups, aPredicate) }),
  fc.record({ kind: fc.constant('join' as const), shelf: conditionShelf, at, isOr: fc.boolean() }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('joinLast' as const), shelf: conditionShelf }) },
  fc.constant({ kind: 'addMeasure' as const, column: columnRef('sales.mean') }),
  likelyFilter,
  fc.record({ kind: fc.constant('groupFilter' as const), pick: fc.nat(1), predicate: likelyGroups }),
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('addExpression' as const),
      expression: anExpression,
      name: optional(aName),
    }),
  },
  fc.record({ kind: fc.constant('changeExpression' as const), at, expression: anExpression }),
  likely.measure,
  likely.group,
  likelyFilter,
  fc.record({
    ...{ kind: fc.constant('addMeasure' as const), column: fc.option(aColumn, { freq: 5 }), percentile },
    ...{ aggregate: optional(fc.constantFrom(...aggregates)), name: optional(aName) },
  }),
  fc.record({ kind: fc.constant('changeMeasure' as const), at, aggregate: fc.constantFrom(...aggregates), percentile }),
  fc.record({
    ...{ kind: fc.constant('addGroup' as const), shelf: groupShelf, column: aColumn },
    ...{ grouping: optional(aGrouping), name: optional(aName) },
  }),
  fc.record({ kind: fc.constant('changeGroup' as const), shelf: groupShelf, at, grouping: aGrouping }),
  fc.record({ kind: fc.constant('addFilter' as const), column: aColumn, predicate: aPredicate }),
  fc.record({ kind: fc.constant('changeFilter' as const), at, predicate: aPredicate }),
  fc.record({ kind: fc.constant('hideMeasure' as const), at, isHidden: fc.boolean() }),
  fc.record({ kind: fc.constant('calculate' as const), pick: fc.nat(9), type: fc.nat(4), name: aName }),
  fc.record({
    kind: fc.constant('compare' as const),
    comparison: fc.option(
      fc.record({
        ...{ column: aColumn, grain: fc.constantFrom('day' as const, 'month' as const, 'year' as const) },
        periods: fc.constantFrom(1, 12, 0, 2000),
      }),
    ),
  }),
  fc.record({ kind: fc.constant('remove' as const), shelf, at }),
  fc.record({ kind: fc.constant('move' as const), shelf, at, to: at }),
  fc.record({ kind: fc.constant('renameAt' as const), pick: fc.nat(9), to: aName }),
  fc.record({ kind: fc.constant('chooseChart' as const), type: fc.constantFrom(...chartTypes) }),
  fc.record({
    kind: fc.constant('formatNumbers' as const),
    numbers: fc.constantFrom(
      {},
      { format: 'percent' as const },
      { currency: 'EUR' },
      { currency: 'eur' },
      { decimals: 2 },
      { decimals: 9 },
      { unit: ' ' },
    ),
  }),
  fc.record({ kind: fc.constant('sortAt' as const), pick: fc.nat(9), direction: fc.constantFrom('ASC', 'DESC') }),
  fc.record({
    kind: fc.constant('formatDatesAt' as const),
    pick: fc.nat(9),
    dates: fc.constantFrom<ColumnDates>(
      {},
      { style: 'short' },
      { precision: 'day' },
      { style: 'full', precision: 'year' },
    ),
  }),
  fc.record({ kind: fc.constant('limit' as const), rows: fc.constantFrom(null, 1, 10_000, 0, 10_001, 1.5) }),
  fc.record({ kind: fc.constant('chooseTable' as const), table: aColumn }),
);
type Step = typeof anAction extends fc.Arbitrary<infer T> ? T : never;

const calculationOf = (draft: Draft, type: number, pick: number, name: string): Calculation => {
  const of = draft.measures[pick % Math.max(1, draft.measures.length)]?.name ?? 'none';
  const along = draft.dimensions[pick % Math.max(1, draft.dimensions.length)]?.name ?? 'none';
  const last = { kind: 'previousPeriod', name, of, along } as const;
  return (
    [
      { kind: 'shareOfTotal', name, of } as const,
      { kind: 'shareOfTotal', name, of, within: [along] } as const,
      { kind: 'runningTotal', name, of, along } as const,
      last,
    ][type] ?? { ...last, periods: pick * 10, result: 'relativeChange' }
  );
};

const actionOf = (draft: Draft, step: Step): Action => {
  const names = [...draft.dimensions, ...draft.measures, ...draft.calculations, ...draft.drillPath].map(
    (one) => one.name,
  );
  const name = (pick: number): string => names[pick % Math.max(1, names.length)] ?? 'none';
  if (step.kind === 'calculate')
    return { kind: 'addCalculation', calculation: calculationOf(draft, step.type, step.pick, step.name) };
  if (step.kind === 'groupFilter') {
    const { predicate } = step;
    const measure = draft.measures[step.pick % Math.max(1, draft.measures.length)]?.name ?? 'none';
    return { kind: 'addGroupFilter', measure, predicate };
  }
  if (step.kind === 'joinLast') {
    return { kind: 'join', shelf: step.shelf, at: draft[step.shelf].length - 1, isOr: true };
  }
  if (step.kind === 'renameAt') return { kind: 'rename', from: name(step.pick), to: step.to };
  if (step.kind === 'formatDatesAt') return { kind: 'formatDates', name: name(step.pick), dates: step.dates };
  if (step.kind === 'sortAt')
    return { kind: 'sort', name: name(step.pick), direction: step.direction as 'ASC' | 'DESC' };
  return step as Action;
};

const moment = { now: new Date('2024-04-20T12:00:00Z'), timezone: null };

/** The faults that the service finds: those for guests, who send no expressions, else those for the host. */
const faultsOf = (parts: Drafted): readonly string[] => {
  const isForGuests = newGuestDefinition.safeParse(parts).success;
  expect(isForGuests).toBe(parts.measures.every(({ expression }) => expression === undefined));
  const whole = wholeOf(parts);
  if (!isForGuests) return [...definitionFaults(whole, mart), ...definitionTypeFaults(whole, mart)];
  return guestFaults({ parts: parts as NewGuestDefinition, whole, before: null }, mart, moment).sent;
};

/** Refusals of the engine, by reason. */
const refusalOfEngine = async (draft: Draft): Promise<string | null> => {
  const parts = definitionOf(draft);
  if (parts === undefined) throw new Error('nothing to run');
  try {
    await engine.query(question(path, mart, 'a', wholeOf(parts), { limit: 20, today: '2024-04-20' }));
    return null;
  } catch (error) {
    if (error instanceof Refusal) return `${error.reason}: ${error.message}`;
    throw error;
  }
};

test('every reachable definition passes the schema, and runs or is refused as the core says beforehand', async () => {
  const tally = { ran: 0, warned: 0, refused: 0, still: 0, parts: 0, groups: 0, either: 0, expressions: 0, asItIs: 0 };
  const check = async (draft: Draft): Promise<void> => {
    const parts = definitionOf(draft);
    if (parts === undefined) return;
    const whole = wholeOf(parts);
    // What was saved is edited again as the same draft.
    expect(definitionOf(draftOf(whole))).toEqual(parts);
    expect(metricDefinition.safeParse(whole).error?.issues ?? []).toEqual([]);
    const cautions = cautionsOf(draft, catalogue);
    const faults = faultsOf(parts);
    expect([faults.length > 0, faults]).toEqual([cautions.some(({ isFault }) => isFault), expect.anything()]);
    if (faults.length > 0) return;
    const refusal = await refusalOfEngine(draft);
    if (cautions.some(({ code }) => code === 'database-decides')) tally.warned += 1;
    else expect(refusal).toBeNull();
    tally[refusal === null ? 'ran' : 'refused'] += 1;
    const { dimensions, measures, filters, calculations, having } = draft;
    tally.parts += dimensions.length + measures.length + filters.length + calculations.length + having.length;
    if (refusal !== null) return;
    tally.groups += having.length;
    tally.either += [...filters, ...having].filter(({ isOr }) => isOr === true).length;
    tally.asItIs += measures.filter(({ aggregate }) => aggregate === 'AGGREGATE').length;
    tally.expressions += measures.filter(({ expression }) => expression !== undefined).length;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(anAction, { minLength: 4, maxLength: 24, size: 'max' }), async (steps) => {
      let draft = emptyDraft;
      for (const step of steps) {
        const action = actionOf(draft, step);
        const next = edit(draft, catalogue, action);
        if (refusalOf(draft, catalogue, action) !== null) {
          expect(next).toBe(draft);
          tally.still += 1;
        }
        draft = next;
      }
      await check(draft);
    }),
    { seed, numRuns },
  );
  if (process.env.EDITOR_TALLY !== undefined) console.info(tally);
  // The cases must reach something, and be refused something.
  expect(tally.ran).toBeGreaterThan(numRuns / 3);
  expect(tally.still).toBeGreaterThan(numRuns);
  expect(tally.parts).toBeGreaterThan(numRuns);
  for (const seen of [tally.groups, tally.either, tally.expressions, tally.asItIs])
    expect(seen).toBeGreaterThan(numRuns / 100);
}, 120_000);

/** Trees that the schema takes: groups at most three deep. */
const aTree = (depth: number): fc.Arbitrary<ConditionTree> => {
  const leaf = fc.nat(5).map(
    (value): ConditionTree => ({
      column: columnRef('sales.shop'),
      predicate: { kind: 'compare', operator: '=', value },
    }),
  );
  if (depth === 0) return leaf;
  const items = fc.array(aTree(depth - 1), { minLength: 1, maxLength: 3 });
  return fc.oneof(
    leaf,
    items.map((all) => ({ all })),
    items.map((any) => ({ any })),
  );
};

const passes = (tree: ConditionTree | undefined, isTrue: (value: unknown) => boolean): boolean => {
  if (tree === undefined) return true;
  if ('predicate' in tree) return tree.predicate.kind === 'compare' && isTrue(tree.predicate.value);
  return 'all' in tree ? tree.all.every((one) => passes(one, isTrue)) : tree.any.some((one) => passes(one, isTrue));
};

test('conditions of any shape mean the same after they were edited, and none is lost beside another', () => {
  const base = { chart: { type: 'table' }, from: { schemaName: 'main', tableName: 'sales' } } as const;
  let deep = 0;
  fc.assert(
    fc.property(aTree(3), fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), (where, truths) => {
      const isTrue = (value: unknown): boolean => truths[Number(value)] === true;
      const draft = draftOf(wholeOf({ ...base, where }));
      const parts = definitionOf(draft);
      expect(passes(parts?.where, isTrue)).toBe(passes(where, isTrue));
      expect(newGuestDefinition.safeParse(parts).success).toBe(true);
      if (draft.kept.where !== undefined) deep += 1;
      const action: Action = {
        ...{ kind: 'addFilter', column: columnRef('sales.shop') },
        predicate: { kind: 'oneOf', values: [1] },
      };
      const refusal = refusalOf(draft, catalogue, action);
      const next = definitionOf(edit(draft, catalogue, action));
      if (refusal !== null) expect([refusal, next]).toEqual(['too-deep', parts]);
      expect(newGuestDefinition.safeParse(next).success).toBe(true);
    }),
    { seed, numRuns: 500 },
  );
  expect(deep).toBeGreaterThan(50);
});

test('a measure is hidden only while something is calculated of it', () => {
  const steps: readonly Action[] = [
    { kind: 'addGroup', shelf: 'dimensions', column: columnRef('sales.sold') },
    { kind: 'addMeasure', column: columnRef('sales.amount'), aggregate: 'SUM', name: 'Total' },
  ];
  const draft = steps.reduce((before, action) => edit(before, catalogue, action), emptyDraft);
  const hide: Action = { kind: 'hideMeasure', at: 0, isHidden: true };
  expect(refusalOf(draft, catalogue, hide)).toBe('needs-calculation');
  const calculation = { kind: 'runningTotal', name: 'So far', of: 'Total', along: draft.dimensions[0]?.name } as const;
  const alone = [{ kind: 'addCalculation', calculation } as const, hide].reduce(
    (before, action) => edit(before, catalogue, action),
    draft,
  );
  expect(alone.measures).toMatchObject([{ name: 'Total', isHidden: true }]);
  expect(edit(alone, catalogue, { kind: 'changeMeasure', at: 0, aggregate: 'AVG' }).measures).toMatchObject([
    { aggregate: 'AVG', isHidden: true },
  ]);
  expect(edit(alone, catalogue, { ...hide, isHidden: false }).measures[0]?.isHidden).toBeUndefined();
  const left = edit(alone, catalogue, { kind: 'remove', shelf: 'calculations', at: 0 });
  expect(left.measures[0]?.isHidden).toBeUndefined();
});

test('dates are grouped by the grain that the model says of their column, else by month', () => {
  const weekly = {
    ...catalogue,
    tables: catalogue.tables.map((one) => ({
      ...one,
      fields: one.fields.map((field) => ({
        ...field,
        ...(field.columnName === 'sold' ? { defaultGrain: 'week' as const } : {}),
      })),
    })),
  };
  const add = (column: string): Action => ({ kind: 'addGroup', shelf: 'dimensions', column: columnRef(column) });
  const draft = [add('sales.sold'), add('sales.day')].reduce(
    (before, action) => edit(before, weekly, action),
    emptyDraft,
  );
  expect(draft.dimensions.map(({ grain }) => grain)).toEqual(['week', 'month']);
});

test('a condition on groups leaves with its measure, and with a type that it does not fit', () => {
  const steps: readonly Action[] = [
    { kind: 'addMeasure', column: columnRef('shops.name'), aggregate: 'MIN' },
    { kind: 'addGroup', shelf: 'dimensions', column: columnRef('sales.paid') },
    { kind: 'addGroupFilter', measure: 'name', predicate: { kind: 'like', pattern: 'N%' } },
    { kind: 'rename', from: 'name', to: 'First' },
  ];
  const draft = steps.reduce((before, action) => edit(before, catalogue, action), emptyDraft);
  expect(draft.having).toMatchObject([{ measure: 'First' }]);
  expect(edit(draft, catalogue, { kind: 'changeMeasure', at: 0, aggregate: 'MAX' }).having).toEqual(draft.having);
  expect(edit(draft, catalogue, { kind: 'changeMeasure', at: 0, aggregate: 'COUNT' }).having).toEqual([]);
  expect(edit(draft, catalogue, { kind: 'remove', shelf: 'measures', at: 0 }).having).toEqual([]);
});

test('a draft that the core finds without fault has a chart that fits, and the others say what they need', () => {
  const column = columnRef('sales.amount');
  const steps: readonly (readonly [Action, string])[] = [
    [{ kind: 'addMeasure', column }, 'singleValue'],
    [{ kind: 'addMeasure', column: null }, 'table'],
    [{ kind: 'remove', shelf: 'measures', at: 1 }, 'singleValue'],
    [{ kind: 'addGroup', shelf: 'dimensions', column: columnRef('shops.name') }, 'bar'],
    [{ kind: 'remove', shelf: 'dimensions', at: 0 }, 'singleValue'],
    [{ kind: 'addGroup', shelf: 'dimensions', column: columnRef('sales.sold') }, 'line'],
    [{ kind: 'addMeasure', column: null }, 'line'],
    [{ kind: 'remove', shelf: 'measures', at: 0 }, 'line'],
    [{ kind: 'remove', shelf: 'dimensions', at: 0 }, 'singleValue'],
    [{ kind: 'addGroup', shelf: 'dimensions', column, grouping: { bucketCount: 8 } }, 'histogram'],
  ];
  const end = steps.reduce((draft, [action, type]) => {
    const next = edit(draft, catalogue, action);
    expect([action.kind, suggestedChart(next, catalogue)]).toEqual([action.kind, type]);
    return next;
  }, emptyDraft);
  const fits = chartFits(end, catalogue);
  expect(fits.map(({ type }) => type).toSorted()).toEqual([...chartTypes].toSorted());
  expect(chartNeed('line', end, catalogue)).toBeNull();
  expect(chartNeed('timeSeries', end, catalogue)).toEqual({ code: 'date-first', count: 1 });
  expect(chartNeed('gauge', end, catalogue)).toEqual({ code: 'fewer-groups', count: 0 });
  expect(chartNeed('bubble', end, catalogue)).toEqual({ code: 'more-measures', count: 3 });
  expect(chartNeed('sankey', end, catalogue)).toEqual({ code: 'more-groups', count: 2 });
  expect(chartFits(emptyDraft, catalogue).every(({ need }) => need !== null)).toBe(true);
});

test('a renamed column keeps its sort, and a removed one takes along what names it', () => {
  const steps: readonly Action[] = [
    { kind: 'addMeasure', column: columnRef('sales.amount') },
    { kind: 'addGroup', shelf: 'dimensions', column: columnRef('sales.sold') },
    { kind: 'addCalculation', calculation: { kind: 'previousPeriod', name: 'Before', of: 'amount', along: 'sold' } },
    { kind: 'sort', name: 'amount', direction: 'DESC' },
    { kind: 'rename', from: 'amount', to: 'Turnover' },
  ];
  const draft = steps.reduce((before, action) => edit(before, catalogue, action), emptyDraft);
  expect(draft.sort).toEqual([{ name: 'Turnover', direction: 'DESC' }]);
  expect(draft.calculations).toEqual([{ kind: 'previousPeriod', name: 'Before', of: 'Turnover', along: 'sold' }]);
  const recurring = edit(draft, catalogue, {
    ...{ kind: 'changeGroup', shelf: 'dimensions', at: 0, grouping: { grain: 'dayOfWeek' } },
  });
  expect(recurring.calculations).toEqual([]);
  const removed = edit(draft, catalogue, { kind: 'remove', shelf: 'measures', at: 0 });
  expect([removed.sort, removed.calculations]).toEqual([[], []]);
  const other: Action = { kind: 'addGroup', shelf: 'dimensions', column: columnRef('visits.day') };
  expect(refusalOf(draft, catalogue, other)).toBe('not-joined');
  expect(edit(emptyDraft, catalogue, other).from).toEqual({ schemaName: 'main', tableName: 'visits' });
});

test('numbers of a measure are written as the model says of its column, and a count is no amount', () => {
  const money = { currency: 'EUR' };
  const priced: typeof catalogue = {
    ...catalogue,
    tables: catalogue.tables.map((one) => ({
      ...one,
      fields: one.fields.map((field) => (field.columnName === 'amount' ? { ...field, numbers: money } : field)),
    })),
  };
  const run = (...actions: readonly Action[]): Draft =>
    actions.reduce((draft, action) => edit(draft, priced, action), emptyDraft);
  const sum: Action = { kind: 'addMeasure', column: columnRef('sales.amount'), aggregate: 'SUM' };
  const become = (aggregate: 'COUNT' | 'AVG'): Action => ({ kind: 'changeMeasure', at: 0, aggregate });
  const written = [{ measure: 'amount', ...money }];
  expect(run(sum).chart.numbers).toEqual(written);
  expect(run(sum, become('COUNT')).chart.numbers).toBeUndefined();
  expect(run(sum, become('COUNT'), become('AVG')).chart.numbers).toEqual(written);
  expect(run({ ...sum, aggregate: 'COUNT' }).chart.numbers).toBeUndefined();
  expect(run({ kind: 'addMeasure', column: columnRef('sales.weight') }).chart.numbers).toBeUndefined();
  // What the author chose for the measure stays.
  const [own] = [{ measure: 'amount', unit: 'kg' }];
  const chosen = { ...run(sum), chart: { type: 'table', numbers: [own] } } as const;
  expect(edit(chosen, priced, become('COUNT')).chart.numbers).toEqual([own]);
  expect(edit(chosen, priced, become('AVG')).chart.numbers).toEqual([own]);
  expect(newGuestDefinition.safeParse(definitionOf(run(sum))).success).toBe(true);
});

test('a sum of amounts of several currencies comes with the group that keeps them apart', () => {
  const priced: typeof catalogue = {
    ...catalogue,
    tables: catalogue.tables.map((one) => ({
      ...one,
      fields: one.fields.map((field) => (field.columnName === 'amount' ? { ...field, currencyColumn: 'size' } : field)),
    })),
  };
  const run = (...actions: readonly Action[]): Draft =>
    actions.reduce((draft, action) => edit(draft, priced, action), emptyDraft);
  const sum: Action = { kind: 'addMeasure', column: columnRef('sales.amount'), aggregate: 'SUM' };
  const group: Action = { kind: 'addGroup', shelf: 'dimensions', column: columnRef('sales.size') };
  const groupsOf = ({ dimensions }: Draft) => dimensions.map(({ column }) => column.columnName);
  const draft = run(sum);
  expect(groupsOf(draft)).toEqual(['size']);
  // One amount for each currency is a single value too.
  expect(chartNeed('singleValue', draft, priced)).toBeNull();
  expect(chartNeed('singleValue', run(group), priced)).not.toBeNull();
  expect(groupsOf(run(group, sum, sum))).toEqual(['size']);
  expect(groupsOf(run({ ...sum, aggregate: 'COUNT' }))).toEqual([]);
  expect(groupsOf(run({ ...sum, aggregate: 'COUNT' }, { kind: 'changeMeasure', at: 0, aggregate: 'AVG' }))).toEqual([
    'size',
  ]);
  const small = { kind: 'oneOf', values: ['small'] } as const;
  expect(groupsOf(run({ kind: 'addFilter', column: columnRef('sales.size'), predicate: small }, sum))).toEqual([]);
  // The author may take the group away: the service then says what is wrong.
  expect(groupsOf(edit(draft, priced, { kind: 'remove', shelf: 'dimensions', at: 0 }))).toEqual([]);
  expect(newGuestDefinition.safeParse(definitionOf(draft)).success).toBe(true);
});

test('dates of a column are written as the model says of it, also after a drill, and a count is no date', () => {
  const dates = { style: 'short', precision: 'day' } as const;
  const dated: typeof catalogue = {
    ...catalogue,
    tables: catalogue.tables.map((one) => ({
      ...one,
      fields: one.fields.map((field) => (field.type === 'date' ? { ...field, dates } : field)),
    })),
  };
  const run = (...actions: readonly Action[]): Draft =>
    actions.reduce((draft, action) => edit(draft, dated, action), emptyDraft);
  const column = columnRef('sales.sold');
  const split: Action = { kind: 'addGroup', shelf: 'dimensions', column };
  const last: Action = { kind: 'addMeasure', column, aggregate: 'MAX', name: 'Last' };
  const written = run(split, last, { kind: 'addGroup', shelf: 'drillPath', column, name: 'Step' });
  expect(written.chart.dates).toEqual(['sold', 'Last', 'Step'].map((name) => ({ name, ...dates })));
  expect(edit(written, dated, { kind: 'rename', from: 'Step', to: 'Day' }).chart.dates?.[2]?.name).toBe('Day');
  expect(edit(written, dated, { kind: 'remove', shelf: 'dimensions', at: 0 }).chart.dates?.[0]?.name).toBe('Last');
  expect(run({ ...last, aggregate: 'COUNT' }).chart.dates).toBeUndefined();
  expect(newGuestDefinition.safeParse(definitionOf(written)).success).toBe(true);
  const own = { ...written, chart: { type: 'table', dates: [{ name: 'Last', style: 'full' }] } } as const;
  expect(edit(own, dated, { kind: 'changeMeasure', at: 0, aggregate: 'MIN' }).chart.dates).toEqual(own.chart.dates);
});

test('undo and redo lead through all states and back', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 1 }), (states) => {
      const all = states.map((state) => ({ state }));
      const start = { state: -1 };
      const done = all.reduce(changed<object>, historyOf<object>(start));
      const back = all.reduce((history) => undone(history), done);
      expect([back.present, undone(back)]).toEqual([start, back]);
      expect(all.reduce((history) => redone(history), back)).toEqual(done);
      expect(changed(back, start)).toBe(back);
      expect(changed(back, { state: 7 }).future).toEqual([]);
    }),
  );
});

test('a search finds fields by name, label, synonym and table, the best first', () => {
  const found = (text: string) =>
    searchFields(catalogue, text).map(({ table: of, field }) => [of.tableName, field.columnName]);
  expect(found('ID').slice(0, 3)).toEqual(['sales', 'shops', 'regions'].map((name) => [name, 'id']));
  expect(found('receipts amou')).toEqual([['sales', 'amount']]);
  expect(found('doub')).toEqual([['sales', 'doubled']]);
  expect(found('secret')).toEqual([]);
  expect(found('')).toHaveLength(listed.length);
});
