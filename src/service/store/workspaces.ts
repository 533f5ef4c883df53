import type { Insertable, Kysely, Selectable } from 'kysely';
import type { Datamart } from '../../model/datamart/datamart.js';
import { reachesDatamart, type Workspace } from '../../model/organization.js';
import type { Page } from '../../model/page.js';
import { mapItems, whole } from '../../model/slices.js';
import { decodeDatamart } from './datamarts.js';
import { listRows } from './list-rows.js';
import { createNamedStore } from './named.js';
import { createHolds, jsonb } from './query.js';
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

export const createWorkspaceStore = (db: Kysely<Tables>) => ({
  ...createNamedStore(db, { table: 'workspaces', what: 'The workspace', decode, encode }),
  ...createHolds(db, 'workspaces'),
  /** Returns the external ids of the workspace's dashboards, of every owner; at most `limit`. */
  listDashboardIds: async (id: string, limit: number): Promise<readonly string[]> => {
    const dashboards = db
      .selectFrom('dashboards')
      .select('external_dashboard_id as name')
      .where('workspace_id', '=', id);
    return (await dashboards.orderBy('external_dashboard_id').limit(limit).execute()).map(({ name }) => name);
  },
  /** Deletes the workspace with the metrics that are on no dashboard. It must have no dashboards. */
  remove: async (id: string) => {
    await db.deleteFrom('metrics').where('workspace_id', '=', id).execute();
    await db.deleteFrom('workspaces').where('id', '=', id).execute();
  },
  list: (wanted: Page | null) => mapItems(listRows(db.selectFrom('workspaces').selectAll(), ['name'], wanted), decode),
  /**
   * Returns the datamarts that the workspace reaches, ordered by name: one, those of its datasource, or all. Empty if
   * its datamart or datasource was deleted.
   */
  listDatamarts: async (workspace: Workspace): Promise<readonly Datamart[]> => {
    const rows = await whole(listRows(db.selectFrom('datamarts').selectAll(), ['name'], null));
    // Before they are read: one that cannot be read takes nothing from other workspaces.
    return rows
      .filter(({ id, datasource_id: datasourceId }) => reachesDatamart(workspace, { id, datasourceId }))
      .map(decodeDatamart);
  },
});

/** Stores workspaces. `list` is ordered by name. */
export type WorkspaceStore = ReturnType<typeof createWorkspaceStore>;
