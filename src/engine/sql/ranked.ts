/** Percentiles for a database without that aggregate: each group's values are ranked, and the two around the place are taken. */
import { sql } from 'kysely';
import { assertHas } from '../databases/capabilities.js';
import type { Dialect, Sql } from '../databases/dialect.js';
import { isNumeric } from '../databases/sql-type.js';
import type { Expression } from '../plan/plan.js';
import { argumentType } from './expressions.js';

type Ranked = Extract<Expression, { kind: 'aggregate' }>;

export const isRanked = (expression: Expression): expression is Ranked =>
  expression.kind === 'aggregate' && (expression.aggregate === 'MEDIAN' || expression.aggregate === 'PERCENTILE');

const rankName = (index: number): Sql => sql.id(`gl_r${index}`);
const countName = (index: number): Sql => sql.id(`gl_n${index}`);

/** What each row needs beside its value: its rank in the group, NULL last, and how many values the group has. */
export const ranksSql = (value: Sql, index: number, groups: readonly Sql[]): readonly Sql[] => {
  const partition = groups.length === 0 ? sql`` : sql`PARTITION BY ${sql.join(groups)}`;
  return [
    sql`row_number() OVER (${partition} ORDER BY ${value} IS NULL, ${value}) AS ${rankName(index)}`,
    sql`count(${value}) OVER (${partition}) AS ${countName(index)}`,
  ];
};

/** On the line from the value below the place to the one above it, as the other databases have it. */
export const rankedAggregateSql = (
  dialect: Dialect,
  name: string,
  expression: Ranked,
  value: Sql,
  index: number,
): Sql => {
  if (!isNumeric(argumentType(expression))) {
    assertHas(dialect, 'datePercentile', { where: `Measure ${name}`, what: `${expression.aggregate} of dates` });
  }
  const place = sql`(${doubleLiteral(expression.fraction ?? 0.5)} * (${countName(index)} - 1))`;
  const at = (rank: Sql): Sql => sql`max(CASE WHEN ${rankName(index)} = ${rank} + 1 THEN ${dialect.double(value)} END)`;
  const [below, above] = [at(sql`floor(${place})`), at(sql`ceiling(${place})`)];
  return sql`${below} + (${above} - ${below}) * max(${place} - floor(${place}))`;
};

/** Without an exponent it would be a decimal, which reckons otherwise. */
const doubleLiteral = (value: number): Sql => {
  const text = String(value);
  return sql.raw(text.includes('e') ? text : `${text}e0`);
};
