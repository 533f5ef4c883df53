/** A model that exists, and changes to it. Pure functions; fields that Studio does not change stay as they are. */
import { isOfKind, type NamedType } from '../../../model/datamart/datatypes.js';
import type { OperationAnswer, OperationInput } from './api.js';

type Listed = OperationAnswer<'listDatamarts'>['data'][number];
type ListedTable = NonNullable<Listed['datamartTables']>[number];
type ListedColumn = ListedTable['datamartTableColumns'][number];
type StoredRelationship = NonNullable<Listed['datamartRelationships']>[number];

/** `dates` null: they are written as usual again. */
export type StoredColumn = Omit<ListedColumn, 'dates'> & { readonly dates?: ListedColumn['dates'] | null };
export type StoredTable = Omit<ListedTable, 'datamartTableColumns'> & {
  readonly datamartTableColumns: readonly StoredColumn[];
};
export type StoredTenancy = NonNullable<Listed['datamartOrganization']>;
export type StoredModel = Pick<
  Listed,
  'name' | 'updatedAt' | 'datamartOrganization' | 'companyIntegration' | 'rollups'
> & {
  readonly datamartTables: readonly StoredTable[];
  readonly datamartRelationships: readonly StoredRelationship[];
  readonly sharedTables: readonly string[];
};
export type Relationship = Omit<StoredRelationship, 'join'>;

/** The model of that name. Its details are in a list that was not asked to leave them out. */
export const findModel = (models: readonly Listed[], name: string | undefined): StoredModel | undefined =>
  models.find((one) => one.name === name) as StoredModel | undefined;

/** What the column is known by, for the table of types. */
export const typeOfColumn = ({ datatype, isCustomColumn, isBoolean }: StoredColumn): NamedType => ({
  ...{ datatype, isCustomColumn },
  ...(isBoolean === false ? { kind: 'integer' } : {}),
});
/** A column of which nothing is said. */
export const plainColumn: StoredColumn = {
  ...{ columnName: '', datatype: '', alias: '', label: '', isHide: false, isCustomColumn: false, sql: '' },
  ...{ isApplyTimezone: false, isAggregate: false, allowAggregate: false },
  ...{ defaultAggregation: null, defaultSort: null, numbers: null },
};

export const keyOf = ({ schemaName, tableName }: Pick<StoredTable, 'schemaName' | 'tableName'>): string =>
  `${schemaName}.${tableName}`;

export const withStoredTable = (model: StoredModel, key: string, change: Partial<StoredTable>): StoredModel => ({
  ...model,
  datamartTables: model.datamartTables.map((table) => (keyOf(table) === key ? { ...table, ...change } : table)),
});

export const withColumn = (
  model: StoredModel,
  key: string,
  name: string,
  change: Partial<StoredColumn>,
): StoredModel => {
  const columns = model.datamartTables.find((table) => keyOf(table) === key)?.datamartTableColumns ?? [];
  return withStoredTable(model, key, {
    datamartTableColumns: columns.map((column) => (column.columnName === name ? { ...column, ...change } : column)),
  });
};

/** Says whose rows a table holds: `shared`, `related`, or the name of its client column, bridge or relationship. */
export const ownershipOf = (model: StoredModel, table: StoredTable): string => {
  if (table.through !== undefined) return `through:${table.through.relationship}`;
  if (table.clientColumn !== null) return `column:${table.clientColumn}`;
  if (model.sharedTables.includes(keyOf(table)) || model.sharedTables.includes(table.tableName)) return 'shared';
  return table.tenancyPath === null ? 'related' : `path:${table.tenancyPath}`;
};

/** Whose the rows of a table can be, as choices. */
export const anyOwners = [
  ['related', 'By a relationship to an owned table'],
  ['shared', 'Everybody’s: all tenants read every row'],
] as const;
export const columnOwner = ({ columnName }: { readonly columnName: string }) =>
  [`column:${columnName}`, `Column ${columnName} has the client id`] as const;

const isNameOf = (table: StoredTable) => {
  const names = [keyOf(table), table.tableName];
  return (name: string): boolean => names.includes(name);
};

/** The relationships by which rows of another table, a bridge, can say which tenants read the rows of a table. */
export const bridgesOf = (model: StoredModel, table: StoredTable): readonly StoredRelationship[] => {
  const isTable = isNameOf(table);
  return model.datamartRelationships.filter(({ parentTableName, childTableName, cardinality }) => {
    const [many, one] =
      cardinality === 'OneToMany' ? [childTableName, parentTableName] : [parentTableName, childTableName];
    return isTable(one) && !isTable(many) && cardinality !== 'ManyToMany';
  });
};

/** The columns that a table begins with when it is read through a bridge: the joined one and a name. */
const firstColumns = (model: StoredModel, table: StoredTable, relationship: string): readonly string[] => {
  const isTable = isNameOf(table);
  const found = model.datamartRelationships.find(({ relationshipName }) => relationshipName === relationship);
  const key = found && (isTable(found.childTableName) ? found.childColumnName : found.parentColumnName);
  const name = table.datamartTableColumns.find(({ columnName }) => /^(full_?|display_?)?name$/i.test(columnName));
  return [...new Set([key ?? [], name?.columnName ?? []].flat())];
};

/** The model in which the column of a bridged table is readable, or hidden. Its last column stays readable. */
export const withReadable = (model: StoredModel, key: string, columnName: string, isReadable: boolean): StoredModel => {
  const through = model.datamartTables.find((one) => keyOf(one) === key)?.through;
  if (through === undefined) return model;
  const others = through.columns.filter((name) => name !== columnName);
  const columns = isReadable ? [...others, columnName] : others;
  return columns.length === 0 ? model : withStoredTable(model, key, { through: { ...through, columns } });
};

type StoredFilter = NonNullable<StoredTable['baseFilters']>[number];

/** The base filters that Studio offers for a column, by their words. Others are written in files and stay as they are. */
export const filtersFor = (column: StoredColumn): readonly StoredFilter[] => {
  const { columnName } = column;
  const value = (is: boolean): StoredFilter => ({
    columnName,
    predicate: { kind: 'compare', operator: '=', value: is },
  });
  return [
    { columnName, predicate: { kind: 'isNull' } },
    { columnName, predicate: { kind: 'isNotNull' } },
    ...(isOfKind(typeOfColumn(column), 'boolean') ? [value(false), value(true)] : []),
  ];
};

export const withBaseFilters = (model: StoredModel, key: string, filters: readonly StoredFilter[]): StoredModel =>
  withStoredTable(model, key, { baseFilters: filters.length === 0 ? undefined : filters });

/** The relationships that can say whose the rows of a table are, where there are several. */
export const waysOf = (model: StoredModel, table: StoredTable): readonly StoredRelationship[] => {
  const isTable = isNameOf(table);
  const found = model.datamartRelationships.filter(
    ({ parentTableName, childTableName, cardinality }) =>
      isTable(cardinality === 'OneToMany' ? childTableName : parentTableName) && cardinality !== 'ManyToMany',
  );
  return found.length > 1 || table.tenancyPath !== null ? found : [];
};

const throughOf = (
  model: StoredModel,
  table: StoredTable | undefined,
  relationship: string | null,
): StoredTable['through'] => {
  if (table === undefined || relationship === null) return undefined;
  const columns = table.through?.columns ?? firstColumns(model, table, relationship);
  return { relationship, columns };
};

export const withOwnership = (model: StoredModel, key: string, value: string): StoredModel => {
  const table = model.datamartTables.find((one) => keyOf(one) === key);
  const others = model.sharedTables.filter((name) => name !== key && name !== table?.tableName);
  const named = (kind: string): string | null => (value.startsWith(kind) ? value.slice(kind.length) : null);
  return withStoredTable({ ...model, sharedTables: value === 'shared' ? [...others, key] : others }, key, {
    clientColumn: named('column:'),
    tenancyPath: named('path:'),
    through: throughOf(model, table, named('through:')),
  });
};

/** The model with a calculated column or a measure. Throws if the table has a column of that name. */
export const withCalculated = (
  model: StoredModel,
  key: string,
  { name, sql, isMeasure = false }: { readonly name: string; readonly sql: string; readonly isMeasure?: boolean },
): StoredModel => {
  const columns = model.datamartTables.find((table) => keyOf(table) === key)?.datamartTableColumns ?? [];
  if (columns.some(({ columnName }) => columnName.toLowerCase() === name.toLowerCase())) {
    throw new Error(`${key} has a column “${name}” already. Give this one another name.`);
  }
  const column: StoredColumn = {
    ...plainColumn,
    ...{ columnName: name, label: name, isCustomColumn: true, sql, isAggregate: isMeasure },
  };
  return withStoredTable(model, key, { datamartTableColumns: [...columns, column] });
};

export const withoutColumn = (model: StoredModel, key: string, name: string): StoredModel => {
  const columns = model.datamartTables.find((table) => keyOf(table) === key)?.datamartTableColumns ?? [];
  return withStoredTable(model, key, { datamartTableColumns: columns.filter(({ columnName }) => columnName !== name) });
};

/** The model with a relationship. Throws if one has that name. */
export const withRelationship = (model: StoredModel, relationship: Relationship): StoredModel => {
  const isTaken = model.datamartRelationships.some(
    ({ relationshipName }) => relationshipName === relationship.relationshipName,
  );
  if (isTaken) throw new Error(`There is a relationship “${relationship.relationshipName}” already.`);
  return { ...model, datamartRelationships: [...model.datamartRelationships, { ...relationship, join: null }] };
};

export const withoutRelationship = (model: StoredModel, name: string): StoredModel => ({
  ...model,
  datamartRelationships: model.datamartRelationships.filter(({ relationshipName }) => relationshipName !== name),
});

/** The body of `PUT /data-app/datamarts`. It is refused if somebody changed the model since it was read. */
export const changeOf = ({
  name,
  updatedAt,
  datamartTables,
  datamartRelationships,
  sharedTables,
}: StoredModel): OperationInput<'updateDatamart'> => ({
  datamartName: name,
  expectedUpdatedAt: updatedAt,
  tableList: datamartTables.map(({ tableName, datamartTableColumns, ...table }) => ({
    ...table,
    name: tableName,
    columns: datamartTableColumns.map(({ columnName, datatype: _, sql, isCustomColumn, ...column }) => ({
      ...column,
      name: columnName,
      ...(isCustomColumn ? { isCustomColumn, sql } : {}),
    })),
  })),
  relationships: datamartRelationships,
  sharedTables,
});
