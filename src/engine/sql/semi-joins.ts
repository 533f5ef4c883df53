import { sql } from 'kysely';
import type { Dialect, Side, Sql } from '../dialect/dialect.js';

/**
 * One step of a semi-join: joins `relation` by `near = far`. `far` belongs to `relation`; `near` belongs to the step
 * before, or to the outer row in the first step.
 */
export type SemiJoinStep = { readonly near: Side; readonly far: Side; readonly relation: Sql };

/**
 * A row passes if a chain of matching rows exists that passes all tests. A test may be a semi-join that starts at a
 * row of the chain. Never negate the result: with IN, it may be NULL.
 */
export const semiJoinOf = (dialect: Dialect, steps: readonly SemiJoinStep[], tests: readonly Sql[]): Sql =>
  dialect.capabilities.hasCorrelatedSubqueries ? existsSql(dialect, steps, tests) : inSql(dialect, steps, tests);

const existsSql = (dialect: Dialect, steps: readonly SemiJoinStep[], tests: readonly Sql[]): Sql => {
  const matches = steps.map(({ near, far }) => dialect.join(near, far));
  const all = sql.join([...matches, ...tests], sql` AND `);
  return sql`EXISTS (SELECT 1 FROM ${sql.join(steps.map(({ relation }) => relation))} WHERE ${all})`;
};

/** The same without correlated subqueries. With IN, as with equality, NULL matches nothing. */
const inSql = (dialect: Dialect, [first, ...rest]: readonly SemiJoinStep[], tests: readonly Sql[]): Sql => {
  if (first === undefined || dialect.keys === undefined) {
    throw new TypeError('a semi-join needs at least one step, and `keys` of a dialect without correlated subqueries');
  }
  const [near, far] = dialect.keys(first.near, first.far);
  const joins = rest.map((step) => sql` INNER JOIN ${step.relation} ON ${dialect.join(step.near, step.far)}`);
  const where = tests.length === 0 ? sql`` : sql` WHERE ${sql.join(tests, sql` AND `)}`;
  return sql`${near} IN (SELECT ${far} FROM ${first.relation}${sql.join(joins, sql``)}${where})`;
};
