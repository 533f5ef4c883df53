import type { Insertable, Kysely, Selectable } from 'kysely';
import type { Datamart } from '../domain/datamart.js';
import type { NamedStore } from '../domain/ports.js';
import { jsonb, nullableJsonb } from './document.js';
import { assertUpdated, wasInserted } from './query.js';
import type { Tables } from './tables.js';

const decode = (row: Selectable<Tables['datamarts']>): Datamart => ({
  id: row.id,
  name: row.name,
  datasourceId: row.datasource_id,
  tenancy: row.tenancy,
  tables: row.tables,
  relationships: row.relationships,
  sharedTables: row.shared_tables,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const encode = (datamart: Datamart): Insertable<Tables['datamarts']> => ({
  id: datamart.id,
  name: datamart.name,
  datasource_id: datamart.datasourceId,
  tenancy: nullableJsonb(datamart.tenancy),
  tables: jsonb(datamart.tables),
  relationships: jsonb(datamart.relationships),
  shared_tables: jsonb(datamart.sharedTables),
  created_at: datamart.createdAt,
  updated_at: datamart.updatedAt,
});

export const createDatamartStore = (db: Kysely<Tables>): NamedStore<Datamart> => {
  const rows = db.selectFrom('datamarts').selectAll();
  return {
    insert: async (datamart) =>
      wasInserted(
        await db
          .insertInto('datamarts')
          .values(encode(datamart))
          .onConflict((oc) => oc.doNothing())
          .executeTakeFirst(),
      ),
    update: async (datamart) => {
      const { id, ...columns } = encode(datamart);
      assertUpdated(
        await db.updateTable('datamarts').set(columns).where('id', '=', id).executeTakeFirst(),
        'The datamart',
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
