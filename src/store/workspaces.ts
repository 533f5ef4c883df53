import type { Kysely, Selectable } from 'kysely';
import type { Workspace } from '../domain/organization.js';
import type { NamedStore } from '../domain/ports.js';
import { assertUpdated, wasInserted } from './query.js';
import type { Tables } from './tables.js';

type Row = Selectable<Tables['workspaces']>;

const decode = (row: Row): Workspace => ({
  id: row.id,
  name: row.name,
  connectionType: row.connection_type,
  datasourceId: row.datasource_id,
  datamartId: row.datamart_id,
});

const encode = (workspace: Workspace): Row => ({
  id: workspace.id,
  name: workspace.name,
  connection_type: workspace.connectionType,
  datasource_id: workspace.datasourceId,
  datamart_id: workspace.datamartId,
});

export const createWorkspaceStore = (db: Kysely<Tables>): NamedStore<Workspace> => {
  const rows = db.selectFrom('workspaces').selectAll();
  return {
    insert: async (workspace) =>
      wasInserted(
        await db
          .insertInto('workspaces')
          .values(encode(workspace))
          .onConflict((oc) => oc.doNothing())
          .executeTakeFirst(),
      ),
    update: async (workspace) => {
      const { id, ...columns } = encode(workspace);
      assertUpdated(
        await db.updateTable('workspaces').set(columns).where('id', '=', id).executeTakeFirst(),
        'The workspace',
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
