import { sql } from 'kysely';
import type { Dialect, Sql } from '../dialect/dialect.js';
import { refuseQuery } from '../dialect/refuse.js';
import { isTemporal } from '../dialect/sql-type.js';
import type { Aggregated, Expression, Output, OutputColumn, TenantScopedPlan } from '../plan/plan.js';
import {
  aggregateSql,
  argumentSql,
  argumentType,
  dimensionSql,
  isAggregate,
  isCalculated,
  leafName,
  markOf,
  outputName,
  rawSql,
} from './expressions.js';

/** Writes the rows of a plan, grouped and aggregated where the plan says so. Calculations are not included. */
export const groupedSql = (dialect: Dialect, plan: TenantScopedPlan, from: Sql): Sql => {
  const columns = plan.output.columns.filter(({ expression }) => !isCalculated(expression));
  const isRankedHere = dialect.percentile === null && columns.some(({ expression }) => isRanked(expression));
  const isLayered = isRankedHere || columns.some(({ expression }) => onceOf({ expression }) !== null);
  const groups = groupSql(plan.output.kind, columns);
  if (isLayered) return sql`${layeredSql(dialect, plan, columns, from)}${groups}`;
  const isStored = plan.output.kind !== 'rows' && columns.some((column) => storedOf(dialect, column) !== null);
  const rows = outputsSql(
    columns,
    (column) => (isStored ? storedOf(dialect, column)?.raw : undefined) ?? plainSql(dialect, plan, column),
  );
  const grouped = sql`SELECT ${rows} FROM ${from}${groups}`;
  return isStored ? fieldsSql(dialect, columns, grouped) : grouped;
};

/** A column that is grouped as stored, and the field computed from each group. */
const storedOf = (dialect: Dialect, { expression }: OutputColumn) => {
  if (expression.kind !== 'field' || dialect.isGroupedAsStored?.(expression.field.column) !== true) return null;
  const { column } = expression.field;
  return { raw: rawSql(expression.field), field: (value: Sql): Sql => dialect.field(value, column) };
};

const fieldsSql = (dialect: Dialect, columns: readonly OutputColumn[], grouped: Sql): Sql => {
  const groups = sql.id('gl_groups');
  const outputs = outputsSql(columns, (column, index) => {
    const value = sql.id('gl_groups', outputName(index));
    return storedOf(dialect, column)?.field(value) ?? value;
  });
  return sql`SELECT ${outputs} FROM (${grouped}) AS ${groups}`;
};

const plainSql = (dialect: Dialect, { leaves }: TenantScopedPlan, { expression }: OutputColumn): Sql => {
  if (isAggregate(expression)) return aggregateSql(dialect, expression, argumentSql(dialect, expression, leaves));
  return isCalculated(expression) ? sql`` : dimensionSql(dialect, expression);
};

const outputsSql = (columns: readonly OutputColumn[], write: (column: OutputColumn, index: number) => Sql): Sql =>
  sql.join(columns.map((column, index) => sql`${write(column, index)} AS ${sql.id(outputName(index))}`));

/** By position: an expression with bound values, written twice, counts as two expressions. */
const groupSql = (kind: Output['kind'], columns: readonly OutputColumn[]): Sql => {
  if (kind === 'rows') return sql``;
  const groups = columns.flatMap(({ expression }, index) => (isAggregate(expression) ? [] : [sql.lit(index + 1)]));
  return groups.length === 0 ? sql`` : sql` GROUP BY ${sql.join(groups)}`;
};

const onceOf = ({ expression }: Pick<OutputColumn, 'expression'>): number | null =>
  isAggregate(expression) ? expression.once : null;

const valueName = (index: number): Sql => sql.id(`gl_v${index}`);
const numberName = (leaf: number): Sql => sql.id(`gl_number_${leaf}`);
const onceName = (leaf: number): Sql => sql.id(`gl_once_${leaf}`);

/**
 * Groups in layers: the joined rows; then which row is the first in its group for a repeated leaf; then ranks, where
 * the database has no percentiles. A row that an outer join padded has no number and does not count.
 */
const layeredSql = (dialect: Dialect, plan: TenantScopedPlan, columns: readonly OutputColumn[], from: Sql): Sql => {
  for (const column of columns) assertSingle(column);
  const groups = columns.flatMap(({ expression }, index) => (isAggregate(expression) ? [] : [valueName(index)]));
  const leaves = [...new Set(columns.map(onceOf).filter((leaf) => leaf !== null))];
  const values = columns.map((column, index) => sql`${rowSql(dialect, plan, column)} AS ${valueName(index)}`);
  const numbers = leaves.map((leaf) => sql`${numberSql(plan, leaf)} AS ${numberName(leaf)}`);
  const rows = sql`SELECT ${sql.join([...values, ...numbers])} FROM ${from}`;
  const firsts = leaves.map((leaf) => {
    const partition = sql.join([...groups, numberName(leaf)]);
    return sql`row_number() OVER (PARTITION BY ${partition}) AS ${onceName(leaf)}`;
  });
  const argumentOf = (column: OutputColumn, index: number): Sql => {
    const once = onceOf(column);
    return once === null ? valueName(index) : sql`CASE WHEN ${onceName(once)} = 1 THEN ${valueName(index)} END`;
  };
  const ranks =
    dialect.percentile === null
      ? columns.flatMap((column, index) =>
          isRanked(column.expression) ? ranksSql(argumentOf(column, index), index, groups) : [],
        )
      : [];
  const layers = layerSql(layerSql(rows, 'gl_rows', firsts), 'gl_first', ranks);
  const outputs = outputsSql(columns, (column, index) =>
    isAggregate(column.expression)
      ? groupAggregateSql(dialect, column.expression, argumentOf(column, index), index)
      : valueName(index),
  );
  return sql`SELECT ${outputs} FROM (${layers}) AS ${sql.id('gl_values')}`;
};

/** A custom expression aggregates several values, but a layer has one value per output. */
const assertSingle = ({ name, expression }: OutputColumn): void => {
  if (expression.kind !== 'custom') return;
  refuseQuery(
    `Measure ${name} is an expression, and cannot be combined with measures of rows that joins repeat, or with percentiles. Move it to its own metric.`,
    'expression-layered',
  );
};

const rowSql = (dialect: Dialect, plan: TenantScopedPlan, column: OutputColumn): Sql =>
  isAggregate(column.expression)
    ? argumentSql(dialect, column.expression, plan.leaves)
    : plainSql(dialect, plan, column);

const numberSql = ({ leaves }: TenantScopedPlan, index: number): Sql => {
  const leaf = leaves[index];
  if (leaf?.isNumbered !== true) throw new TypeError('a leaf whose rows count once is numbered');
  return sql.id(leafName(index), markOf(leaf));
};

const layerSql = (rows: Sql, name: string, more: readonly Sql[]): Sql =>
  more.length === 0
    ? rows
    : sql`SELECT ${sql.join([sql`${sql.id(name)}.*`, ...more])} FROM (${rows}) AS ${sql.id(name)}`;

const groupAggregateSql = (dialect: Dialect, expression: Aggregated, value: Sql, index: number): Sql =>
  dialect.percentile === null && isRanked(expression)
    ? rankedAggregateSql(dialect, expression, value, index)
    : aggregateSql(dialect, expression, value);

/**
 * Percentiles for databases without that aggregate: ranks each group's values and takes the two around the wanted
 * position.
 */

type Ranked = Extract<Expression, { kind: 'aggregate' }>;

const isRanked = (expression: Expression): expression is Ranked =>
  expression.kind === 'aggregate' && (expression.aggregate === 'MEDIAN' || expression.aggregate === 'PERCENTILE');

const rankName = (index: number): Sql => sql.id(`gl_r${index}`);
const countName = (index: number): Sql => sql.id(`gl_n${index}`);

/** Per row: its rank in the group, NULL last, and the number of values in the group. */
const ranksSql = (value: Sql, index: number, groups: readonly Sql[]): readonly Sql[] => {
  const partition = groups.length === 0 ? sql`` : sql`PARTITION BY ${sql.join(groups)}`;
  return [
    sql`row_number() OVER (${partition} ORDER BY ${value} IS NULL, ${value}) AS ${rankName(index)}`,
    sql`count(${value}) OVER (${partition}) AS ${countName(index)}`,
  ];
};

/** Interpolates linearly between the two values, as the other databases do. */
const rankedAggregateSql = (dialect: Dialect, expression: Ranked, value: Sql, index: number): Sql => {
  const moments = isTemporal(argumentType(expression)) ? dialect.moments : undefined;
  const number = moments === undefined ? dialect.double(value) : dialect.double(moments.count(value));
  const place = sql`(${doubleLiteral(expression.fraction ?? 0.5)} * (${countName(index)} - 1))`;
  const at = (rank: Sql): Sql => sql`max(CASE WHEN ${rankName(index)} = ${rank} + 1 THEN ${number} END)`;
  const [below, above] = [at(sql`floor(${place})`), at(sql`ceiling(${place})`)];
  const between = sql`${below} + (${above} - ${below}) * max(${place} - floor(${place}))`;
  return moments === undefined ? between : moments.at(between);
};

/** Written with an exponent, so the literal is a float and not a decimal. */
const doubleLiteral = (value: number): Sql => {
  const text = String(value);
  return sql.raw(text.includes('e') ? text : `${text}e0`);
};
