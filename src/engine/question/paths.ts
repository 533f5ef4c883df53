import {
  type Cardinality,
  type ColumnRef,
  type Datamart,
  findTable,
  type JoinKind,
  qualifiedName,
  type Relationship,
  sameTable,
  type TableRef,
} from '../../model/datamart/datamart.js';
import { findWay, isByTenantAlone, otherEnd, type Way, type Ways } from '../../model/datamart/ways.js';
import { refuseQuery } from '../dialect/refuse.js';

/** A relationship in the direction of travel: from `near`, which is joined already, to `far`. */
export type Step = {
  readonly relationship: Relationship;
  readonly near: ColumnRef;
  readonly far: ColumnRef;
  readonly kind: JoinKind;
};

const mirrored: Readonly<Record<JoinKind, JoinKind>> = {
  'INNER JOIN': 'INNER JOIN',
  'LEFT JOIN': 'RIGHT JOIN',
  'RIGHT JOIN': 'LEFT JOIN',
  'FULL JOIN': 'FULL JOIN',
};

const manyFromParent: ReadonlySet<Cardinality> = new Set(['ManyToMany', 'OneToMany']);
const manyFromChild: ReadonlySet<Cardinality> = new Set(['ManyToMany', 'ManyToOne']);

/** The step over `relationship` away from `table`; undefined where the relationship does not touch it. */
const stepFrom = (table: TableRef, relationship: Relationship): Step | undefined => {
  if (otherEnd(relationship, table) === undefined) return undefined;
  const { parent, child } = relationship;
  const kind = relationship.join ?? 'LEFT JOIN';
  return sameTable(parent, table)
    ? { relationship, near: parent, far: child, kind }
    : { relationship, near: child, far: parent, kind: mirrored[kind] };
};

/** The step from a table that is read through a bridge to that bridge; undefined for another table. */
export const bridgeStep = (datamart: Datamart, table: TableRef): Step | undefined => {
  const { through } = findTable(datamart, table) ?? {};
  return datamart.relationships
    .filter(({ relationshipName }) => through != null && relationshipName === through.relationship)
    .flatMap((relationship) => stepFrom(table, relationship) ?? [])[0];
};

/** The steps of a way that begins at `from`. */
const stepsOf = (way: Way, from: TableRef): readonly Step[] => {
  const steps: Step[] = [];
  for (const relationship of way) {
    const step = stepFrom(steps.at(-1)?.far ?? from, relationship);
    if (step === undefined) throw new TypeError('each relationship of a way begins where the one before ended');
    steps.push(step);
  }
  return steps;
};

/** Whether a row of the near table may match several rows of the far one. True where the cardinality is unknown. */
export const isMultiplying = (step: Step): boolean => {
  const { parent, cardinality } = step.relationship;
  return (sameTable(step.near, parent) ? manyFromParent : manyFromChild).has(cardinality ?? 'ManyToMany');
};

/**
 * The only path between two tables along the relationships. Throws METRIC_QUERY_ERROR where no path or several exist.
 */
export const findPath = (datamart: Ways, from: TableRef, to: TableRef): readonly Step[] => {
  const found = findWay(datamart, from, to);
  if (found.kind === 'none') {
    return refuseQuery(
      `No relationship leads from ${qualifiedName(from)} to ${qualifiedName(to)}; add one to the datamart.`,
      'path-missing',
    );
  }
  if (found.kind === 'several' && isByTenantAlone(datamart, from, to)) {
    return refuseQuery(
      `${qualifiedName(from)} and ${qualifiedName(to)} have only the tenant in common, so a condition on one says nothing of the other's rows. Add a relationship between them; or, if a restriction of the policy asks for this, hide the metric from those users by hideMetrics.`,
      'path-ambiguous',
    );
  }
  if (found.kind === 'several') {
    return refuseQuery(
      `More than one way leads from ${qualifiedName(from)} to ${qualifiedName(to)}: relationship ${found.avoided.relationshipName} can be bypassed. Leave one way in the datamart.`,
      'path-ambiguous',
    );
  }
  return stepsOf(found.way, from);
};

/** Whether several paths lead there. */
export const isAmbiguous = (datamart: Ways, from: TableRef, to: TableRef): boolean =>
  findWay(datamart, from, to).kind === 'several';

/**
 * Whether any path leads there. spec-gap: a worksheet omits tables without a path; a table with two paths is refused,
 * as everywhere, because the paths mean different worksheets.
 */
export const isReachable = (datamart: Ways, from: TableRef, to: TableRef): boolean =>
  findWay(datamart, from, to).kind !== 'none';

/**
 * The joins from `root` to all `tables`, nearest first and then in the datamart's order. With outer joins the order
 * decides which rows result, so it must not depend on the order of the metric's columns.
 */
export const joinTree = (datamart: Ways, root: TableRef, tables: readonly TableRef[]): readonly Step[] => {
  const steps = new Map<Relationship, { readonly step: Step; readonly depth: number }>();
  for (const table of tables) {
    for (const [depth, step] of findPath(datamart, root, table).entries()) {
      steps.set(step.relationship, { step, depth });
    }
  }
  const rank = (step: Step): number => datamart.relationships.indexOf(step.relationship);
  return [...steps.values()].sort((a, b) => a.depth - b.depth || rank(a.step) - rank(b.step)).map(({ step }) => step);
};

/** The tables of which joins may match several rows to one row of the table. */
export const spreadOver = (tree: readonly Step[], table: TableRef): readonly TableRef[] => {
  const visited: { readonly table: TableRef; readonly isSeveral: boolean }[] = [{ table, isSeveral: false }];
  for (const near of visited) {
    for (const { relationship } of tree) {
      const step = stepFrom(near.table, relationship);
      if (step === undefined || visited.some((seen) => sameTable(seen.table, step.far))) continue;
      visited.push({ table: step.far, isSeveral: near.isSeveral || isMultiplying(step) });
    }
  }
  return visited.filter(({ isSeveral }) => isSeveral).map((one) => one.table);
};
