import type { Kysely, Selectable } from 'kysely';
import type { DataApp } from '../../model/organization.js';
import type { Page } from '../../model/page.js';
import { mapItems } from '../../model/slices.js';
import { listRows } from './list-rows.js';
import { createNamedStore } from './named.js';
import { isNameTaken } from './query.js';
import type { Tables } from './tables.js';

type Row = Omit<Selectable<Tables['data_apps']>, 'erasures'>;

const decode = (row: Row): DataApp => ({
  id: row.id,
  name: row.name,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const encode = (dataApp: DataApp): Row => ({
  id: dataApp.id,
  name: dataApp.name,
  created_at: dataApp.createdAt,
  updated_at: dataApp.updatedAt,
});

/**
 * Deleting a data app also deletes its keys, embeds, guest tokens, dashboards and metrics, in the same statement:
 * foreign keys cascade.
 */
export const createDataAppStore = (db: Kysely<Tables>) => {
  const named = createNamedStore(db, { table: 'data_apps', what: 'The data app', decode, encode });
  return {
    ...named,
    /**
     * Renames the data app. `gone`: no data app has that id and name. `taken`: the new name is in use; of two
     * simultaneous renames to one name, one succeeds. Must not be called in a transaction.
     */
    rename: (from: DataApp, to: DataApp) => rename(db, from, to),
    /** Deletes the data app and everything that belongs to it. Returns false if it does not exist. */
    delete: async (id: string) =>
      (await db.deleteFrom('data_apps').where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n,
    /** Prevents deletion of the data app until the transaction ends. Returns false if it does not exist. */
    hold: async (id: string) =>
      (await db.selectFrom('data_apps').select('id').where('id', '=', id).forKeyShare().executeTakeFirst()) !==
      undefined,
    /** Returns the data apps, ordered by name. */
    list: (wanted: Page | null) => mapItems(listRows(db.selectFrom('data_apps').selectAll(), ['name'], wanted), decode),
  };
};

export type DataAppStore = ReturnType<typeof createDataAppStore>;

const rename = async (db: Kysely<Tables>, from: DataApp, to: DataApp): Promise<'renamed' | 'gone' | 'taken'> => {
  try {
    const { numUpdatedRows } = await db
      .updateTable('data_apps')
      .set({ name: to.name, updated_at: to.updatedAt })
      .where('id', '=', from.id)
      .where('name', '=', from.name)
      .executeTakeFirst();
    return numUpdatedRows === 1n ? 'renamed' : 'gone';
  } catch (error) {
    if (isNameTaken(error)) return 'taken';
    throw error;
  }
};
