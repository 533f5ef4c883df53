/** A selection of a datasource's tables and columns, with tenancy and the ways its tables join. */
export type Datamart = {
  readonly id: string;
  readonly name: string;
  readonly datasourceId: string;
  /** Null: no tenancy is configured, and the only clientId is the literal `None`. */
  readonly tenancy: Tenancy | null;
  readonly tables: readonly DatamartTable[];
  readonly relationships: readonly Relationship[];
  /** Names (`schema.table`) of tables meant for all tenants. */
  readonly sharedTables: readonly string[];
  /** For how long answers over it may be kept; 0: never. Null, or left out: as the configuration says. */
  readonly cacheTtlSeconds?: number | null | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** `TABLE`: `tableName.tablePrimaryKeyColumn` is the master list of clients; each tenant's table names its client column. */
export type Tenancy =
  | {
      readonly tenancyLevel: 'TABLE';
      readonly clientColumnType: 'NUMBER' | 'STRING';
      readonly schemaName: string;
      readonly tableName: string;
      readonly tableClientNameColumn: string;
      readonly tablePrimaryKeyColumn: string;
    }
  | ({ readonly tenancyLevel: 'DATABASE' | 'MULTI_DATABASE'; readonly primaryDatabase: string | null } & KeptMaster);

/** The master table as settings named it at any level: it has effect under `TABLE` alone. */
export type KeptMaster = {
  readonly clientColumnType?: 'NUMBER' | 'STRING' | undefined;
  readonly schemaName?: string | undefined;
  readonly tableName?: string | undefined;
  readonly tableClientNameColumn?: string | undefined;
  readonly tablePrimaryKeyColumn?: string | undefined;
};

export type DatamartTable = {
  readonly schemaName: string;
  readonly tableName: string;
  readonly label: string;
  readonly clientColumn: string | null;
  /** An embed added `clientColumn`: it only narrows, and no other table's tenancy follows from it. Never stored. */
  readonly isClientColumnOfEmbed?: true | undefined;
  /** The relationship that leads to the table's client, where several do. Null, or left out: there is one. */
  readonly tenancyPath?: string | null | undefined;
  /** Not among what end users pick from; metrics that read it go on working. */
  readonly isHide: boolean;
  /** Index pattern, for OpenSearch, which has no engine here. */
  readonly wildcard?: string | null | undefined;
  readonly columns: readonly DatamartColumn[];
};

/** What is left out is false or null: rows of the first release have none of the optional members. */
export type DatamartColumn = {
  readonly columnName: string;
  /** As the datasource names it: `VARCHAR`, `BIGINT`, `TIMESTAMP`. Empty for a custom column. */
  readonly datatype: string;
  readonly alias: string;
  readonly label: string;
  readonly isHide: boolean;
  readonly isApplyTimezone: boolean;
  /** It is `sql`, an expression over columns of the same table, and no column of the datasource. */
  readonly isCustomColumn?: boolean | undefined;
  readonly sql?: string | undefined;
  readonly isAggregate?: boolean | undefined;
  readonly allowAggregate?: boolean | undefined;
  readonly defaultAggregation?: string | null | undefined;
  /** The order of answers that are grouped by it and have no order of their own. */
  readonly defaultSort?: 'ASC' | 'DESC' | null | undefined;
};

export type Cardinality = 'ManyToMany' | 'ManyToOne' | 'OneToMany' | 'OneToOne';
export type JoinKind = 'INNER JOIN' | 'LEFT JOIN' | 'RIGHT JOIN' | 'FULL JOIN';

/** `cardinality` and `join` read from parent to child: `parent LEFT JOIN child`, many parents to one child. */
export type Relationship = {
  readonly relationshipName: string;
  readonly parent: ColumnRef;
  readonly child: ColumnRef;
  readonly cardinality: Cardinality | null;
  /** Null reads as LEFT JOIN. */
  readonly join: JoinKind | null;
};

export type TableRef = { readonly schemaName: string; readonly tableName: string };
export type ColumnRef = TableRef & { readonly columnName: string };

/** `schema.table`, as lists of filter columns and shared tables name a table. */
export const qualifiedName = (table: TableRef): string => `${table.schemaName}.${table.tableName}`;

/** The key of a table in maps; injective, since names are JSON-quoted. */
export const tableKey = (table: TableRef): string => JSON.stringify([table.schemaName, table.tableName]);

export const sameTable = (a: TableRef, b: TableRef): boolean =>
  a.schemaName === b.schemaName && a.tableName === b.tableName;

export const sameColumn = (a: ColumnRef, b: ColumnRef): boolean => sameTable(a, b) && a.columnName === b.columnName;

/** The datamart's table, or undefined: tables outside the datamart do not exist for its users. */
export const findTable = (datamart: Datamart, table: TableRef): DatamartTable | undefined =>
  datamart.tables.find((candidate) => sameTable(candidate, table));

export const findColumn = (datamart: Datamart, column: ColumnRef): DatamartColumn | undefined =>
  findTable(datamart, column)?.columns.find((candidate) => candidate.columnName === column.columnName);

/**
 * The datamart with an embed's `tableTenancySettings`: a table that has no client column gets one, marked as the embed's. A
 * table that has one keeps it, whatever the settings say, and so does the client master table, which is separated by its primary key. `name` is
 * `schema.table`, or a table's name alone.
 */
export const withTenancySettings = (
  datamart: Datamart,
  settings: readonly { readonly name: string; readonly clientColumn: string }[],
): Datamart => {
  if (settings.length === 0) return datamart;
  const scoped = (table: DatamartTable): DatamartTable => {
    const names = [table.tableName, `${table.schemaName}.${table.tableName}`];
    const isMaster = datamart.tenancy?.tenancyLevel === 'TABLE' && sameTable(table, datamart.tenancy);
    const setting =
      table.clientColumn === null && !isMaster ? settings.find(({ name }) => names.includes(name)) : undefined;
    return setting === undefined
      ? table
      : { ...table, clientColumn: setting.clientColumn, isClientColumnOfEmbed: true };
  };
  return { ...datamart, tables: datamart.tables.map(scoped) };
};
