import type { Kysely, Selectable } from 'kysely';
import type { DataApp } from '../domain/organization.js';
import type { DataAppStore } from '../domain/ports.js';
import { assertUpdated, wasInserted } from './query.js';
import type { Tables } from './tables.js';

type Row = Selectable<Tables['data_apps']>;

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

export const createDataAppStore = (db: Kysely<Tables>): DataAppStore => {
  const rows = db.selectFrom('data_apps').selectAll();
  return {
    insert: async (dataApp) =>
      wasInserted(
        await db
          .insertInto('data_apps')
          .values(encode(dataApp))
          .onConflict((oc) => oc.doNothing())
          .executeTakeFirst(),
      ),
    update: async (dataApp) => {
      const { id, ...columns } = encode(dataApp);
      assertUpdated(
        await db.updateTable('data_apps').set(columns).where('id', '=', id).executeTakeFirst(),
        'The data app',
      );
    },
    findByName: async (name) => {
      const row = await rows.where('name', '=', name).executeTakeFirst();
      return row && decode(row);
    },
    findById: async (id) => {
      const row = await rows.where('id', '=', id).executeTakeFirst();
      return row && decode(row);
    },
  };
};
