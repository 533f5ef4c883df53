import type { Kysely, Selectable } from 'kysely';
import type { Workspace } from '../domain/organization.js';
import type { WorkspaceStore } from '../domain/ports.js';
import { decodeDatamart } from './datamarts.js';
import { createNamedStore } from './named.js';
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

export const createWorkspaceStore = (db: Kysely<Tables>): WorkspaceStore => ({
  ...createNamedStore(db, { table: 'workspaces', what: 'The workspace', decode, encode }),
  listDatamarts: async ({ datamartId, datasourceId }) => {
    const rows = await db
      .selectFrom('datamarts')
      .selectAll()
      .$if(datamartId !== null, (query) => query.where('id', '=', datamartId))
      .$if(datasourceId !== null, (query) => query.where('datasource_id', '=', datasourceId ?? ''))
      .orderBy('name')
      .execute();
    return rows.map(decodeDatamart);
  },
});
