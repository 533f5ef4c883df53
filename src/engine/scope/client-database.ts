/**
 * Where a client's tables really are, at the levels of tenancy where each client has a whole database. A datamart names its tables as
 * the datasource's own database has them; what is read is the client's.
 */
import { dirname, extname, join } from 'node:path';
import { type Datamart, type TableRef, tableKey } from '../../domain/datamart/datamart.js';
import type { ClientLevel } from '../../domain/datamart/source-schema.js';
import type { ClientDatabase, TenantScope } from '../../domain/datamart/tenant.js';
import type { Datasource, DatasourceType } from '../../domain/organization.js';
import { type Catalog, columnsOf } from '../databases/catalog.js';
import { refuseQuery } from '../databases/refuse.js';

export type ClientDatabaseRef = {
  readonly level: ClientLevel;
  readonly database: ClientDatabase;
  /** Of MULTI_DATABASE: what holds the tables that are not the client's. */
  readonly primaryDatabase: string | null;
};

type Asked = { readonly datamart: Datamart; readonly tenant: TenantScope; readonly datasource: Datasource };

/** Null: the tables are the datasource's own. That scope and datamart fit is `scopeToTenant`'s to see. */
export const clientDatabaseOf = ({
  datamart: { tenancy },
  tenant,
}: Pick<Asked, 'datamart' | 'tenant'>): ClientDatabaseRef | null =>
  tenancy === null || tenancy.tenancyLevel === 'TABLE' || tenant.kind !== 'tenant' || tenant.database === null
    ? null
    : { level: tenancy.tenancyLevel, database: tenant.database, primaryDatabase: tenancy.primaryDatabase };

/** Whether a database of this kind is what its tables are qualified by, so that one statement reads several. */
const isDatabaseSchema: Readonly<Record<DatasourceType, boolean>> = {
  DUCKDB: false,
  POSTGRES: false,
  MYSQL: true,
  CLICKHOUSE: true,
};

/** Another database of the same server, or another file of the same folder. */
export const siblingDatabase = (datasource: Datasource, name: string): Datasource =>
  datasource.datasourceType === 'DUCKDB'
    ? { ...datasource, path: join(dirname(datasource.path), `${name}${extname(datasource.path)}`) }
    : { ...datasource, database: name };

/** What is connected to. */
export const datasourceFor = (datasource: Datasource, client: ClientDatabaseRef | null): Datasource =>
  client?.level === 'DATABASE' ? siblingDatabase(datasource, client.database) : datasource;

/** The schemas that a question may read; null: all of what is connected to. */
export const schemasFor = (client: ClientDatabaseRef | null): readonly string[] | null => {
  if (client === null || client.level === 'DATABASE') return null;
  return client.primaryDatabase === null ? [client.database] : [client.primaryDatabase, client.database];
};

const realTable = (table: TableRef, client: ClientDatabaseRef, { datasourceType }: Datasource): TableRef => {
  const isRenamed =
    client.level === 'MULTI_DATABASE' ? table.schemaName !== client.primaryDatabase : isDatabaseSchema[datasourceType];
  return { schemaName: isRenamed ? client.database : table.schemaName, tableName: table.tableName };
};

/** The catalog as the datamart names it: its own tables alone, each with what the client's real table holds. */
export const catalogFor = (asked: Asked, real: Catalog): Catalog => {
  const client = clientDatabaseOf(asked);
  if (client === null) return real;
  const tables = new Map(
    asked.datamart.tables.map((table): [string, TableRef] => [
      tableKey(table),
      realTable(table, client, asked.datasource),
    ]),
  );
  return {
    database: real.database,
    tables: new Map([...tables].map(([key, table]) => [key, columnsOf(real, table)])),
    uniqueKeys: new Map([...tables].map(([key, table]) => [key, real.uniqueKeys?.get(tableKey(table)) ?? []])),
    ownOperators: real.ownOperators,
    client: { database: client.database, tables },
  };
};

/**
 * What `{{DATABASE_NAME}}` stands for in custom SQL, as a name to be quoted: where databases are schemas, and under MULTI_DATABASE, the
 * schema by which the datamart calls the client's tables; else the database itself, for names of three parts. Throws METRIC_QUERY_ERROR
 * where clients have no databases, or the datamart calls their tables by several schemas.
 */
export const databaseNameFor = (asked: Asked): string => {
  const client = clientDatabaseOf(asked);
  if (client === null) {
    return refuseQuery(
      `{{DATABASE_NAME}} needs tenancyLevel DATABASE or MULTI_DATABASE; datamart ${asked.datamart.name} has neither.`,
      'database-name-without-level',
    );
  }
  if (client.level === 'DATABASE' && !isDatabaseSchema[asked.datasource.datasourceType]) return client.database;
  const own = asked.datamart.tables.filter(
    (table) => realTable(table, client, asked.datasource).schemaName === client.database,
  );
  const [name, ...others] = new Set(own.map(({ schemaName }) => schemaName));
  return name === undefined || others.length > 0
    ? refuseQuery(
        `{{DATABASE_NAME}} has no one meaning: datamart ${asked.datamart.name} calls the clients' tables by ${name === undefined ? 'no schema' : 'several schemas'}; name the schema itself.`,
        'database-name-ambiguous',
      )
    : name;
};
