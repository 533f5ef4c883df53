/** Writes calculations: columns computed from measures over the groups that HAVING left, before sort and limit. */
import { sql } from 'kysely';
import type { Dialect, Sql } from '../dialect/dialect.js';
import { refuseUnknown } from '../dialect/refuse.js';
import type { Calculated, Having, TenantScopedPlan } from '../plan/plan.js';
import { isCalculated, outputName } from './expressions.js';
import { groupSql } from './from.js';
import { predicateSql } from './predicates.js';

const outputSql = (index: number): Sql => sql.id(outputName(index));

/** The groups with their calculated columns; `groups` itself where nothing is calculated. */
export const calculatedSql = (dialect: Dialect, { having, output }: TenantScopedPlan, groups: Sql): Sql => {
  const calculations = output.columns.flatMap(({ expression }, index) =>
    isCalculated(expression) ? [sql`${calculationSql(dialect, expression)} AS ${outputSql(index)}`] : [],
  );
  if (having === null && calculations.length === 0) return groups;
  const columns = [sql`${sql.id('gl_groups')}.*`, ...calculations];
  const where = having === null ? sql`` : sql` WHERE ${havingSql(dialect, having, outputSql)}`;
  return sql`SELECT ${sql.join(columns)} FROM (${groups}) AS ${sql.id('gl_groups')}${where}`;
};

/** `write` writes the output column at a position. */
export const havingSql = (dialect: Dialect, having: Having, write: (output: number) => Sql): Sql =>
  having.kind === 'test'
    ? predicateSql(dialect, write(having.output), having.type, having.predicate)
    : groupSql(
        having.kind,
        having.items.map((item) => havingSql(dialect, item, write)),
      );

const calculationSql = (dialect: Dialect, calculation: Calculated): Sql => {
  if (calculation.isOverlapping === true) return dialect.double(sql`NULL`);
  const within = calculation.within.map(outputSql);
  const partition = within.length === 0 ? sql`` : sql`PARTITION BY ${sql.join(within)} `;
  const measure = outputSql(calculation.of);
  const value = calculation.isFloat ? dialect.double(measure) : measure;
  switch (calculation.kind) {
    case 'share':
      return ratioSql(dialect, value, sql`sum(${value}) OVER (${partition})`);
    case 'runningTotal': {
      const along = outputSql(calculation.along);
      return sql`sum(${value}) OVER (${partition}ORDER BY ${along} IS NULL, ${along} ROWS UNBOUNDED PRECEDING)`;
    }
    case 'previous':
      return previousSql(dialect, calculation, value, partition);
    default:
      return refuseUnknown('calculation', calculation);
  }
};

/** Divides floats, so every database gives the same result. */
const ratioSql = (dialect: Dialect, part: Sql, whole: Sql): Sql =>
  sql`${dialect.double(part)} / nullif(${dialect.double(whole)}, ${dialect.cast({ text: '0', cast: 'DOUBLE' })})`;

/**
 * Looks up the group by the number of its period, so a period without rows counts as a gap. The sum covers at most
 * one group; its range fits any difference.
 */
const previousSql = (
  dialect: Dialect,
  { along, grain, periods, result }: Extract<Calculated, { kind: 'previous' }>,
  value: Sql,
  partition: Sql,
): Sql => {
  const number = dialect.period(outputSql(along), grain);
  const frame = sql`RANGE BETWEEN ${sql.lit(periods)} PRECEDING AND ${sql.lit(periods)} PRECEDING`;
  const earlier = sql`sum(${value}) OVER (${partition}ORDER BY ${number} ${frame})`;
  const change = sql`(${value} - ${earlier})`;
  // By the size of the earlier value: from -100 to -50 is an increase.
  const shown = { value: earlier, change, relativeChange: ratioSql(dialect, change, sql`abs(${earlier})`) }[result];
  // Rows without a period are excluded, because each would be the previous of every other.
  return sql`CASE WHEN ${number} IS NOT NULL THEN ${shown} END`;
};
