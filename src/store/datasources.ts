import type { Kysely, Selectable } from 'kysely';
import type { Datasource, DatasourceSummary, ServerConnection } from '../domain/organization.js';
import type { Sealer } from '../domain/ports.js';
import type { DatasourceStore } from '../domain/store/organization.js';
import { listRows } from './list-rows.js';
import { createNamedStore } from './named.js';
import { createSourceSyncs } from './source-syncs.js';
import type { Tables } from './tables.js';

type Row = Selectable<Tables['datasources']>;

const decodeConnection = (row: Row, sealer: Sealer) => {
  if (row.datasource_type === 'DUCKDB' && row.path !== null)
    return { datasourceType: 'DUCKDB', path: row.path } as const;
  if (row.sealed === null) throw new Error(`datasource ${row.name} has no connection`);
  // Written by `encode` below, and by nobody else: it does not open where it was changed.
  return JSON.parse(sealer.open(row.sealed, row.id)) as ServerConnection;
};

const encode = (datasource: Datasource, sealer: Sealer): Omit<Row, 'source_tables'> => {
  const { id, name, syncedAt, ...connection } = datasource;
  const isFile = connection.datasourceType === 'DUCKDB';
  return {
    id,
    name,
    datasource_type: connection.datasourceType,
    path: isFile ? connection.path : null,
    sealed: isFile ? null : sealer.seal(JSON.stringify(connection), id),
    synced_at: syncedAt,
  };
};

const decodeSummary = (row: Pick<Row, 'id' | 'name' | 'datasource_type' | 'synced_at'>): DatasourceSummary => ({
  id: row.id,
  name: row.name,
  datasourceType: row.datasource_type,
  syncedAt: row.synced_at,
});

/** Servers' credentials are sealed, and each seal is bound to its datasource's id. */
export const createDatasourceStore = (db: Kysely<Tables>, sealer: Sealer): DatasourceStore => {
  const summaries = db.selectFrom('datasources').select(['id', 'name', 'datasource_type', 'synced_at']);
  return {
    ...createNamedStore(db, {
      table: 'datasources',
      what: 'The datasource',
      decode: (row: Row): Datasource => ({
        id: row.id,
        name: row.name,
        syncedAt: row.synced_at,
        ...decodeConnection(row, sealer),
      }),
      encode: (datasource) => encode(datasource, sealer),
    }),
    list: async (wanted) => (await listRows(summaries, ['name'], wanted)).map(decodeSummary),
    findSummary: async (name) => {
      const row = await summaries.where('name', '=', name).executeTakeFirst();
      return row && decodeSummary(row);
    },
    ...createSourceSyncs(db),
  };
};
