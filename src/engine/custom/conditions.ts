/**
 * Conditions on a metric in SQL: ANDed to the rows of its outermost block, where that is a SELECT over tables alone, each read there once. A table that the
 * SQL does not read is a semi-join along the relationships. Whatever cannot be said so is refused: nothing is left out.
 */
import { sql } from 'kysely';
import { type ColumnRef, sameTable, type TableRef, tableKey } from '../../domain/datamart.js';
import { qualifiedName } from '../../domain/embed.js';
import { withCardinalities } from '../cardinalities.js';
import type { Dialect, Side, Sql } from '../dialect.js';
import { findPath, isMultiplying, isReachable, type Step } from '../paths.js';
import type { Column, Leaf } from '../plan.js';
import { predicateSql } from '../predicates.js';
import { refuseQuery, withoutNames } from '../refuse.js';
import type { ResolvedCondition } from '../resolve.js';
import { semiJoinOf } from '../semi-joins.js';
import type { Reader } from './reader.js';
import type { Statement } from './statement.js';

export type Restrictions = { readonly leaves: readonly Leaf[]; readonly write: (dialect: Dialect) => readonly Sql[] };

type ColumnOf = (ref: ColumnRef) => Column;
type Source = { readonly reader: Reader; readonly statement: Statement; readonly columnOf: ColumnOf };
type Block = NonNullable<Statement['block']>;

const refuse: (table: TableRef, why: string) => never = (table, why) =>
  refuseQuery(
    `A condition on ${qualifiedName(table)} cannot be applied to the metric's SQL: ${why}. Read each table once, in the FROM of the outermost SELECT, or compare with a variable.`,
    'sql-condition',
  );

const loadBlock = ({ statement }: Source, table: TableRef): Block =>
  statement.block ?? refuse(table, 'its outermost SELECT reads more than tables, or one of them elsewhere too');

export const restrict = (source: Source, conditions: readonly ResolvedCondition[]): Restrictions => {
  const tables = new Map(conditions.map(({ column }) => [tableKey(column.ref), column.ref]));
  const leaves: Leaf[] = [];
  const writes: ((dialect: Dialect) => readonly Sql[])[] = [];
  for (const [key, table] of tables) {
    const own = conditions.filter(({ column }) => tableKey(column.ref) === key);
    const isHidden = own.some((condition) => condition.isHidden === true);
    const shown = withoutNames(isHidden, () => loadBlock(source, table)).find((one) => sameTable(one.table, table));
    if (shown !== undefined) {
      withoutNames(isHidden, () => assertAlone(source, table));
      writes.push((dialect) => own.map((condition) => testSql(dialect, shown.alias, condition)));
      continue;
    }
    const prefix = `gl_semi_${leaves.length}`;
    const { near, steps } = withoutNames(isHidden, () => findSemiJoin(source, table));
    leaves.push(...steps.map(({ far }, index): Leaf => ({ ...leafOf(far), name: `${prefix}_${index}`, isHidden })));
    const write = (dialect: Dialect): Sql => semiJoinSql(dialect, source, { near, steps, prefix, own });
    writes.push((dialect) => [withoutNames(isHidden, () => write(dialect))]);
  }
  return { leaves, write: (dialect) => writes.flatMap((write) => write(dialect)) };
};

const leafOf = ({ schemaName, tableName }: TableRef): Leaf => ({ table: { schemaName, tableName }, isMarked: false });

const testSql = (dialect: Dialect, alias: string, { column, predicate }: ResolvedCondition): Sql =>
  predicateSql(dialect, dialect.field(sql.id(alias, column.ref.columnName), column), column.type, predicate);

/** A table that is shown from elsewhere, each of whose rows belongs to one row of the condition's, would go on without the condition. */
const assertAlone = (source: Source, table: TableRef): void => {
  const { reader, statement } = source;
  const { relationships } = withCardinalities(reader.datamart, reader.catalog);
  const block = loadBlock(source, table);
  const leadsToMany = (step: Step): boolean => step.relationship.cardinality !== null && isMultiplying(step);
  const beside = statement.shown.find(
    (other) =>
      !block.some((one) => sameTable(one.table, other)) &&
      isReachable(relationships, other, table) &&
      !findPath(relationships, other, table).some(leadsToMany),
  );
  if (beside !== undefined) {
    refuse(
      table,
      `it shows ${qualifiedName(beside)} too, whose rows belong to that table's (if they do not, the relationship's cardinality says so)`,
    );
  }
};

type SemiJoin = { readonly near: string; readonly steps: readonly Step[] };

/** From the one table of the block that the path leaves last. What the SQL reads beside its block would go on without the condition. */
const findSemiJoin = (source: Source, table: TableRef): SemiJoin => {
  const { reader, statement } = source;
  const { relationships } = reader.datamart;
  const block = loadBlock(source, table);
  if (statement.tables.some((read) => sameTable(read, table)))
    refuse(table, 'it reads that table elsewhere than there');
  if (statement.tables.length > block.length) refuse(table, 'it reads other tables elsewhere than there');
  const isInBlock = (other: TableRef): boolean => block.some((one) => sameTable(one.table, other));
  const starts = block
    .filter((one) => isReachable(relationships, one.table, table))
    .map((one) => ({ near: one.alias, steps: findPath(relationships, one.table, table) }))
    .filter(({ steps }) => steps.every(({ far }) => !isInBlock(far)));
  const [start, ...others] = starts;
  if (start === undefined) return refuse(table, 'no relationship leads there from a table that it reads');
  return others.length === 0 ? start : refuse(table, 'relationships lead there from more than one table that it reads');
};

const semiJoinSql = (
  dialect: Dialect,
  { columnOf }: Source,
  { near, steps, prefix, own }: SemiJoin & { readonly prefix: string; readonly own: readonly ResolvedCondition[] },
): Sql => {
  const sideOf = (relation: string, ref: ColumnRef): Side => {
    const { type } = columnOf(ref);
    return { column: sql.id(relation, ref.columnName), type, ref };
  };
  const nameOf = (index: number): string => (index < 0 ? near : `${prefix}_${index}`);
  const tests = own.map((condition) => testSql(dialect, nameOf(steps.length - 1), condition));
  const walked = steps.map((step, index) => ({
    near: sideOf(nameOf(index - 1), step.near),
    far: sideOf(nameOf(index), step.far),
    relation: sql.id(nameOf(index)),
  }));
  return semiJoinOf(dialect, walked, tests);
};
