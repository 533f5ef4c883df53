/**
 * Whether a rollup answers a question, and the plan that does. It looks at the plan that the source would run, in the
 * tenant's scope and with every condition: whatever it does not know is a reason to ask the source.
 */
import { sql } from 'kysely';
import type { TimeGrain } from '../../model/dashboard/metric.js';
import { sameTable, type TableRef } from '../../model/datamart/datamart.js';
import { type Column, nameInLeaf, type TenantPredicate } from '../dialect/dialect.js';
import { decimalOfCast, type SqlType, unboundedDecimal } from '../dialect/sql-type.js';
import type {
  Aggregated,
  Calculated,
  Dimensional,
  Expression,
  Field,
  Having,
  Leaf,
  LeafTest,
  OutputColumn,
  Plan,
  TenantScopedLeaf,
  TenantScopedPlan,
  Test,
  Where,
} from '../plan/plan.js';
import type { BoundPredicate } from '../plan/values.js';
import { columnPredicateSql } from '../sql/predicates.js';
import { keptColumn, type Layout, type RollupColumn, widestDecimal } from './layout.js';
import { spanOf, type TimeSpan } from './time-span.js';

/** The source answers. `why` is for tests and names no value. */
export class Misfit extends Error {
  override readonly name = 'Misfit';
}

const misfit = (why: string): never => {
  throw new Misfit(why);
};

export type Asked = {
  readonly scoped: TenantScopedPlan;
  /** The tables that the metric reads without their base filters. */
  readonly unfiltered: readonly TableRef[];
};

export type RollupPlan = { readonly plan: Plan; readonly span: TimeSpan };

/** The plan over the rollup's columns. Throws Misfit. */
export const planOverRollup = ({ scoped, unfiltered }: Asked, layout: Layout): RollupPlan => {
  const leaf = onlyLeaf(scoped, unfiltered, layout);
  const columns = createColumns(leaf, layout);
  for (const name of tenantColumns(leaf.tenant)) columns.ofTenant(name);
  const { tests, where, output, having, order, page, top } = scoped;
  if (output.kind !== 'group' || output.search !== null) misfit('rows or options');
  const outputOf = (column: OutputColumn): OutputColumn => ({
    ...column,
    expression: expressionOver(column.expression, columns),
  });
  assertHaving(having, output.columns);
  const ownTests = (leaf.tests ?? []).map((test) => leafTest(test, columns));
  const rewritten = tests.map((test) => testOf(test, columns));
  const plan: Plan = {
    leaves: [{ table: layout.rollup.from, isMarked: false, ...(ownTests.length === 0 ? {} : { tests: ownTests }) }],
    ...{ joins: [], semiJoins: [], tests: rewritten },
    where: where === null ? null : whereOf(where, columns),
    output: { ...output, columns: output.columns.map(outputOf) },
    ...{ having, order, page },
    ...(top === undefined ? {} : { top: { ...top, columns: top.columns.map(outputOf) } }),
  };
  return { plan, span: spanOf([...tests, ...conditionsOf(leaf)], layout) };
};

/** The one leaf, which reads nothing but stored columns of the rollup's table. */
const onlyLeaf = (
  { leaves, joins, semiJoins }: TenantScopedPlan,
  unfiltered: readonly TableRef[],
  { rollup: { from } }: Layout,
): TenantScopedLeaf => {
  const [leaf, ...others] = leaves;
  if (leaf === undefined || others.length > 0 || joins.length > 0 || semiJoins.length > 0) return misfit('joins');
  if (!sameTable(leaf.table, from)) misfit('another table');
  if (unfiltered.some((table) => sameTable(table, from))) misfit('without base filters');
  if (leaf.isBarrier === true || leaf.isStored === true || leaf.isNamedBySql === true) misfit('read by SQL');
  if (leaf.isMarked || leaf.isNumbered === true || leaf.name !== undefined) misfit('a marked leaf');
  if ((leaf.computed ?? []).length > 0 || (leaf.testsBeneath ?? []).length > 0) misfit('custom columns');
  return leaf;
};

const tenantColumns = (tenant: TenantPredicate | null): readonly string[] => {
  if (tenant === null) return [];
  switch (tenant.kind) {
    case 'column':
      return [tenant.columnName];
    case 'all':
      return tenant.items.flatMap(tenantColumns);
    default:
      return misfit('a derived owner');
  }
};

const isSameType = (one: SqlType, other: SqlType | undefined): boolean =>
  one.kind === other?.kind && one.cast === other.cast && one.readAs === other.readAs && one.scaled === other.scaled;

type Columns = {
  /** A column that the rollup groups by. */
  readonly group: (column: Column) => Column;
  /** The rollup's time, if the column is it; else undefined. */
  readonly time: (column: Column) => Column | undefined;
  readonly measure: (role: 'sum' | 'count' | 'min' | 'max', column: Column) => Column;
  readonly rows: () => Column;
  /** Whether the rollup has such a measure. */
  readonly isKept: (role: RollupColumn['role'], column: Column) => boolean;
  readonly ofTenant: (name: string) => void;
  readonly layout: Layout;
};

const createColumns = ({ ruled }: TenantScopedLeaf, layout: Layout): Columns => {
  const { columns, source, rollup } = layout;
  /** Checks that the question reads the column as it was read when the rollup was built. */
  const named = ({ ref, type, zone, stored }: Column): string => {
    if (!sameTable(ref, rollup.from)) misfit('a column of another table');
    if (stored !== undefined || ruled.some(({ columnName }) => columnName === ref.columnName)) misfit('a ruled column');
    if (!isSameType(type, source.get(ref.columnName))) misfit('another type');
    if (zone !== (type.kind === 'instant' ? 'UTC' : null)) misfit('another zone');
    return ref.columnName;
  };
  const find = (name: string, roles: readonly RollupColumn['role'][]): RollupColumn =>
    columns.find((one) => one.of === name && roles.includes(one.role)) ?? misfit('a column that is not kept');
  return {
    layout,
    group: (column) => keptColumn(layout, find(named(column), ['client', 'dimension'])),
    time: (column) =>
      named(column) === rollup.partition.column ? keptColumn(layout, find(named(column), ['time'])) : undefined,
    measure: (role, column) => keptColumn(layout, find(named(column), [role])),
    rows: () => {
      const rows = columns.find(({ role }) => role === 'rows') ?? misfit('no rows');
      return keptColumn(layout, rows);
    },
    isKept: (role, { ref }) => columns.some((one) => one.role === role && one.of === ref.columnName),
    ofTenant: (name) => void find(name, ['client', 'dimension']),
  };
};

const fieldOf = (column: Column): Field => ({ leaf: 0, column });

/** The grains that can be made of the kept one. */
const coarser: Readonly<Record<Layout['rollup']['grain'], ReadonlySet<TimeGrain>>> = {
  hour: new Set(['hour', 'day', 'week', 'month', 'quarter', 'year', 'hourOfDay', 'dayOfWeek']),
  day: new Set(['day', 'week', 'month', 'quarter', 'year', 'dayOfWeek']),
  month: new Set(['month', 'quarter', 'year']),
};

const dimensionOver = (expression: Dimensional, columns: Columns): Dimensional => {
  const { field } = expression;
  const { isTimeExact, rollup } = columns.layout;
  const time = columns.time(field.column);
  if (time === undefined) {
    if (expression.kind === 'bucket' && field.column.type.kind !== 'integer') misfit('buckets of no whole numbers');
    return { ...expression, field: fieldOf(columns.group(field.column)) };
  }
  if (expression.kind === 'grain')
    return coarser[rollup.grain].has(expression.grain)
      ? { ...expression, field: fieldOf(time) }
      : misfit('a finer time');
  return expression.kind === 'field' && isTimeExact ? { ...expression, field: fieldOf(time) } : misfit('a time');
};

const written = (...template: readonly (string | Field)[]): Aggregated => ({
  ...{ kind: 'custom', template, readCast: null, once: null },
});

/** A sum of numbers of rows, which is 0 where there are none. */
const counted = (column: Column): Aggregated => written('CAST(coalesce(sum(', fieldOf(column), '), 0) AS BIGINT)');

/** A column that the rollup groups by, with its own values. */
const exactOver = (column: Column, columns: Columns): Field => {
  const time = columns.time(column);
  if (time === undefined) return fieldOf(columns.group(column));
  return columns.layout.isTimeExact ? fieldOf(time) : misfit('an inexact time');
};

const isGroup = ({ ref }: Column, { layout }: Columns): boolean =>
  layout.columns.some(({ of, role }) => of === ref.columnName && ['client', 'dimension', 'time'].includes(role));

const ordered: ReadonlySet<SqlType['kind']> = new Set(['integer', 'decimal', 'date', 'timestamp', 'instant']);

type Measured = Extract<Aggregated, { kind: 'aggregate' }>;

const extremeOver = (expression: Measured, role: 'min' | 'max', columns: Columns): Aggregated => {
  const { column } = expression.field;
  if (!ordered.has(column.type.kind)) misfit('an order of texts');
  if (columns.isKept(role, column)) return { ...expression, field: fieldOf(columns.measure(role, column)) };
  return isGroup(column, columns) ? { ...expression, field: exactOver(column, columns) } : misfit('a measure');
};

/** Exact up to the final division, as at the source. Texts of decimals become the nearest float; decimals may not. */
const averageOf = (sum: Column, count: Column, isWhole: boolean, { averagesUnits }: Layout): Aggregated => {
  const counted = ['CAST(sum(', fieldOf(count), ') AS DOUBLE)'];
  if (isWhole) return written('CAST(CAST(sum(', fieldOf(sum), ') AS HUGEINT) AS DOUBLE) / ', ...counted);
  if (!averagesUnits) return written('CAST(CAST(sum(', fieldOf(sum), ') AS VARCHAR) AS DOUBLE) / ', ...counted);
  const units = `1e${decimalOfCast(sum.type.cast)?.scale ?? 0}`;
  const summed = ['CAST(CAST(replace(CAST(sum(', fieldOf(sum), ") AS VARCHAR), '.', '') AS HUGEINT) AS DOUBLE)"];
  return written(...summed, ` / (`, ...counted, ` * ${units})`);
};

const measureOver = (expression: Measured, columns: Columns): Aggregated => {
  const { aggregate, field, indicator, among, fraction, once } = expression;
  if (indicator !== null || among !== null || fraction !== null || once !== null) misfit('a measure of some rows');
  const { column } = field;
  const isWhole = column.type.kind === 'integer';
  const kept = (role: 'sum' | 'count'): Field => fieldOf(columns.measure(role, column));
  switch (aggregate) {
    case 'SUM':
      return isWhole ? written('CAST(sum(', kept('sum'), ') AS HUGEINT)') : written('sum(', kept('sum'), ')');
    case 'AVG':
      return averageOf(columns.measure('sum', column), columns.measure('count', column), isWhole, columns.layout);
    case 'COUNT':
      return counted(columns.measure('count', column));
    case 'MIN':
      return extremeOver(expression, 'min', columns);
    case 'MAX':
      return extremeOver(expression, 'max', columns);
    case 'COUNT_DISTINCT':
      return { ...expression, field: exactOver(column, columns) };
    default:
      return misfit('a measure that does not add up');
  }
};

const expressionOver = (expression: Expression, columns: Columns): Expression => {
  switch (expression.kind) {
    case 'field':
    case 'grain':
    case 'bucket':
      return dimensionOver(expression, columns);
    case 'top':
    case 'isOther':
      return { ...expression, of: dimensionOver(expression.of, columns) };
    case 'rowCount':
      if (expression.leaf !== 0 || expression.once !== null) misfit('rows that count once');
      return counted(columns.rows());
    case 'aggregate':
      return measureOver(expression, columns);
    case 'share':
    case 'runningTotal':
    case 'previous':
      return expression satisfies Calculated;
    default:
      return misfit('an expression');
  }
};

const known: ReadonlySet<BoundPredicate['kind']> = new Set([
  ...(['oneOf', 'noneOf', 'compare', 'range', 'recurring', 'isNull', 'isNotNull'] as const),
]);

type Condition = { readonly column: Column; readonly predicate: BoundPredicate };

const castsOf = (predicate: BoundPredicate): readonly string[] => {
  switch (predicate.kind) {
    case 'oneOf':
    case 'noneOf':
      return [predicate.cast];
    case 'compare':
      return [predicate.value.cast];
    case 'range':
      return [predicate.from, predicate.to].flatMap((end) => end?.cast ?? []);
    default:
      return [];
  }
};

/** DuckDB would round a number without stated digits. */
const isHeld = (cast: string): boolean =>
  cast !== unboundedDecimal && (decimalOfCast(cast)?.width ?? 0) <= widestDecimal;

/** The column of the rollup on which the condition passes for the same rows. */
const conditionColumn = ({ column, predicate }: Condition, columns: Columns): Column => {
  if (!known.has(predicate.kind)) misfit('a condition that the file may read otherwise');
  if (!castsOf(predicate).every(isHeld)) misfit('a number of more digits than the file compares');
  const time = columns.time(column);
  if (time === undefined) return columns.group(column);
  return columns.layout.isTimeExact || isAligned(predicate, columns.layout.rollup.grain)
    ? time
    : misfit('a time within a period');
};

const momentPattern = /^[0-9]{4}-[0-9]{2}-([0-9]{2})(?: ([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?)?$/;

/** Whether a period of the grain begins there. */
const isStart = (text: string, grain: Layout['rollup']['grain']): boolean => {
  const [match, day, hour = '00', minute = '00', second = '00', fraction = '0'] = momentPattern.exec(text) ?? [];
  if (match === undefined || minute !== '00' || second !== '00' || Number(fraction) !== 0) return false;
  if (grain === 'hour') return true;
  return hour === '00' && (grain === 'day' || day === '01');
};

/** Whether the condition passes for all rows of a period, or for none. */
const isAligned = (predicate: BoundPredicate, grain: Layout['rollup']['grain']): boolean => {
  switch (predicate.kind) {
    case 'isNull':
    case 'isNotNull':
      return true;
    case 'recurring':
      return coarser[grain].has(predicate.grain);
    case 'compare':
      return (predicate.operator === '>=' || predicate.operator === '<') && isStart(predicate.value.text, grain);
    case 'range': {
      const { from, to, toIsExclusive } = predicate;
      const isFromStart = from === null || isStart(from.text, grain);
      return isFromStart && (to === null || (toIsExclusive && isStart(to.text, grain)));
    }
    default:
      return false;
  }
};

const testOf = ({ field, predicate }: Test, columns: Columns): Test => ({
  field: fieldOf(conditionColumn({ column: field.column, predicate }, columns)),
  predicate,
});

/** A condition that holds wherever the table is read. */
const leafTest = ({ condition }: LeafTest, columns: Columns): NonNullable<Leaf['tests']>[number] => {
  if (condition === undefined) return misfit('a condition on another table');
  const column = conditionColumn(condition, columns);
  const { predicate } = condition;
  return {
    condition: { column, predicate },
    write: (dialect, from) => columnPredicateSql(dialect, sql.id(from, nameInLeaf(column)), column, predicate),
  };
};

const whereOf = (where: Where, columns: Columns): Where => {
  switch (where.kind) {
    case 'test':
      return { kind: 'test', ...testOf(where, columns) };
    case 'all':
    case 'any':
      return { kind: where.kind, items: where.items.map((item) => whereOf(item, columns)) };
    default:
      return misfit('a condition on another table');
  }
};

/** Groups are chosen by whole numbers alone: databases compare decimals of different digits differently. */
const assertHaving = (having: Having | null, outputs: readonly OutputColumn[]): void => {
  if (having === null) return;
  if (having.kind !== 'test') {
    for (const item of having.items) assertHaving(item, outputs);
    return;
  }
  const expression = outputs[having.output]?.expression;
  const isCount =
    expression?.kind === 'rowCount' ||
    (expression?.kind === 'aggregate' &&
      (expression.aggregate === 'COUNT' ||
        expression.aggregate === 'COUNT_DISTINCT' ||
        (expression.aggregate === 'SUM' && expression.field.column.type.kind === 'integer')));
  if (!isCount || !valuesOf(having.predicate).every((text) => /^-?[0-9]{1,18}$/.test(text))) misfit('chosen groups');
};

const valuesOf = (predicate: BoundPredicate): readonly string[] => {
  switch (predicate.kind) {
    case 'oneOf':
    case 'noneOf':
      return predicate.texts;
    case 'compare':
      return [predicate.value.text];
    case 'range':
      return [predicate.from, predicate.to].flatMap((end) => end?.text ?? []);
    case 'isNull':
    case 'isNotNull':
      return [];
    default:
      return [''];
  }
};

const conditionsOf = ({ tests = [] }: TenantScopedLeaf): readonly Test[] =>
  tests.flatMap(({ condition }) =>
    condition === undefined ? [] : { field: fieldOf(condition.column), predicate: condition.predicate },
  );
