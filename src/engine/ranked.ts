import { sql } from 'kysely';
import type { Dialect, Sql } from './dialect.js';
import { argumentSql, argumentType, expressionSql, isAggregate, outputName } from './expressions.js';
import type { Expression, OutputColumn, SecuredPlan } from './plan.js';
import { refuseQuery } from './refuse.js';
import { isNumeric } from './sql-type.js';

export const isMedian = (expression: Expression): boolean =>
  expression.kind === 'aggregate' && expression.aggregate === 'MEDIAN';

const valueName = (index: number): Sql => sql.id(`gl_v${index}`);
const rankName = (index: number): Sql => sql.id(`gl_r${index}`);
const countName = (index: number): Sql => sql.id(`gl_n${index}`);

/**
 * The rows of a plan with medians, up to its GROUP BY, for a database without that aggregate: each group's values are ranked, and the
 * median is the average of the middle one or two.
 */
export const rankedSql = (dialect: Dialect, { output, leaves }: SecuredPlan, from: Sql): Sql => {
  const { columns } = output;
  const values = columns.map(({ expression }, index) => {
    const value = isAggregate(expression)
      ? argumentSql(dialect, expression, leaves)
      : expressionSql(dialect, expression, leaves);
    return sql`${value} AS ${valueName(index)}`;
  });
  const outputs = columns.map(
    (column, index) => sql`${outputSql(dialect, column, index)} AS ${sql.id(outputName(index))}`,
  );
  const rows = sql`SELECT ${sql.join(values)} FROM ${from}`;
  const ranked = sql`SELECT ${sql.join([sql`${sql.id('gl_rows')}.*`, ...ranksSql(columns)])} FROM (${rows}) AS ${sql.id('gl_rows')}`;
  return sql`SELECT ${sql.join(outputs)} FROM (${ranked}) AS ${sql.id('gl_ranked')}`;
};

const ranksSql = (columns: readonly OutputColumn[]): readonly Sql[] => {
  const groups = columns.flatMap(({ expression }, index) => (isAggregate(expression) ? [] : [valueName(index)]));
  const partition = groups.length === 0 ? sql`` : sql`PARTITION BY ${sql.join(groups)}`;
  return columns.flatMap(({ expression }, index) => {
    if (!isMedian(expression)) return [];
    const value = valueName(index);
    return [
      sql`row_number() OVER (${partition} ORDER BY ${value} IS NULL, ${value}) AS ${rankName(index)}`,
      sql`count(${value}) OVER (${partition}) AS ${countName(index)}`,
    ];
  });
};

const outputSql = (dialect: Dialect, { name, expression }: OutputColumn, index: number): Sql => {
  const value = valueName(index);
  if (expression.kind === 'rowCount') return sql`count(${value})`;
  if (expression.kind !== 'aggregate') return value;
  const type = argumentType(expression);
  if (!isMedian(expression)) return dialect.aggregate(expression.aggregate, value, type);
  if (!isNumeric(type)) {
    refuseQuery(
      `Measure ${name}: ${dialect.capabilities.databaseName} has no MEDIAN of dates; take MIN or MAX.`,
      'median-unsupported',
    );
  }
  const middle = [1, 2].map((more) => sql`floor((${countName(index)} + ${sql.lit(more)}) / 2)`);
  return sql`avg(CASE WHEN ${rankName(index)} IN (${sql.join(middle)}) THEN CAST(${value} AS DOUBLE) END)`;
};
