import type { Kysely, Selectable } from 'kysely';
import type { Datasource } from '../domain/organization.js';
import type { NamedStore } from '../domain/ports.js';
import { assertUpdated, wasInserted } from './query.js';
import type { Tables } from './tables.js';

type Row = Selectable<Tables['datasources']>;

const decode = (row: Row): Datasource => ({
  id: row.id,
  name: row.name,
  datasourceType: row.datasource_type,
  path: row.path,
});

const encode = (datasource: Datasource): Row => ({
  id: datasource.id,
  name: datasource.name,
  datasource_type: datasource.datasourceType,
  path: datasource.path,
});

export const createDatasourceStore = (db: Kysely<Tables>): NamedStore<Datasource> => {
  const rows = db.selectFrom('datasources').selectAll();
  return {
    insert: async (datasource) =>
      wasInserted(
        await db
          .insertInto('datasources')
          .values(encode(datasource))
          .onConflict((oc) => oc.doNothing())
          .executeTakeFirst(),
      ),
    update: async (datasource) => {
      const { id, ...columns } = encode(datasource);
      assertUpdated(
        await db.updateTable('datasources').set(columns).where('id', '=', id).executeTakeFirst(),
        'The datasource',
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
