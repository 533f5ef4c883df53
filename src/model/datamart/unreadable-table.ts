/** Explains why a table cannot be read, and how the host can fix that. */
import { type ColumnRef, type DatamartTable, findTable, sameColumn, type TableRef, type Through } from './datamart.js';
import {
  bridgeState,
  chosenEdges,
  type EdgeState,
  edgeState,
  edgesOf,
  hasPath,
  isAmong,
  type KeyState,
  reachedTables,
  type TenancySource,
  type TenancyStep,
  validSteps,
} from './tenancy-steps.js';

export type UnreadableReason =
  | 'no-owner'
  | 'several-paths'
  | 'cardinality-unknown'
  | 'key-within-client'
  | 'tenancy-path-unknown'
  | 'tenancy-path-nowhere'
  | 'cycle'
  | 'belongs-to-several'
  | 'through-unknown'
  | 'through-direction'
  | 'through-unowned';

export type Unreadable = { readonly kind: 'unreadable'; readonly reason: UnreadableReason; readonly message: string };

const nameOf = ({ schemaName, tableName }: TableRef): string => `${schemaName}.${tableName}`;
const columnText = (column: ColumnRef): string => `${nameOf(column)}.${column.columnName}`;

const unreadable = (table: TableRef, reason: UnreadableReason, why: string): Unreadable => ({
  kind: 'unreadable',
  reason,
  message: `Table ${nameOf(table)} is not readable: ${why}`,
});

/** The message names the table at which the paths diverge, since its `tenancyPath` decides. */
export const explainSeveral = (table: TableRef, a: readonly TenancyStep[], b: readonly TenancyStep[]): Unreadable => {
  const at = a.findIndex((step, index) => !isSameStep(step, b[index]));
  const [one, other] = [a[at], b[at]];
  if (one === undefined || other === undefined) throw new TypeError('two paths to a client part somewhere');
  return unreadable(
    table,
    'several-paths',
    `several paths lead to its client (${pathName(a)}; or ${pathName(b)}). Set tenancyPath of table ${nameOf(one.near)} to the relationship to follow: ${one.relationshipName} or ${other.relationshipName}.`,
  );
};

export const isSameStep = (a: TenancyStep, b: TenancyStep | undefined): boolean =>
  b !== undefined && sameColumn(a.near, b.near) && sameColumn(a.far, b.far);

const pathName = (steps: readonly TenancyStep[]): string =>
  steps.map(({ relationshipName, far }) => `${relationshipName} to ${nameOf(far)}`).join(', then ');

/**
 * Explains why no path leads from the table to a client. The message names the first obstacle, starting at the table.
 */
export const explainMissing = (source: TenancySource, table: DatamartTable): Unreadable => {
  const reached = reachedTables(source, table);
  for (const from of reached) {
    const obstacle = tenancyPathFault(source, table, from) ?? edgeFault(source, table, from);
    if (obstacle !== undefined) return obstacle;
  }
  const isCycle = reached.length > 1 && reached.every((from) => leadsBack(source, from, reached));
  if (isCycle) {
    const why = `its relationships lead in a circle (${reached.map(nameOf).join(', ')}) and to no client.`;
    return unreadable(table, 'cycle', `${why} ${usualFix}`);
  }
  if (table.tenancyPath != null) {
    const why = `its tenancyPath ${JSON.stringify(table.tenancyPath)} leads to no table that has a clientColumn.`;
    return unreadable(table, 'tenancy-path-nowhere', `${why} Name another relationship, or leave tenancyPath out.`);
  }
  const why = 'it has no clientColumn, and no many-to-one relationship leads from it to a table that has one.';
  return unreadable(table, 'no-owner', `${why} ${usualFix}${bridgeHint(source, table)}`);
};

/** How a table whose rows several tenants share could be read; empty if it could not. */
const bridgeHint = (source: TenancySource, table: DatamartTable): string => {
  const bridge = edgesOf(source.datamart, table).find((edge) => {
    const far = findTable(source.datamart, edge.step.far);
    return far !== undefined && bridgeState(source, edge) === 'valid' && hasPath(source, far, [table]);
  })?.step;
  return bridge === undefined
    ? ''
    : ` If its rows belong to several clients, set through to relationship ${bridge.relationshipName} and name the columns that may be read: a client then reads the rows that its rows of ${nameOf(bridge.far)} refer to.`;
};

const bridgeWhy: Readonly<Record<Exclude<KeyState, 'valid'>, readonly [reason: UnreadableReason, why: string]>> = {
  'to-many': [
    'through-direction',
    'leads from a row of the other table to many rows of this one. Name a relationship that is many-to-one from the bridge to this table.',
  ],
  'cardinality-unknown': [
    'cardinality-unknown',
    'may match several rows of this table to one row of the bridge. Declare its cardinality, or give the column of this table a unique key.',
  ],
  'key-within-client': [
    'key-within-client',
    'joins a column that is unique only within one client. Join by a column that has a unique key of its own.',
  ],
};

/** Explains why a table is not readable by its `through`. `bridgeFault`: why the bridge is not readable, if it is known. */
export const explainBridge = (
  table: TableRef,
  { relationship }: Through,
  fault: Exclude<KeyState, 'valid'> | 'through-unknown' | 'through-unowned',
  bridge: TableRef = table,
  bridgeFault = '',
): Unreadable => {
  const named = `relationship ${JSON.stringify(relationship)}, which through names,`;
  if (fault === 'through-unknown') {
    return unreadable(table, fault, `${named} is no relationship of this table to another one. Name one of its own.`);
  }
  if (fault === 'through-unowned') {
    const why = `${named} leads to ${nameOf(bridge)}, whose rows do not each belong to one client.`;
    return unreadable(table, fault, `${why} ${bridgeFault || 'Set its clientColumn, or name another relationship.'}`);
  }
  const [reason, why] = bridgeWhy[fault];
  return unreadable(table, reason, `${named} ${why}`);
};

const usualFix =
  'Set its clientColumn, add a relationship to the table that its rows belong to, or list it in sharedTables if all clients may read it.';

const leadsBack = (source: TenancySource, from: DatamartTable, reached: readonly TableRef[]): boolean =>
  validSteps(source, from).some(({ far }) => isAmong(reached, far));

const tenancyPathFault = (source: TenancySource, table: TableRef, from: DatamartTable): Unreadable | undefined => {
  const { tenancyPath } = from;
  if (tenancyPath == null) return undefined;
  const named = `tenancyPath ${JSON.stringify(tenancyPath)} of ${nameOf(from)}`;
  const edge = edgesOf(source.datamart, from).find(({ step }) => step.relationshipName === tenancyPath);
  if (edge === undefined) {
    const why = `${named} is no relationship of that table to another table. Name one of its relationships.`;
    return unreadable(table, 'tenancy-path-unknown', why);
  }
  const where = nowhere[edgeState(source, edge)];
  if (where === undefined) return undefined;
  const why = `${named} leads to ${nameOf(edge.step.far)}, which ${where}.`;
  return unreadable(
    table,
    'tenancy-path-nowhere',
    `${why} Name a many-to-one relationship that leads to a table with a clientColumn.`,
  );
};

const nowhere: { readonly [State in EdgeState]?: string } = {
  'to-shared': 'is listed in sharedTables and belongs to no client',
  'to-bridged': 'belongs to several clients by its through',
  'to-many': 'may have many rows for one row',
};

/**
 * Returns the fault of a relationship that would lead to a client if its cardinality were declared or its column had a
 * unique key; undefined if there is none.
 */
const edgeFault = (source: TenancySource, table: TableRef, from: DatamartTable): Unreadable | undefined => {
  const found = (state: EdgeState): TenancyStep | undefined =>
    chosenEdges(source.datamart, from).find((edge) => {
      const far = findTable(source.datamart, edge.step.far);
      return far !== undefined && edgeState(source, edge) === state && hasPath(source, far, [table, from]);
    })?.step;
  const bridged = chosenEdges(source.datamart, from).find((edge) => edgeState(source, edge) === 'to-bridged')?.step;
  if (bridged !== undefined) {
    const why = `relationship ${bridged.relationshipName} leads to ${nameOf(bridged.far)}, whose rows belong to several clients (through), so they do not say whose a row of ${nameOf(from)} is.`;
    const fix = `Set clientColumn of ${nameOf(from)}, or add a relationship to a table whose rows belong to one client.`;
    return unreadable(table, 'belongs-to-several', `${why} ${fix}`);
  }
  const shareFix = `or list ${nameOf(from)} in sharedTables if all clients may read it.`;
  const within = found('key-within-client');
  if (within !== undefined) {
    const why = `relationship ${within.relationshipName} joins ${columnText(within.far)}, which is unique only within one client: rows of ${nameOf(from)} could match the parents of several clients.`;
    const fix = `Join by a column that has a unique key of its own, set clientColumn of ${nameOf(from)}, ${shareFix}`;
    return unreadable(table, 'key-within-client', `${why} ${fix}`);
  }
  const unknown = found('cardinality-unknown');
  if (unknown === undefined) return undefined;
  const why = `relationship ${unknown.relationshipName} may match several rows of ${nameOf(unknown.far)} to one row of ${nameOf(from)}.`;
  const fix = `Declare its cardinality, give ${columnText(unknown.far)} a unique key, ${shareFix}`;
  return unreadable(table, 'cardinality-unknown', `${why} ${fix}`);
};
