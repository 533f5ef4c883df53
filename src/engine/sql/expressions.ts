import { sql } from 'kysely';
import { type Bound, castTo, type Dialect, nameInLeaf, type Sql } from '../dialect/dialect.js';
import { refuseUnknown } from '../dialect/refuse.js';
import { isReadAsText, type SqlType } from '../dialect/sql-type.js';
import type { Aggregated, Calculated, Dimensional, Expression, Field, TenantScopedLeaf } from '../plan/plan.js';
import type { BoundPredicate } from '../plan/values.js';
import { predicateSql } from './predicates.js';

type Leaves = readonly TenantScopedLeaf[];
type Aggregate = Extract<Aggregated, { kind: 'aggregate' }>;

export const leafName = (index: number): string => `gl_leaf_${index}`;

/** A generated name for the output column, because its own may be any text. */
export const outputName = (index: number): string => `gl_c${index}`;

/** The leaf's column that is never NULL. */
export const markOf = ({ columns }: Pick<TenantScopedLeaf, 'columns'>): string => {
  const taken = new Set(columns.map((name) => name.toLowerCase()));
  let mark = 'gl_row';
  while (taken.has(mark)) mark += '_';
  return mark;
};

/** The stored value. Joins compare columns without a zone. */
export const rawSql = ({ leaf, column }: Field): Sql => sql.id(leafName(leaf), nameInLeaf(column));

export const fieldSql = (dialect: Dialect, field: Field): Sql => dialect.field(rawSql(field), field.column);

export const isAggregate = (expression: Expression): expression is Aggregated =>
  expression.kind === 'aggregate' || expression.kind === 'rowCount' || expression.kind === 'custom';

const dimensional: ReadonlySet<Expression['kind']> = new Set(['field', 'grain', 'bucket']);

export const isDimensional = (expression: Expression): expression is Dimensional => dimensional.has(expression.kind);

const calculated: ReadonlySet<Expression['kind']> = new Set(['share', 'runningTotal', 'previous']);

export const isCalculated = (expression: Expression): expression is Calculated => calculated.has(expression.kind);

/** Whether the expression may be NaN, which some databases sort differently. */
export const mayBeNaN = (expression: Expression): boolean => {
  if (isCalculated(expression)) return expression.isFloat;
  if (expression.kind === 'aggregate') {
    const isCount = expression.aggregate === 'COUNT' || expression.aggregate === 'COUNT_DISTINCT';
    return !isCount && expression.indicator === null && expression.field.column.type.kind === 'float';
  }
  if (expression.kind === 'top') return mayBeNaN(expression.of);
  return (expression.kind === 'field' || expression.kind === 'bucket') && expression.field.column.type.kind === 'float';
};

/** The expression that groups are made by, per row. */
export const dimensionSql = (dialect: Dialect, expression: Exclude<Expression, Aggregated | Calculated>): Sql => {
  switch (expression.kind) {
    case 'field':
      return fieldSql(dialect, expression.field);
    case 'grain':
      return dialect.grain(fieldSql(dialect, expression.field), expression.grain, expression.field.column.type);
    case 'bucket':
      return bucketSql(dialect, expression.field, expression.width);
    case 'top': {
      const value = dimensionSql(dialect, expression.of);
      return sql`CASE WHEN ${isTopSql(value)} THEN ${value} END`;
    }
    case 'isOther':
      return sql`CASE WHEN ${isTopSql(dimensionSql(dialect, expression.of))} THEN 0 ELSE 1 END`;
    default:
      return refuseUnknown('expression', expression);
  }
};

/** The relation of the top groups, and its column. */
export const topName = 'gl_top';
export const topKey = 'gl_key';

/** NULL is in no list, so its group is looked up by itself. */
const isTopSql = (value: Sql): Sql => {
  const [top, key] = [sql.id(topName), sql.id(topKey)];
  const hasNull = sql`(SELECT count(*) FROM ${top} WHERE ${key} IS NULL) > 0`;
  return sql`(CASE WHEN ${value} IS NULL THEN ${hasNull} ELSE ${value} IN (SELECT ${key} FROM ${top} WHERE ${key} IS NOT NULL) END)`;
};

/**
 * The greatest multiple of the width that is not above the value. Exact where the column is, so no value lands in a
 * neighbouring bucket.
 */
const bucketSql = (dialect: Dialect, field: Field, width: Bound): Sql =>
  bucketOf(dialect, fieldSql(dialect, field), field.column.type, width);

export const bucketOf = (dialect: Dialect, value: Sql, type: SqlType, width: Bound): Sql => {
  if (type.kind !== 'float') {
    if (dialect.bucket !== undefined) return dialect.bucket(value, type, width);
    const size = dialect.cast(width);
    return sql`${value} - (((${value} % ${size}) + ${size}) % ${size})`;
  }
  return floatBucketSql(dialect, dialect.double(value), width.text);
};

/**
 * 3 * 0.1 is not 0.3, but 3 * 1 / 10 is. Buckets next to zero, and those of values so large that adding the width
 * changes nothing, are written out: dividing by the width would exceed the range of floats, which is an error in
 * PostgreSQL.
 */
const floatBucketSql = (dialect: Dialect, value: Sql, width: string): Sql => {
  const double = (text: string): Sql => dialect.cast({ text, cast: 'DOUBLE' });
  const [whole = '', fraction = ''] = width.includes('e') ? [width] : width.split('.');
  const [units, scale] = [double(`${whole}${fraction}`), double(`1${'0'.repeat(fraction.length)}`)];
  const size = Number(width);
  const wide = size * 2 ** 53;
  const first = -Math.floor(Number.MAX_VALUE / size) * size;
  const beyond = Number.isFinite(wide)
    ? sql`WHEN abs(${value}) >= ${double(String(wide))} THEN ${value}`
    : sql`WHEN ${value} < ${double(String(first))} AND ${value} >= ${double(String(-Number.MAX_VALUE))} THEN ${double(String(-Number.MAX_VALUE))}`;
  return sql`CASE ${beyond} WHEN ${value} >= ${double('0')} AND ${value} < ${double(width)} THEN ${double('0')} WHEN ${value} < ${double('0')} AND ${value} >= ${double(`-${width}`)} THEN ${double(`-${width}`)} ELSE floor(${value} * ${scale} / ${units}) * ${units} / ${scale} END`;
};

/** The aggregate of `value`, which argumentSql wrote. */
export const aggregateSql = (dialect: Dialect, expression: Aggregated, value: Sql): Sql => {
  if (expression.kind === 'rowCount') return sql`count(${value})`;
  if (expression.kind === 'custom') return value;
  const { aggregate, fraction } = expression;
  const type = argumentType(expression);
  if (aggregate !== 'MEDIAN' && aggregate !== 'PERCENTILE') return dialect.aggregate(aggregate, value, type);
  return (dialect.percentile ?? missing)(value, type, fraction ?? middle);
};

const middle = 0.5;

const missing = (): never => {
  throw new TypeError('percentiles are ranked where the dialect has none');
};

/** The aggregated value, per row. */
export const argumentSql = (dialect: Dialect, expression: Aggregated, leaves: Leaves): Sql => {
  if (expression.kind === 'rowCount') {
    const leaf = leaves[expression.leaf];
    return leaf?.isMarked || leaf?.isNumbered ? sql.id(leafName(expression.leaf), markOf(leaf)) : sql`1`;
  }
  if (expression.kind === 'custom') return customSql(dialect, expression);
  const { indicator, among, field, aggregate } = expression;
  // The least of values that are read as text is by the database's own order.
  const isExtreme = indicator === null && (aggregate === 'MIN' || aggregate === 'MAX');
  if (isExtreme && isReadAsText(field.column.type)) return rawSql(field);
  const value = fieldSql(dialect, field);
  if (among !== null) return sql`CASE WHEN ${predicateSql(dialect, value, field.column.type, among)} THEN ${value} END`;
  return indicator === null ? value : indicatorSql(dialect, value, field.column.type, indicator);
};

/** Custom expressions get columns as they are stored. */
const customSql = (dialect: Dialect, { template, readCast }: Extract<Aggregated, { kind: 'custom' }>): Sql => {
  const parts = template.map((part) => (typeof part === 'string' ? sql.raw(part) : rawSql(part)));
  return castTo(dialect, sql`(${sql.join(parts, sql``)})`, readCast);
};

const indicatorSql = (dialect: Dialect, value: Sql, type: SqlType, indicator: BoundPredicate): Sql => {
  const [yes, no] = ['1', '0'].map((text) => dialect.cast({ text, cast: 'DOUBLE' }));
  return sql`CASE WHEN ${value} IS NULL THEN NULL WHEN ${predicateSql(dialect, value, type, indicator)} THEN ${yes} ELSE ${no} END`;
};

export const argumentType = (expression: Aggregate): SqlType =>
  expression.indicator === null ? expression.field.column.type : { kind: 'float', cast: 'DOUBLE' };
