import { sql } from 'kysely';
import type { Bound, Dialect, Sql } from '../databases/dialect.js';
import { refuseUnknown } from '../databases/refuse.js';
import type { SqlType } from '../databases/sql-type.js';
import type { Aggregated, Calculated, Expression, Field, TenantScopedLeaf } from '../plan/plan.js';
import type { BoundPredicate } from '../plan/values.js';
import { predicateSql } from './predicates.js';

type Leaves = readonly TenantScopedLeaf[];
type Aggregate = Extract<Aggregated, { kind: 'aggregate' }>;

export const leafName = (index: number): string => `gl_leaf_${index}`;

/** The name of an output column within the statement: its own may be anything. */
export const outputName = (index: number): string => `gl_c${index}`;

/** The name of the leaf's column that is never NULL. */
export const markOf = ({ columns }: TenantScopedLeaf): string => {
  const taken = new Set(columns.map((name) => name.toLowerCase()));
  let mark = 'gl_row';
  while (taken.has(mark)) mark += '_';
  return mark;
};

/** As stored: joins compare columns with each other, in no zone. */
export const rawSql = ({ leaf, column }: Field): Sql => sql.id(leafName(leaf), column.ref.columnName);

export const fieldSql = (dialect: Dialect, field: Field): Sql => dialect.field(rawSql(field), field.column);

export const isAggregate = (expression: Expression): expression is Aggregated =>
  expression.kind === 'aggregate' || expression.kind === 'rowCount' || expression.kind === 'custom';

const calculated: ReadonlySet<Expression['kind']> = new Set(['share', 'runningTotal', 'previous']);

export const isCalculated = (expression: Expression): expression is Calculated => calculated.has(expression.kind);

/** Whether the expression may answer NaN: of a database that sorts NaN in its own way, it is asked before the sort. */
export const mayBeNaN = (expression: Expression): boolean => {
  if (isCalculated(expression)) return expression.isFloat;
  if (expression.kind === 'aggregate') {
    const isCount = expression.aggregate === 'COUNT' || expression.aggregate === 'COUNT_DISTINCT';
    return !isCount && expression.indicator === null && expression.field.column.type.kind === 'float';
  }
  return (expression.kind === 'field' || expression.kind === 'bucket') && expression.field.column.type.kind === 'float';
};

/** What groups are made by, as each row has it. */
export const dimensionSql = (dialect: Dialect, expression: Exclude<Expression, Aggregated | Calculated>): Sql => {
  switch (expression.kind) {
    case 'field':
      return fieldSql(dialect, expression.field);
    case 'grain':
      return dialect.grain(fieldSql(dialect, expression.field), expression.grain, expression.field.column.type);
    case 'bucket':
      return bucketSql(dialect, expression.field, expression.width);
    default:
      return refuseUnknown('expression', expression);
  }
};

/** The greatest multiple of the width that is not above the value: exact where the column is, so that no value falls beside its bucket. */
const bucketSql = (dialect: Dialect, field: Field, width: Bound): Sql => {
  const value = fieldSql(dialect, field);
  if (field.column.type.kind !== 'float') {
    if (dialect.rest !== undefined) return sql`${value} - ${dialect.rest(value, field.column.type, width)}`;
    const size = dialect.cast(width);
    return sql`${value} - (((${value} % ${size}) + ${size}) % ${size})`;
  }
  return floatBucketSql(dialect, dialect.double(value), width.text);
};

/**
 * 3 * 0.1 is not 0.3, but 3 * 1 / 10 is. The buckets beside zero, and of what is so large that no width is added to it, are said: to divide by the width
 * would leave the range of floats, which PostgreSQL takes for an error.
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

/** The aggregate of `value`, which `argumentSql` made. */
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

/** What is aggregated, row by row. */
export const argumentSql = (dialect: Dialect, expression: Aggregated, leaves: Leaves): Sql => {
  if (expression.kind === 'rowCount') {
    const leaf = leaves[expression.leaf];
    return leaf?.isMarked || leaf?.isNumbered ? sql.id(leafName(expression.leaf), markOf(leaf)) : sql`1`;
  }
  if (expression.kind === 'custom') return customSql(expression);
  const value = fieldSql(dialect, expression.field);
  const { indicator, among, field } = expression;
  if (among !== null) return sql`CASE WHEN ${predicateSql(dialect, value, field.column.type, among)} THEN ${value} END`;
  return indicator === null ? value : indicatorSql(dialect, value, field.column.type, indicator);
};

/** Columns as they are stored: what is made of them is the host's to say. */
const customSql = ({ template }: Extract<Aggregated, { kind: 'custom' }>): Sql =>
  sql`(${sql.join(
    template.map((part) => (typeof part === 'string' ? sql.raw(part) : rawSql(part))),
    sql``,
  )})`;

const indicatorSql = (dialect: Dialect, value: Sql, type: SqlType, indicator: BoundPredicate): Sql => {
  const [yes, no] = ['1', '0'].map((text) => dialect.cast({ text, cast: 'DOUBLE' }));
  return sql`CASE WHEN ${value} IS NULL THEN NULL WHEN ${predicateSql(dialect, value, type, indicator)} THEN ${yes} ELSE ${no} END`;
};

export const argumentType = (expression: Aggregate): SqlType =>
  expression.indicator === null ? expression.field.column.type : { kind: 'float', cast: 'DOUBLE' };
