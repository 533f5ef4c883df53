import type { Insertable, Kysely, Selectable } from 'kysely';
import { reachesDatamart, type Workspace } from '../domain/organization.js';
import { mapItems, whole } from '../domain/slices.js';
import type { WorkspaceStore } from '../domain/store/organization.js';
import { decodeDatamart } from './datamarts.js';
import { jsonb } from './document.js';
import { createHolds } from './holds.js';
import { listRows } from './list-rows.js';
import { createNamedStore } from './named.js';
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
  ...createHolds(db, 'workspaces'),
  listDashboardIds: async (id, limit) => {
    const dashboards = db
      .selectFrom('dashboards')
      .select('external_dashboard_id as name')
      .where('workspace_id', '=', id);
    return (await dashboards.orderBy('external_dashboard_id').limit(limit).execute()).map(({ name }) => name);
  },
  remove: async (id) => {
    await db.deleteFrom('metrics').where('workspace_id', '=', id).execute();
    await db.deleteFrom('workspaces').where('id', '=', id).execute();
  },
  list: (wanted) => mapItems(listRows(db.selectFrom('workspaces').selectAll(), ['name'], wanted), decode),
  listDatamarts: async (workspace) => {
    const rows = await whole(listRows(db.selectFrom('datamarts').selectAll(), ['name'], null));
    return rows.map(decodeDatamart).filter((datamart) => reachesDatamart(workspace, datamart));
  },
});
