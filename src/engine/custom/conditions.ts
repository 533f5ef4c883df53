/**
 * Conditions on a metric in SQL: ANDed to the rows of its outermost block, where that is a SELECT over tables alone, each read there once. A table that the
 * SQL does not read is a semi-join along the relationships. Whatever cannot be said so is refused: nothing is left out.
 */
import { sql } from 'kysely';
import { type ColumnRef, sameTable, type TableRef, tableKey } from '../../domain/datamart.js';
import { qualifiedName } from '../../domain/embed.js';
import { withCardinalities } from '../cardinalities.js';
import type { Dialect, Side, Sql } from '../dialect.js';
import { untestedName } from '../leaves.js';
import { findPath, isMultiplying, isReachable, type Step } from '../paths.js';
import type { Column, Leaf, LeafTest } from '../plan.js';
import { predicateSql } from '../predicates.js';
import { refuseQuery, withoutNames } from '../refuse.js';
import type { ResolvedCondition } from '../resolve.js';
import { type Chain, chainsOf, growTree, isHiddenChain, walk } from '../restriction-tree.js';
import { semiJoinOf } from '../semi-joins.js';
import type { Reader } from './reader.js';
import type { Naming, Statement } from './statement.js';

export type Restrictions = {
  readonly leaves: readonly Leaf[];
  readonly write: (dialect: Dialect) => readonly Sql[];
  /** Of a table that the SQL reads beside its block: rows that the token hides are not in its leaf. */
  readonly testsOf: (table: TableRef) => readonly LeafTest[];
};

type ColumnOf = (ref: ColumnRef) => Column;
type Source = {
  readonly reader: Reader;
  readonly statement: Statement;
  readonly columnOf: ColumnOf;
  readonly nameOf: Naming;
};
type Block = NonNullable<Statement['block']>;

const refuse: (table: TableRef, why: string) => never = (table, why) =>
  refuseQuery(
    `A condition on ${qualifiedName(table)} cannot be applied to the metric's SQL: ${why}. Read each table once, in the FROM of the outermost SELECT, or compare with a variable.`,
    'sql-condition',
  );

const loadBlock = ({ statement }: Source, table: TableRef): Block =>
  statement.block ?? refuse(table, 'its outermost SELECT reads more than tables, or one of them elsewhere too');

/** Conditions of one table, as far as they are the token's or all others. */
type Group = { readonly table: TableRef; readonly conditions: readonly ResolvedCondition[] };

const groupByTable = (conditions: readonly ResolvedCondition[]): readonly Group[] =>
  [...new Map(conditions.map(({ column }) => [tableKey(column.ref), column.ref])).values()].map((table) => ({
    table,
    conditions: conditions.filter(({ column }) => sameTable(column.ref, table)),
  }));

const isHiddenGroup = ({ conditions }: Group): boolean => conditions.some(({ isHidden }) => isHidden);

export const restrict = (source: Source, conditions: readonly ResolvedCondition[]): Restrictions => {
  const writes: ((dialect: Dialect) => Sql)[] = [];
  const far: ResolvedCondition[] = [];
  for (const group of groupByTable(conditions)) {
    const isHidden = isHiddenGroup(group);
    const { table, conditions: own } = group;
    const shown = withoutNames(isHidden, () => loadBlock(source, table)).find((one) => sameTable(one.table, table));
    if (shown === undefined) {
      far.push(...own);
      continue;
    }
    withoutNames(isHidden, () => assertAlone(source, table));
    writes.push(...own.map((condition) => (dialect: Dialect) => testSql(dialect, shown.alias, condition)));
  }
  const { leaves, chains } = planSemiJoins(source, far);
  const beside = planBeside(
    source,
    leaves,
    conditions.filter(({ restriction }) => restriction === 'always'),
  );
  return {
    leaves,
    write: (dialect) => [...writes, ...chains].map((write) => write(dialect)),
    testsOf: (table) => beside.get(tableKey(table)) ?? [],
  };
};

/** A subquery's own tables: no relationship says which of the block's rows they are read for, so each is left with its visible rows. Adds to `leaves`. */
const planBeside = (
  source: Source,
  leaves: Leaf[],
  restrictions: readonly ResolvedCondition[],
): ReadonlyMap<string, readonly LeafTest[]> => {
  const { statement, reader, nameOf } = source;
  const { relationships } = reader.datamart;
  const block = statement.block ?? [];
  const beside = statement.tables.filter((table) => !block.some((one) => sameTable(one.table, table)));
  return new Map(
    beside.map((table) => {
      const ways = groupByTable(restrictions)
        .filter((group) => isReachable(relationships, table, group.table))
        .map((group) => ({
          steps: withoutNames(isHiddenGroup(group), () => findPath(relationships, table, group.table)),
          conditions: group.conditions,
        }));
      const chains = chainsOf(growTree(ways), []);
      const tests = chains.map((chain) => planChain(source, leaves, untestedName(nameOf(table)), chain));
      return [tableKey(table), tests];
    }),
  );
};

/** From each table of the block, one for each condition's table, and those that the token's conditions need beside them. */
const planSemiJoins = (source: Source, conditions: readonly ResolvedCondition[]) => {
  const leaves: Leaf[] = [];
  const waysOf = (some: readonly ResolvedCondition[]) =>
    groupByTable(some).map((group) => {
      const { near, steps } = withoutNames(isHiddenGroup(group), () => findSemiJoin(source, group.table));
      return { near, steps, conditions: group.conditions };
    });
  const always = waysOf(conditions.filter(({ restriction }) => restriction === 'always'));
  const ordinary = waysOf(conditions.filter(({ restriction }) => restriction === undefined));
  const chains = [...new Set([...ordinary, ...always].map(({ near }) => near))].flatMap((near) => {
    const tree = growTree(always.filter((way) => way.near === near));
    const asked = ordinary.filter((way) => way.near === near).map((way) => walk(tree, way));
    return [...asked, ...chainsOf(tree, asked)].map((chain) => planChain(source, leaves, near, chain));
  });
  return { leaves, chains };
};

/** Adds the chain's leaves to `leaves`. */
const planChain = (source: Source, leaves: Leaf[], near: string, chain: Chain): ((dialect: Dialect) => Sql) => {
  const isHidden = isHiddenChain(chain) || undefined;
  const prefix = `gl_semi_${leaves.length}`;
  const links = chain.map(({ step, conditions, branches }, index) => {
    const name = `${prefix}_${index}`;
    const [from, leaf] = [index === 0 ? near : `${prefix}_${index - 1}`, leafOf(step.far)];
    leaves.push({ ...leaf, name, isHidden });
    return { step, conditions, from, name, nested: branches.map((branch) => planChain(source, leaves, name, branch)) };
  });
  const sideOf = (relation: string, ref: ColumnRef): Side => ({
    column: sql.id(relation, ref.columnName),
    type: source.columnOf(ref).type,
    ref,
  });
  const write = (dialect: Dialect): Sql =>
    semiJoinOf(
      dialect,
      links.map(({ step, from, name }) => ({
        near: sideOf(from, step.near),
        far: sideOf(name, step.far),
        relation: sql.id(name),
      })),
      links.flatMap(({ conditions, name, nested }) => [
        ...conditions.map((condition) => testSql(dialect, name, condition)),
        ...nested.map((writeNested) => writeNested(dialect)),
      ]),
    );
  return (dialect) => withoutNames(isHidden, () => write(dialect));
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

type Start = { readonly near: string; readonly steps: readonly Step[] };

/** From the one table of the block that the path leaves last. What the SQL reads beside its block would go on without the condition. */
const findSemiJoin = (source: Source, table: TableRef): Start => {
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
