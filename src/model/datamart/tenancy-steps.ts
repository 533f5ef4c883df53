/** Which relationships lead from a table's rows to the rows that they belong to, if clients share tables. */
import {
  type ColumnRef,
  type Datamart,
  type DatamartTable,
  findTable,
  type Relationship,
  sameTable,
  type TableRef,
  tableKey,
} from './datamart.js';

/** One relationship, followed from the table whose rows need a client (`near`) to its parent (`far`): many to one. */
export type TenancyStep = {
  readonly relationshipName: string;
  readonly near: ColumnRef;
  readonly far: ColumnRef;
};

/**
 * Returns the column names of each primary or unique key that a table has in the datasource; empty if no key is known.
 */
export type UniqueKeys = (table: TableRef) => readonly (readonly string[])[];

export type TenancySource = {
  readonly datamart: Datamart;
  readonly uniqueKeys: UniqueKeys;
  /** Cache of valid steps by `tableKey`, since a search visits the same table many times. */
  readonly known: Map<string, readonly TenancyStep[]>;
};

/** The column that alone identifies the client of a table's rows: the client column, or the key of the master table. */
export type OwnerColumn = { readonly kind: 'column' | 'master'; readonly columnName: string };

/** Null if the table has no owner column. A client column that an embed added is not one. */
export const ownerColumn = ({ tenancy }: Datamart, table: DatamartTable): OwnerColumn | null => {
  if (table.clientColumn !== null && table.isClientColumnOfEmbed !== true) {
    return { kind: 'column', columnName: table.clientColumn };
  }
  if (tenancy?.tenancyLevel !== 'TABLE' || !sameTable(table, tenancy)) return null;
  return { kind: 'master', columnName: tenancy.tablePrimaryKeyColumn };
};

/**
 * Whether `sharedTables` lists the table, by `schema.table` or by the bare name. An entry that matches two tables lists
 * neither.
 */
export const isListedAsShared = (
  table: TableRef,
  { sharedTables, tables }: Pick<Datamart, 'sharedTables' | 'tables'>,
): boolean =>
  sharedTables.some((entry) => {
    const meant = tables.filter(({ schemaName, tableName }) =>
      [`${schemaName}.${tableName}`, tableName].includes(entry),
    );
    return meant.length === 1 && meant[0] !== undefined && sameTable(meant[0], table);
  });

/** A relationship of a table, as a step from that table to the other one. */
export type Edge = { readonly step: TenancyStep; readonly relationship: Relationship };

/** Returns the table's relationships as steps away from it, except relationships of the table to itself. */
export const edgesOf = (datamart: Datamart, table: TableRef): readonly Edge[] =>
  datamart.relationships.flatMap((relationship): readonly Edge[] => {
    const { parent, child, relationshipName } = relationship;
    if (sameTable(parent, child)) return [];
    if (sameTable(parent, table)) return [{ relationship, step: { relationshipName, near: parent, far: child } }];
    return sameTable(child, table) ? [{ relationship, step: { relationshipName, near: child, far: parent } }] : [];
  });

/** Returns the edges that may be followed. If `tenancyPath` is set, only the edge that it names. */
export const chosenEdges = (datamart: Datamart, table: DatamartTable): readonly Edge[] =>
  edgesOf(datamart, table).filter(
    ({ step }) => table.tenancyPath == null || table.tenancyPath === step.relationshipName,
  );

/** Returns the table's steps along which rows can get their client. Stores the result in `source.known`. */
export const validSteps = (source: TenancySource, table: DatamartTable): readonly TenancyStep[] => {
  const known = source.known.get(tableKey(table));
  if (known !== undefined) return known;
  const steps = chosenEdges(source.datamart, table)
    .filter((edge) => edgeState(source, edge) === 'valid')
    .map(({ step }) => step);
  source.known.set(tableKey(table), steps);
  return steps;
};

/**
 * Whether rows can get their client along an edge (`valid`), or why not. `to-shared`: the far table is listed in
 * `sharedTables`. `to-bridged`: rows of the far table belong to several clients. `to-many`: a row may have several far rows. `cardinality-unknown`: no declared cardinality or key
 * says that there is at most one far row. `key-within-client`: the far column is unique only within one client.
 */
export type EdgeState = 'valid' | 'to-shared' | 'to-bridged' | 'to-many' | 'cardinality-unknown' | 'key-within-client';

/**
 * Returns whether rows can get their client along the edge, or why not. If no cardinality is declared, the keys of the
 * datasource decide.
 */
export const edgeState = (source: TenancySource, edge: Edge): EdgeState => {
  const { datamart } = source;
  const far = findTable(datamart, edge.step.far);
  if (far === undefined) return 'to-many';
  if (ownerColumn(datamart, far) === null) {
    if (isListedAsShared(far, datamart)) return 'to-shared';
    if (far.through != null) return 'to-bridged';
  }
  return keyState(source, edge, far);
};

/** Whether the edge, which leads from a table to a bridge, joins each row of the bridge to one row of the table. */
export const bridgeState = (
  source: TenancySource,
  { step: { relationshipName, near, far }, relationship }: Edge,
): KeyState => {
  const table = findTable(source.datamart, near);
  return table === undefined
    ? 'to-many'
    : keyState(source, { relationship, step: { relationshipName, near: far, far: near } }, table);
};

export type KeyState = Exclude<EdgeState, 'to-shared' | 'to-bridged'>;

const keyState = (source: TenancySource, { step, relationship }: Edge, far: DatamartTable): KeyState => {
  const { uniqueKeys } = source;
  const { cardinality } = relationship;
  if (cardinality === 'ManyToMany') return 'cardinality-unknown';
  if (cardinality !== null && !isToOne(step, relationship)) return 'to-many';
  const isKey = (column: ColumnRef): boolean =>
    uniqueKeys(column).some((key) => key.length === 1 && key[0] === column.columnName);
  if (isKey(step.far)) return 'valid';
  if (isUniqueWithinClient(source, far, step.far)) return 'key-within-client';
  if (cardinality !== null) return 'valid';
  return isKey(step.near) ? 'to-many' : 'cardinality-unknown';
};

/** Whether the declared cardinality says that each row of the near table has at most one row of the far table. */
const isToOne = ({ near }: TenancyStep, { parent, cardinality }: Relationship): boolean =>
  cardinality === 'OneToOne' || cardinality === (sameTable(near, parent) ? 'ManyToOne' : 'OneToMany');

/**
 * Whether the column is part of a key only together with a column that separates clients, so that several clients may
 * have a row with the same value. A declared cardinality then holds only for the rows of one client, and a join would
 * find parents of other clients.
 */
const isUniqueWithinClient = (source: TenancySource, table: DatamartTable, { columnName }: ColumnRef): boolean => {
  const keys = source.uniqueKeys(table).filter((key) => key.includes(columnName));
  if (keys.length === 0) return false;
  const scope = scopeColumns(source.datamart, table).filter((name) => name !== columnName);
  return keys.some((key) => scope.some((name) => key.includes(name)));
};

/** Returns the table's client column, or the columns of its relationships if it has none. */
const scopeColumns = (datamart: Datamart, table: DatamartTable): readonly string[] => {
  const owner = ownerColumn(datamart, table);
  return owner === null ? edgesOf(datamart, table).map(({ step }) => step.near.columnName) : [owner.columnName];
};

/**
 * Returns the table and all tables that valid steps lead to, nearest first. The search does not continue from a table
 * that has an owner column.
 */
export const reachedTables = (
  source: TenancySource,
  table: DatamartTable,
  visited: readonly TableRef[] = [],
): readonly DatamartTable[] => {
  const reached = [table];
  const seen = new Set([table, ...visited].map(tableKey));
  for (const from of reached) {
    if (ownerColumn(source.datamart, from) !== null) continue;
    for (const { far } of validSteps(source, from)) {
      const next = findTable(source.datamart, far);
      if (next === undefined || seen.has(tableKey(next))) continue;
      seen.add(tableKey(next));
      reached.push(next);
    }
  }
  return reached;
};

/** Whether a path leads from the table to a table with an owner column, without passing through `visited`. */
export const hasPath = (source: TenancySource, table: DatamartTable, visited: readonly TableRef[]): boolean =>
  reachedTables(source, table, visited).some((one) => ownerColumn(source.datamart, one) !== null);

export const isAmong = (tables: readonly TableRef[], table: TableRef): boolean =>
  tables.some((one) => sameTable(one, table));
