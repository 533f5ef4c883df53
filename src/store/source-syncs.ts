/** What the latest sync of each datasource found. */
import type { Kysely } from 'kysely';
import type { ClientDatabases, ClientLevel } from '../domain/datamart/source-schema.js';
import type { ClientDatabase } from '../domain/datamart/tenant.js';
import type { DatasourceStore } from '../domain/store/organization.js';
import { jsonb } from './document.js';
import type { Tables } from './tables.js';

const rowsPerInsert = 5000;

const replaceClientDatabases = async (
  db: Kysely<Tables>,
  datasourceId: string,
  found: ClientDatabases,
): Promise<void> => {
  await db.deleteFrom('client_databases').where('datasource_id', '=', datasourceId).execute();
  const rows = (Object.keys(found) as ClientLevel[]).flatMap((level) =>
    found[level].map((name) => ({ datasource_id: datasourceId, level, name })),
  );
  for (let start = 0; start < rows.length; start += rowsPerInsert) {
    await db
      .insertInto('client_databases')
      .values(rows.slice(start, start + rowsPerInsert))
      .execute();
  }
};

/** This is the only place that creates a `ClientDatabase`: the name is in the datasource's synced list. */
const listed = ({ name }: { readonly name: string }): ClientDatabase => name as ClientDatabase;

export const createSourceSyncs = (
  db: Kysely<Tables>,
): Pick<DatasourceStore, 'saveSync' | 'findTables' | 'findClientDatabase' | 'listClientDatabases'> => ({
  saveSync: async (datasourceId, { tables, clientDatabases }, syncedAt) => {
    const { numUpdatedRows } = await db
      .updateTable('datasources')
      .set({ source_tables: jsonb(tables), synced_at: syncedAt })
      .where('id', '=', datasourceId)
      .where((eb) => eb.or([eb('synced_at', 'is', null), eb('synced_at', '<=', syncedAt)]))
      .executeTakeFirst();
    if (numUpdatedRows > 0n) await replaceClientDatabases(db, datasourceId, clientDatabases);
  },
  findTables: async (datasourceId) => {
    const row = await db
      .selectFrom('datasources')
      .select('source_tables')
      .where('id', '=', datasourceId)
      .executeTakeFirst();
    return row?.source_tables ?? undefined;
  },
  findClientDatabase: async (datasourceId, level, name) => {
    // PostgreSQL rejects NUL in text, and no database name contains it.
    if (name.includes('\0')) return undefined;
    const row = await db
      .selectFrom('client_databases')
      .select('name')
      .where('datasource_id', '=', datasourceId)
      .where('level', '=', level)
      .where('name', '=', name)
      .executeTakeFirst();
    return row === undefined ? undefined : listed(row);
  },
  listClientDatabases: async (datasourceId, level, limit) => {
    const rows = await db
      .selectFrom('client_databases')
      .select('name')
      .where('datasource_id', '=', datasourceId)
      .where('level', '=', level)
      .orderBy('name')
      .limit(limit)
      .execute();
    return rows.map(listed);
  },
});
