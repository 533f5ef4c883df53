/**
 * Conditions on a metric in SQL. A condition on a table of the outermost FROM is ANDed there; a condition on a table
 * that the SQL does not read becomes a semi-join along the relationships. A condition for which neither
 * is possible is refused, never dropped.
 */
import { sql } from 'kysely';
import { findTable, qualifiedName, sameTable, type TableRef, tableKey } from '../../model/datamart/datamart.js';
import { isAmong } from '../../model/datamart/tenancy-steps.js';
import type { SqlContext } from '../custom/context.js';
import type { Naming, Statement } from '../custom/statement.js';
import type { Dialect, Sql } from '../dialect/dialect.js';
import { refuseQuery, withoutNames } from '../dialect/refuse.js';
import type { Leaf } from '../plan/plan.js';
import { withCardinalities } from '../question/cardinalities.js';
import { findPath, isAmbiguous, isMultiplying, isReachable, type Step } from '../question/paths.js';
import type { Columns, ResolvedCondition } from '../question/resolve.js';
import { chainsOf, growTree, walk } from '../question/restriction-tree.js';
import { markOf } from '../sql/expressions.js';
import {
  groupByTable,
  type HiddenTests,
  isHiddenGroup,
  planChain,
  testSql,
  testsOfHidden,
  withTests,
} from './hidden-rows.js';

export type Restrictions = {
  readonly leaves: readonly Leaf[];
  readonly write: (dialect: Dialect) => readonly Sql[];
  /** Tests that exclude hidden rows from the leaf of a table that no condition is ANDed for. */
  readonly testsOf: (table: TableRef) => HiddenTests;
  /** Whether the table's leaf needs a mark, since a condition asks whether its row is there. */
  readonly isMarked: (table: TableRef) => boolean;
};

type Source = Pick<Columns, 'storedOf'> & {
  readonly context: SqlContext;
  readonly statement: Statement;
  readonly nameOf: Naming;
  /** The tables whose base filters the metric's author left out. */
  readonly unfiltered: readonly TableRef[];
};
type Block = NonNullable<Statement['block']>;

const refuse: (table: TableRef, why: string) => never = (table, why) =>
  refuseQuery(
    `A condition on ${qualifiedName(table)} cannot be applied to the metric's SQL: ${why}. Read each table once, in the FROM of the outermost SELECT, or compare with a variable.`,
    'sql-condition',
  );

const loadBlock = ({ statement }: Source, table: TableRef): Block =>
  statement.block ??
  refuse(table, 'its outermost SELECT does not read only tables, or reads one of them in another place too');

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
    writes.push(...own.map((condition) => (dialect: Dialect) => shownTestSql(source, dialect, shown.alias, condition)));
  }
  const restrictions = conditions.filter(({ restriction }) => restriction === 'always');
  const asked = planSemiJoins(source, far);
  const { chains } = asked;
  const leaves = hideAsked(source, asked.leaves, restrictions);
  const hidden = planHidden(source, leaves, restrictions);
  return {
    leaves,
    write: (dialect) => [...writes, ...chains].map((write) => write(dialect)),
    testsOf: (table) => hidden.get(tableKey(table)) ?? { tests: [], testsBeneath: [] },
    isMarked: (table) => conditions.some(({ column }) => column.stored !== undefined && sameTable(column.ref, table)),
  };
};

/**
 * The host's SQL does not get the stored values of a masked column. The leaf has only rows that pass the token's
 * condition, so it is enough that a row of it is there: an outer join may have none.
 */
const shownTestSql = ({ context }: Source, dialect: Dialect, alias: string, condition: ResolvedCondition): Sql => {
  const { ref, stored } = condition.column;
  if (stored === undefined) return testSql(dialect, alias, condition);
  const columns = findTable(context.datamart, ref)?.columns.map(({ columnName }) => columnName) ?? [];
  return sql`${sql.id(alias, markOf({ columns }))} IS NOT NULL`;
};

/**
 * Excludes hidden rows from every table that the SQL reads: SQL may join tables in any way, and may fail on a hidden
 * row's value. Where several paths lead to a condition's table, only the SQL decides which one it means. Adds to
 * `leaves`.
 */
const planHidden = (
  source: Source,
  leaves: Leaf[],
  restrictions: readonly ResolvedCondition[],
): ReadonlyMap<string, HiddenTests> => {
  const { statement, context, nameOf } = source;
  const { datamart } = context;
  const block = statement.block ?? [];
  const isInBlock = (table: TableRef): boolean => block.some((one) => sameTable(one.table, table));
  const isSaid = (table: TableRef, other: TableRef): boolean => isInBlock(table) && isAmbiguous(datamart, table, other);
  const hiding = { ...source, datamart, prefix };
  return new Map(
    statement.tables.map((table) => {
      const others = restrictions.filter(({ column }) => sameTable(table, column.ref) || !isSaid(table, column.ref));
      return [tableKey(table), testsOfHidden(hiding, leaves, { table, name: nameOf(table) }, others)];
    }),
  );
};

/**
 * Excludes hidden rows from the tables along which a condition of the user is tested, where a row that only this metric
 * reads could make them visible.
 */
const hideAsked = (
  { unfiltered, statement, context, storedOf }: Source,
  asked: readonly Leaf[],
  restrictions: readonly ResolvedCondition[],
): Leaf[] => {
  if (!statement.tables.some((table) => isAmong(unfiltered, table))) return [...asked];
  const hiding = { storedOf, datamart: context.datamart, prefix: 'gl_asked_semi' };
  const beyond: Leaf[] = [];
  const hide = (leaf: Leaf): Leaf =>
    leaf.isAlwaysFiltered === true || leaf.name === undefined
      ? leaf
      : withTests(leaf, testsOfHidden(hiding, beyond, { table: leaf.table, name: leaf.name }, restrictions));
  return [...asked.map(hide), ...beyond];
};

/** Begins the names of these leaves. */
const prefix = 'gl_semi';

/** One semi-join from the outermost FROM to each condition's table, and those that the token's conditions add. */
const planSemiJoins = (source: Source, conditions: readonly ResolvedCondition[]) => {
  const leaves: Leaf[] = [];
  const chaining = { ...source, prefix };
  const waysOf = (some: readonly ResolvedCondition[]) =>
    groupByTable(some).map((group) => {
      const { near, steps } = withoutNames(isHiddenGroup(group), () =>
        assertShown(source, findSemiJoin(source, group.table)),
      );
      return { near, steps, conditions: group.conditions };
    });
  const always = waysOf(conditions.filter(({ restriction }) => restriction === 'always'));
  const ordinary = waysOf(conditions.filter(({ restriction }) => restriction === undefined));
  const chains = [...new Set([...ordinary, ...always].map(({ near }) => near))].flatMap((near) => {
    const tree = growTree(always.filter((way) => way.near === near));
    const asked = ordinary.filter((way) => way.near === near).map((way) => walk(tree, way));
    return [...asked, ...chainsOf(tree, asked)].map((chain) => planChain(chaining, leaves, near, chain));
  });
  return { leaves, chains };
};

/**
 * Refuses SQL that shows another table whose rows belong to rows of the condition's table: those rows would escape
 * the condition.
 */
const assertAlone = (source: Source, table: TableRef): void => {
  const { context, statement } = source;
  const datamart = withCardinalities(context.datamart, context.stored);
  const block = loadBlock(source, table);
  const leadsToMany = (step: Step): boolean => step.relationship.cardinality !== null && isMultiplying(step);
  const beside = statement.shown.find(
    (other) =>
      !block.some((one) => sameTable(one.table, other)) &&
      isReachable(datamart, other, table) &&
      !findPath(datamart, other, table).some(leadsToMany),
  );
  if (beside !== undefined) {
    refuse(
      table,
      `it shows ${qualifiedName(beside)} too, whose rows belong to rows of that table (if they do not, correct the relationship's cardinality)`,
    );
  }
};

/** The host's SQL has no stored values to join by. */
const assertShown = ({ storedOf }: Source, start: Start): Start => {
  const [first] = start.steps;
  if (first !== undefined && storedOf(first.near).stored !== undefined) {
    refuse(first.far, 'the relationship to it is by a column that the token masks or hides');
  }
  return start;
};

type Start = { readonly near: string; readonly steps: readonly Step[] };

/**
 * Starts at the last table of the outermost FROM on the path. Tables read elsewhere would escape the condition, so
 * they are refused.
 */
const findSemiJoin = (source: Source, table: TableRef): Start => {
  const { context, statement } = source;
  const { datamart } = context;
  const block = loadBlock(source, table);
  if (statement.tables.some((read) => sameTable(read, table)))
    refuse(table, 'it also reads that table in another place');
  if (statement.tables.length > block.length) refuse(table, 'it also reads other tables in another place');
  const isInBlock = (other: TableRef): boolean => block.some((one) => sameTable(one.table, other));
  const starts = block
    .filter((one) => isReachable(datamart, one.table, table))
    .map((one) => ({ near: one.alias, steps: findPath(datamart, one.table, table) }))
    .filter(({ steps }) => steps.every(({ far }) => !isInBlock(far)));
  const [start, ...others] = starts;
  if (start === undefined) return refuse(table, 'no relationship leads from a table that it reads to that table');
  return others.length === 0 ? start : refuse(table, 'relationships lead to that table from several of its tables');
};
