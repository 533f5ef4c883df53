/**
 * Where a client's tables are, at the tenancy levels where each client has a database. A datamart names tables as
 * they are in the datasource's own database; questions read the client's.
 */
import { dirname, extname, join } from 'node:path';
import { type Datamart, type TableRef, tableKey } from '../../model/datamart/datamart.js';
import type { ClientLevel } from '../../model/datamart/source-schema.js';
import type { ClientDatabase, TenantScope } from '../../model/datamart/tenant.js';
import { type Datasource, isFile } from '../../model/organization.js';
import { kinds } from '../databases/kinds.js';
import { type Catalog, columnsOf } from '../dialect/catalog.js';
import { refuseQuery } from '../dialect/refuse.js';

export type ClientDatabaseRef = {
  readonly level: ClientLevel;
  readonly database: ClientDatabase;
  /** Of MULTI_DATABASE: the database with the tables that are shared by all clients. */
  readonly primaryDatabase: string | null;
};

type Asked = { readonly datamart: Datamart; readonly tenant: TenantScope; readonly datasource: Datasource };

/** Null: the tables are in the datasource's own database. `scopeToTenant` checks that tenant and datamart fit. */
export const clientDatabaseOf = ({
  datamart: { tenancy },
  tenant,
}: Pick<Asked, 'datamart' | 'tenant'>): ClientDatabaseRef | null =>
  tenancy === null || tenancy.tenancyLevel === 'TABLE' || tenant.kind !== 'tenant' || tenant.database === null
    ? null
    : { level: tenancy.tenancyLevel, database: tenant.database, primaryDatabase: tenancy.primaryDatabase };

/** Another database of the same server, or another file of the same folder. */
export const siblingDatabase = (datasource: Datasource, name: string): Datasource =>
  isFile(datasource)
    ? { ...datasource, path: join(dirname(datasource.path), `${name}${extname(datasource.path)}`) }
    : { ...datasource, database: name };

/** The datasource to connect to for this client. */
export const datasourceFor = (datasource: Datasource, client: ClientDatabaseRef | null): Datasource =>
  client?.level === 'DATABASE' ? siblingDatabase(datasource, client.database) : datasource;

/** The schemas that a question may read; null: all schemas of the connected database. */
export const schemasFor = (client: ClientDatabaseRef | null): readonly string[] | null => {
  if (client === null || client.level === 'DATABASE') return null;
  return client.primaryDatabase === null ? [client.database] : [client.primaryDatabase, client.database];
};

const realTable = (table: TableRef, client: ClientDatabaseRef, { datasourceType }: Datasource): TableRef => {
  const isRenamed =
    client.level === 'MULTI_DATABASE'
      ? table.schemaName !== client.primaryDatabase
      : kinds[datasourceType].isDatabaseSchema;
  return { schemaName: isRenamed ? client.database : table.schemaName, tableName: table.tableName };
};

/**
 * The catalog under the datamart's names: the datamart's tables only, each with the columns of the client's real
 * table.
 */
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
 * The name that `{{DATABASE_NAME}}` stands for in custom SQL. Where databases are schemas, and under MULTI_DATABASE,
 * this is the schema by which the datamart names the client's tables; otherwise the database, for names of three
 * parts.
 * @throws METRIC_QUERY_ERROR where clients have no databases, or the datamart names their tables by several schemas.
 */
export const databaseNameFor = (asked: Asked): string => {
  const client = clientDatabaseOf(asked);
  if (client === null) {
    return refuseQuery(
      `{{DATABASE_NAME}} needs tenancyLevel DATABASE or MULTI_DATABASE; datamart ${asked.datamart.name} has neither.`,
      'database-name-without-level',
    );
  }
  if (client.level === 'DATABASE' && !kinds[asked.datasource.datasourceType].isDatabaseSchema) return client.database;
  const own = asked.datamart.tables.filter(
    (table) => realTable(table, client, asked.datasource).schemaName === client.database,
  );
  const [name, ...others] = new Set(own.map(({ schemaName }) => schemaName));
  return name === undefined || others.length > 0
    ? refuseQuery(
        `{{DATABASE_NAME}} is ambiguous: datamart ${asked.datamart.name} calls the clients' tables by ${name === undefined ? 'no schema' : 'several schemas'}; name the schema itself.`,
        'database-name-ambiguous',
      )
    : name;
};
