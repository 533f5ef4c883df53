import type { Insertable, Kysely, Selectable } from 'kysely';
import { reachesDatamart, type Workspace } from '../domain/organization.js';
import type { WorkspaceStore } from '../domain/ports.js';
import { decodeDatamart } from './datamarts.js';
import { jsonb } from './document.js';
import { createNamedStore } from './named.js';
import { page } from './query.js';
import type { Tables } from './tables.js';

const decode = (row: Selectable<Tables['workspaces']>): Workspace => ({
  ...row.settings,
  id: row.id,
  name: row.name,
  connectionType: row.connection_type,
  datasourceId: row.datasource_id,
  datamartId: row.datamart_id,
});

const encode = (workspace: Workspace): Insertable<Tables['workspaces']> => {
  const { id, name, connectionType, datasourceId, datamartId, ...settings } = workspace;
  return {
    id,
    name,
    connection_type: connectionType,
    datasource_id: datasourceId,
    datamart_id: datamartId,
    settings: jsonb(settings),
  };
};

export const createWorkspaceStore = (db: Kysely<Tables>): WorkspaceStore => ({
  ...createNamedStore(db, { table: 'workspaces', what: 'The workspace', decode, encode }),
  list: async (wanted) =>
    (await db.selectFrom('workspaces').selectAll().orderBy('name').$call(page(wanted)).execute()).map(decode),
  listDatamarts: async (workspace) => {
    const rows = await db.selectFrom('datamarts').selectAll().orderBy('name').execute();
    return rows.map(decodeDatamart).filter((datamart) => reachesDatamart(workspace, datamart));
  },
});
