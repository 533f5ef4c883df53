import type { Predicate } from '../predicate.js';
import type { DatatypeKind } from './datatypes.js';
import type { ColumnDates, DateGrain } from './dates.js';
import type { Mask } from './masks.js';

/** A selection of a datasource's tables and columns, with tenancy and relationships. */
export type Datamart = {
  readonly id: string;
  readonly name: string;
  readonly datasourceId: string;
  /** Null if no tenancy is configured. The only clientId is then the literal `None`. */
  readonly tenancy: Tenancy | null;
  readonly tables: readonly DatamartTable[];
  readonly relationships: readonly Relationship[];
  /** Names (`schema.table`) of the tables that all tenants may read. */
  readonly sharedTables: readonly string[];
  /** How many seconds answers may be cached; 0 disables caching. Null or undefined: the configured default. */
  readonly cacheTtlSeconds?: number | null | undefined;
  /**
   * For how many seconds after that a card may still show the earlier answer, which says of when it is, while it is asked
   * anew. Null or undefined: not at all.
   */
  readonly cacheStaleSeconds?: number | null | undefined;
  /** Sums that are kept beside the source, and may answer questions in its place. Undefined: there are none. */
  readonly rollups?: readonly Rollup[] | undefined;
  /**
   * Set if a token's rules were applied to the columns: the rules as a key of caches, and the datamart without them,
   * which only the engine reads. Never stored.
   */
  readonly ruled?: { readonly key: string; readonly stored: Datamart } | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/**
 * How the datamart tells which rows belong to a client. At level `TABLE`, `tableName.tablePrimaryKeyColumn` is the
 * master list of clients, and each tenant table names its client column.
 */
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

/** The master table as settings named it at any level. It has an effect only at level `TABLE`. */
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
  /**
   * True if an embed added `clientColumn`. The column then only restricts rows; the tenancy of other tables cannot be
   * derived from it. Never stored.
   */
  readonly isClientColumnOfEmbed?: true | undefined;
  /**
   * Name of the relationship that leads to the table's client, if several do. Null or undefined: the relationship is
   * found automatically.
   */
  readonly tenancyPath?: string | null | undefined;
  /** Null or undefined: the rows do not belong to tenants by a bridge. */
  readonly through?: Through | null | undefined;
  /** Conditions of every read of the table, all of which hold. Only a metric of an author may be without them. */
  readonly baseFilters?: readonly BaseFilter[] | undefined;
  /** Columns of the datasource that were left out on purpose, so that a comparison with the database does not offer them. */
  readonly leftOut?: readonly string[] | undefined;
  /** Whether the table is left out of the lists that end users choose from. Metrics that read the table still work. */
  readonly isHide: boolean;
  /** Index pattern for OpenSearch. The engine does not support OpenSearch. */
  readonly wildcard?: string | null | undefined;
  readonly columns: readonly DatamartColumn[];
  /** Columns that a token hides: only tenancy, relationships and the token's own conditions read them. Never stored. */
  readonly hiddenColumns?: readonly DatamartColumn[] | undefined;
};

/**
 * Says that rows of the table belong to several tenants, such as users. A tenant reads the rows for which the bridge,
 * such as the memberships, has a row of the tenant. No other table gets its tenant from a table of this kind.
 */
export type Through = {
  /** Name of the relationship from the bridge, many to one. */
  readonly relationship: string;
  /** The columns that may be read. All others are hidden, also from authors; relationships use them. */
  readonly columns: readonly string[];
};

/** The periods in which a rollup groups its time, and by which its partitions are made. */
export const rollupGrains = ['hour', 'day', 'month'] as const;
export const rollupPeriods = ['day', 'month', 'quarter', 'year'] as const;
export const rollupAggregates = ['SUM', 'COUNT', 'MIN', 'MAX', 'AVG'] as const;

/**
 * Rows of one table, grouped and summed for all tenants at once. It holds the client column of its table, the
 * dimensions, and the time by `grain`; the number of rows is always among its measures.
 */
export type Rollup = {
  readonly name: string;
  readonly from: TableRef;
  readonly dimensions: readonly string[];
  readonly grain: (typeof rollupGrains)[number];
  readonly measures: readonly RollupMeasure[];
  /**
   * The time of a row, and the periods that are built one by one. A period is closed once it has been over for
   * `closesAfterHours`.
   */
  readonly partition: {
    readonly column: string;
    readonly by: (typeof rollupPeriods)[number];
    readonly closesAfterHours: number;
  };
  readonly refresh: RollupRefresh;
};

/**
 * When closed periods are built: so often, at a time of each day, or both. `again`: how many of the latest ones are built
 * anew each time. `changeColumn`: each write of a row sets it higher than in all rows before, so that no change of a
 * closed period goes unnoticed.
 */
export type RollupRefresh = {
  readonly everyMinutes?: number | undefined;
  /** As `HH:MM`, in `timezone`. */
  readonly at?: string | undefined;
  readonly timezone?: string | undefined;
  readonly again: number;
  readonly changeColumn?: string | undefined;
};

export type RollupMeasure = { readonly aggregate: (typeof rollupAggregates)[number]; readonly column: string };

/** NULL passes only `isNull`. The column is one of the datasource, and need not be in the datamart. */
export type BaseFilter = { readonly columnName: string; readonly predicate: BasePredicate };
export type BasePredicate = Exclude<Predicate, { readonly kind: 'inQuery' | 'recurring' }>;

/**
 * A column of a datamart. A missing optional field means false or null: rows of the first release have none of these
 * fields.
 */
export type DatamartColumn = {
  readonly columnName: string;
  /** Datatype as the datasource names it: `VARCHAR`, `BIGINT`, `TIMESTAMP`. Empty for a custom column. */
  readonly datatype: string;
  /** What its values are, as the datasource or the author says. Undefined for columns of an earlier release. */
  readonly kind?: DatatypeKind | undefined;
  readonly alias: string;
  readonly label: string;
  readonly isHide: boolean;
  readonly isApplyTimezone: boolean;
  /**
   * Whether the column is computed by `sql`, an expression over columns of the same table, and does not exist in the
   * datasource.
   */
  readonly isCustomColumn?: boolean | undefined;
  readonly sql?: string | undefined;
  readonly isAggregate?: boolean | undefined;
  readonly allowAggregate?: boolean | undefined;
  readonly defaultAggregation?: string | null | undefined;
  /** Sort direction of answers that are grouped by this column and have no sort of their own. */
  readonly defaultSort?: 'ASC' | 'DESC' | null | undefined;
  /** The grain by which dates of the column are grouped in new metrics. Null or undefined: by month. */
  readonly defaultGrain?: DateGrain | null | undefined;
  /** What the numbers of the column are, and how new metrics write them. Null or undefined: plain numbers. */
  readonly numbers?: ModelNumbers | null | undefined;
  /** How dates of the column are written in new metrics. Null or undefined: as usual. */
  readonly dates?: ColumnDates | null | undefined;
  /** What a token leaves of the values. Never stored. */
  readonly mask?: Mask | undefined;
};

/** The same fields as a chart has for its numbers. */
export type ColumnNumbers = {
  readonly format?: 'number' | 'percent' | undefined;
  readonly unit?: string | undefined;
  readonly currency?: string | undefined;
  readonly notation?: 'full' | 'compact' | undefined;
  readonly decimals?: number | undefined;
};

/** What the datamart says of a column's numbers. */
export type ModelNumbers = Omit<ColumnNumbers, 'currency'> & {
  /**
   * How many of the last digits of the stored numbers are decimal places: 2 for cents. The leaf alone reads it: all else
   * has the values in whole units.
   */
  readonly scale?: number | undefined;
  readonly currency?: string | CurrencySource | undefined;
};

/** Where the currency is written: in each row, or in the tenant's row of the client master table. */
export type CurrencySource = { readonly column: string } | { readonly tenantColumn: string };

/** Whether the column is a measure of the datamart: an aggregating expression that metrics choose by its name. */
export const isMeasureColumn = ({ isCustomColumn, isAggregate }: DatamartColumn): boolean =>
  isCustomColumn === true && isAggregate === true;

export type Cardinality = 'ManyToMany' | 'ManyToOne' | 'OneToMany' | 'OneToOne';
export type JoinKind = 'INNER JOIN' | 'LEFT JOIN' | 'RIGHT JOIN' | 'FULL JOIN';

/**
 * A join of two tables. `cardinality` and `join` read from parent to child: `parent LEFT JOIN child`; ManyToOne means
 * many parents to one child.
 */
export type Relationship = {
  readonly relationshipName: string;
  readonly parent: ColumnRef;
  readonly child: ColumnRef;
  readonly cardinality: Cardinality | null;
  /** Null means LEFT JOIN. */
  readonly join: JoinKind | null;
};

export type TableRef = { readonly schemaName: string; readonly tableName: string };
export type ColumnRef = TableRef & { readonly columnName: string };

/** Returns `schema.table`, the form that lists of filter columns and shared tables use. */
export const qualifiedName = (table: TableRef): string => `${table.schemaName}.${table.tableName}`;

/** Returns the key of a table in maps. Different tables have different keys, since the names are JSON-quoted. */
export const tableKey = (table: TableRef): string => JSON.stringify([table.schemaName, table.tableName]);

export const sameTable = (a: TableRef, b: TableRef): boolean =>
  a.schemaName === b.schemaName && a.tableName === b.tableName;

export const sameColumn = (a: ColumnRef, b: ColumnRef): boolean => sameTable(a, b) && a.columnName === b.columnName;

/** Whether the column joins tables, is the key of the tenants, or says whose a row is. */
export const isKeyColumn = (
  { relationships, tenancy }: Pick<Datamart, 'relationships' | 'tenancy'>,
  { schemaName, tableName, clientColumn }: DatamartTable,
  columnName: string,
): boolean => {
  const column = { schemaName, tableName, columnName };
  const isEnd = relationships.some(({ parent, child }) => sameColumn(parent, column) || sameColumn(child, column));
  const isMaster =
    tenancy?.tenancyLevel === 'TABLE' && sameTable(column, tenancy) && tenancy.tablePrimaryKeyColumn === columnName;
  return isEnd || isMaster || clientColumn === columnName;
};

/** Returns the datamart's table, or undefined. Users of the datamart cannot read any other table. */
export const findTable = (datamart: Datamart, table: TableRef): DatamartTable | undefined =>
  datamart.tables.find((candidate) => sameTable(candidate, table));

export const findColumn = (datamart: Datamart, column: ColumnRef): DatamartColumn | undefined =>
  findTable(datamart, column)?.columns.find((candidate) => candidate.columnName === column.columnName);

/**
 * Returns the datamart with the `tableTenancySettings` of an embed. A table without a client column gets one, marked as
 * added by the embed. A table with a client column keeps it. The client master table is not changed, since its primary
 * key separates the clients. `name` is `schema.table` or a table name alone.
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

/** Returns the datamart without hidden tables and columns, as guests may use it. */
export const visibleDatamart = <Model extends Pick<Datamart, 'tables'>>(datamart: Model): Model => ({
  ...datamart,
  tables: visibleTables(datamart.tables),
});

/** As `visibleDatamart`, of its tables. */
export const visibleTables = <Table extends Pick<DatamartTable, 'isHide' | 'columns'>>(
  tables: readonly Table[],
): readonly Table[] =>
  tables
    .filter(({ isHide }) => !isHide)
    .map((table) => ({ ...table, columns: table.columns.filter(({ isHide }) => !isHide) }));

/** A datamart, and the part of it that end users see. */
export type ListedColumns = { readonly datamart: Datamart; readonly visible: Datamart };

export type ListedDatamart = { readonly datamart: Datamart; readonly datasourceName: string };
