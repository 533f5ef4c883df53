import {
  type Cardinality,
  type ColumnRef,
  type JoinKind,
  qualifiedName,
  type Relationship,
  sameTable,
  type TableRef,
} from '../../domain/datamart/datamart.js';
import { refuseQuery } from '../databases/refuse.js';

/** A relationship as it is walked: from the table that is there already (`near`) to the next (`far`). */
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

/** The step over `relationship` away from `table`, or undefined where it does not lead away from there. */
export const stepFrom = (table: TableRef, relationship: Relationship): Step | undefined => {
  const { parent, child } = relationship;
  if (sameTable(parent, child)) return undefined;
  const kind = relationship.join ?? 'LEFT JOIN';
  if (sameTable(parent, table)) return { relationship, near: parent, far: child, kind };
  if (sameTable(child, table)) return { relationship, near: child, far: parent, kind: mirrored[kind] };
  return undefined;
};

/** Whether one row of the near table may match many of the far one. Without a cardinality: yes. */
export const isMultiplying = (step: Step): boolean => {
  const { parent, cardinality } = step.relationship;
  return (sameTable(step.near, parent) ? manyFromParent : manyFromChild).has(cardinality ?? 'ManyToMany');
};

/** The one way from a table to another along the relationships. Throws METRIC_QUERY_ERROR where there is none, or a second one. */
export const findPath = (relationships: readonly Relationship[], from: TableRef, to: TableRef): readonly Step[] => {
  const path = shortestPath(relationships, from, to);
  if (path === undefined) {
    return refuseQuery(
      `No relationship leads from ${qualifiedName(from)} to ${qualifiedName(to)}; add one to the datamart.`,
      'path-missing',
    );
  }
  const spare = findSpare(relationships, path, from, to);
  if (spare !== undefined) {
    refuseQuery(
      `More than one way leads from ${qualifiedName(from)} to ${qualifiedName(to)}: relationship ${spare.relationship.relationshipName} can be bypassed. Leave one way in the datamart.`,
      'path-ambiguous',
    );
  }
  return path;
};

/** A step that can be bypassed. A second simple path lacks at least one step of the first: without any one of them, `to` must be out of reach. */
const findSpare = (
  relationships: readonly Relationship[],
  path: readonly Step[],
  from: TableRef,
  to: TableRef,
): Step | undefined =>
  path.find((step) => {
    const others = relationships.filter((relationship) => relationship !== step.relationship);
    return shortestPath(others, from, to) !== undefined;
  });

/** Whether several ways lead there. */
export const isAmbiguous = (relationships: readonly Relationship[], from: TableRef, to: TableRef): boolean =>
  findSpare(relationships, shortestPath(relationships, from, to) ?? [], from, to) !== undefined;

/**
 * Whether any way leads there. spec-gap: a worksheet leaves a table out that none leads to; two ways to one table are refused there
 * as anywhere, since they would be two worksheets.
 */
export const isReachable = (relationships: readonly Relationship[], from: TableRef, to: TableRef): boolean =>
  shortestPath(relationships, from, to) !== undefined;

const shortestPath = (
  relationships: readonly Relationship[],
  from: TableRef,
  to: TableRef,
): readonly Step[] | undefined => {
  const reached: { readonly table: TableRef; readonly steps: readonly Step[] }[] = [{ table: from, steps: [] }];
  for (const { table, steps } of reached) {
    if (sameTable(table, to)) return steps;
    for (const relationship of relationships) {
      const step = stepFrom(table, relationship);
      if (step !== undefined && !reached.some((seen) => sameTable(seen.table, step.far))) {
        reached.push({ table: step.far, steps: [...steps, step] });
      }
    }
  }
  return undefined;
};

/**
 * The joins that reach every one of `tables` from `root`, nearest first and then in the datamart's order: with outer
 * joins the order decides which rows there are, so it must not depend on the order of a metric's columns.
 */
export const joinTree = (
  relationships: readonly Relationship[],
  root: TableRef,
  tables: readonly TableRef[],
): readonly Step[] => {
  const steps = new Map<Relationship, { readonly step: Step; readonly depth: number }>();
  for (const table of tables) {
    for (const [depth, step] of findPath(relationships, root, table).entries()) {
      steps.set(step.relationship, { step, depth });
    }
  }
  const rank = (step: Step): number => relationships.indexOf(step.relationship);
  return [...steps.values()].sort((a, b) => a.depth - b.depth || rank(a.step) - rank(b.step)).map(({ step }) => step);
};

/** Whether one of the table's rows may become several in the joined rows: on some step of the tree, walked away from it. */
export const isMultiplied = (tree: readonly Step[], table: TableRef): boolean => {
  const visited: TableRef[] = [table];
  for (const near of visited) {
    for (const { relationship } of tree) {
      const step = stepFrom(near, relationship);
      if (step === undefined || visited.some((seen) => sameTable(seen, step.far))) continue;
      if (isMultiplying(step)) return true;
      visited.push(step.far);
    }
  }
  return false;
};
