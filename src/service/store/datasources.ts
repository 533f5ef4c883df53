import type { Kysely, Selectable } from 'kysely';
import {
  type Datasource,
  type DatasourceSummary,
  type FileConnection,
  isFile,
  type ServerConnection,
} from '../../model/organization.js';
import type { Page } from '../../model/page.js';
import { mapItems } from '../../model/slices.js';
import type { Sealer } from '../../platform/keys/sealing.js';
import { listRows } from './list-rows.js';
import { createNamedStore } from './named.js';
import { createHolds } from './query.js';
import { createSourceSyncs } from './source-syncs.js';
import type { Tables } from './tables.js';

type Row = Selectable<Tables['datasources']>;

const decodeConnection = (row: Row, sealer: Sealer) => {
  if (row.path !== null)
    return { datasourceType: row.datasource_type as FileConnection['datasourceType'], path: row.path };
  if (row.sealed === null) throw new Error(`datasource ${row.name} has no connection`);
  // Only `encode` below writes sealed connections, and `open` throws if the text was changed. So the decrypted JSON has
  // this type.
  return JSON.parse(sealer.open(row.sealed, row.id)) as ServerConnection;
};

const encode = (datasource: Datasource, sealer: Sealer): Omit<Row, 'source_tables'> => {
  const { id, name, syncedAt, ...connection } = datasource;
  return {
    id,
    name,
    datasource_type: connection.datasourceType,
    path: isFile(connection) ? connection.path : null,
    sealed: isFile(connection) ? null : sealer.seal(JSON.stringify(connection), id),
    synced_at: syncedAt,
  };
};

const decodeSummary = (row: Pick<Row, 'id' | 'name' | 'datasource_type' | 'synced_at'>): DatasourceSummary => ({
  id: row.id,
  name: row.name,
  datasourceType: row.datasource_type,
  syncedAt: row.synced_at,
});

/**
 * Connections of servers are encrypted. Each is bound to its datasource's id, so it cannot be decrypted for another
 * datasource.
 */
export const createDatasourceStore = (db: Kysely<Tables>, sealer: Sealer) => {
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
    ...createHolds(db, 'datasources'),
    /** Returns the datamarts and workspaces of the datasource; at most `limit` of each. */
    listUsers: async (id: string, limit: number) => {
      const namesOf = async (table: 'datamarts' | 'workspaces'): Promise<readonly string[]> => {
        const users = db.selectFrom(table).select('name').where('datasource_id', '=', id);
        return (await users.orderBy('name').limit(limit).execute()).map(({ name }) => name);
      };
      return { datamarts: await namesOf('datamarts'), workspaces: await namesOf('workspaces') };
    },
    /** Deletes the datasource with what its syncs found. Nothing may stand on it. */
    remove: async (id: string) => {
      await db.deleteFrom('datasources').where('id', '=', id).execute();
    },
    /** Returns the datasources, ordered by name. Decrypts no credentials, so it also works if their key is lost. */
    list: (wanted: Page | null) => mapItems(listRows(summaries, ['name'], wanted), decodeSummary),
    /** Returns the datasource of that name. Decrypts no credentials. */
    findSummary: async (name: string) => {
      const row = await summaries.where('name', '=', name).executeTakeFirst();
      return row && decodeSummary(row);
    },
    ...createSourceSyncs(db),
  };
};

export type DatasourceStore = ReturnType<typeof createDatasourceStore>;
