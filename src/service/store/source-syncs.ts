/** What the latest sync of each datasource found. */
import type { Kysely } from 'kysely';
import type { ClientDatabases, ClientLevel, SourceTable } from '../../model/datamart/source-schema.js';
import type { ClientDatabase } from '../../model/datamart/tenant.js';
import { jsonb } from './query.js';
import type { Tables } from './tables.js';

/** Result of a sync of a datasource. */
export type SyncedSource = { readonly tables: readonly SourceTable[]; readonly clientDatabases: ClientDatabases };

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

const createClientDatabases = (db: Kysely<Tables>) => ({
  /**
   * Returns the client database of exactly this name, byte by byte, from the list of the latest sync. Undefined if the
   * name is not listed, or there is no list.
   */
  findClientDatabase: async (datasourceId: string, level: ClientLevel, name: string) => {
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
  /** Returns the first names of the list of the latest sync, in order. */
  listClientDatabases: async (
    datasourceId: string,
    level: ClientLevel,
    limit: number,
  ): Promise<readonly ClientDatabase[]> => {
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

export const createSourceSyncs = (db: Kysely<Tables>) => ({
  ...createClientDatabases(db),
  /** Stores the result of a sync at `syncedAt`, unless a later result is stored. Must be called in a transaction. */
  saveSync: async (datasourceId: string, { tables, clientDatabases }: SyncedSource, syncedAt: Date) => {
    const { numUpdatedRows } = await db
      .updateTable('datasources')
      .set({ source_tables: jsonb(tables), synced_at: syncedAt })
      .where('id', '=', datasourceId)
      .where((eb) => eb.or([eb('synced_at', 'is', null), eb('synced_at', '<=', syncedAt)]))
      .executeTakeFirst();
    if (numUpdatedRows > 0n) await replaceClientDatabases(db, datasourceId, clientDatabases);
  },
  /** Returns the tables that the latest sync found; undefined if there was no sync. */
  findTables: async (datasourceId: string): Promise<readonly SourceTable[] | undefined> => {
    const row = await db
      .selectFrom('datasources')
      .select('source_tables')
      .where('id', '=', datasourceId)
      .executeTakeFirst();
    return row?.source_tables ?? undefined;
  },
});
