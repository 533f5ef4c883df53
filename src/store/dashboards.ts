import { type Kysely, sql } from 'kysely';
import type { Dashboard } from '../domain/dashboard/dashboard.js';
import { mapItems } from '../domain/slices.js';
import type { ClientCopy, DashboardStore, DashboardUsers } from '../domain/store/dashboards.js';
import { listMetrics, lockMetrics, placeFirstMetrics, placeMetrics } from './dashboard-metrics.js';
import { decodeDashboard, encodeDashboard } from './dashboard-row.js';
import { takeName } from './data-app-names.js';
import { jsonb } from './document.js';
import { createHolds } from './holds.js';
import { listRows } from './list-rows.js';
import { assertUpdated, inTransaction, ownedBy, visibleTo, wasInserted } from './query.js';
import type { Tables } from './tables.js';

/** `update` cannot change the owner or the external id: it throws if the stored dashboard has other ones. */
export const createDashboardStore = (db: Kysely<Tables>): DashboardStore => {
  const rows = db.selectFrom('dashboards').selectAll();
  return {
    insert: (dashboard) => inTransaction(db, (transaction) => insert(transaction, dashboard)),
    update: (dashboard) => update(db, dashboard),
    findById: async (id) => {
      const row = await rows.where('id', '=', id).executeTakeFirst();
      return row && decodeDashboard(row);
    },
    listByIds: async (ids) =>
      ids.length === 0 ? [] : (await rows.where('id', 'in', ids).execute()).map(decodeDashboard),
    findByExternalId: (dataAppId, externalDashboardId) => findByExternalId(db, dataAppId, externalDashboardId),
    listByExternalId: (externalDashboardId) => listByExternalId(db, externalDashboardId),
    findTemplate: async (externalDashboardId) => {
      const row = await rows
        .where('external_dashboard_id', '=', externalDashboardId)
        .where('data_app_id', 'is', null)
        .executeTakeFirst();
      return row && decodeDashboard(row);
    },
    listByWorkspace: (workspaceId, dataAppId, wanted) => {
      const visible = rows.where('workspace_id', '=', workspaceId).where(visibleTo(dataAppId));
      return mapItems(listRows(visible, ['name', 'external_dashboard_id', 'id'], wanted), decodeDashboard);
    },
    lock: async (id) => {
      const row = await rows.where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
      return row && decodeDashboard(row);
    },
    hold: createHolds(db, 'dashboards').hold,
    lockToDelete: async (id) => {
      const row = await rows.where('id', '=', id).forUpdate().executeTakeFirst();
      return row && decodeDashboard(row);
    },
    listCopies: (id, dataAppId) => listCopies(db, id, dataAppId),
    listUsers: (id, limit) => listUsers(db, id, limit),
    setLayout: async (id, layout, tiles) => {
      const changed = { layout: jsonb(layout), ...(tiles === undefined ? {} : { tiles: jsonb(tiles) }) };
      const set = db.updateTable('dashboards').set(changed);
      assertUpdated(await set.where('id', '=', id).executeTakeFirst(), 'The dashboard');
    },
    listMetrics: (dashboardId) => listMetrics(db, dashboardId),
    lockMetrics: (dashboardId) => lockMetrics(db, dashboardId),
    placeMetrics: (dashboardId, metrics, now) =>
      inTransaction(db, (transaction) => placeMetrics(transaction, dashboardId, metrics, now)),
    placeFirstMetrics: (dashboardId, metrics, now) => placeFirstMetrics(db, dashboardId, metrics, now),
    delete: (dashboard) => inTransaction(db, (transaction) => remove(transaction, dashboard)),
  };
};

const listCopies = (db: Kysely<Tables>, id: string, dataAppId: string): Promise<readonly ClientCopy[]> =>
  db
    .selectFrom('dashboards')
    .select(['id', 'external_dashboard_id as externalDashboardId', 'client_id as clientId'])
    .where('template_id', '=', id)
    .where('data_app_id', '=', dataAppId)
    .where('client_id', 'is not', null)
    .$narrowType<{ clientId: string }>()
    .orderBy('client_id')
    .orderBy('id')
    .execute();

const listUsers = async (db: Kysely<Tables>, id: string, limit: number): Promise<DashboardUsers> => {
  const copies = db.selectFrom('dashboards').select('external_dashboard_id as name').where('template_id', '=', id);
  const embeds = db.selectFrom('embeds').select('embed_id as name').where('dashboard_id', '=', id);
  return {
    copies: (await copies.orderBy('name').limit(limit).execute()).map(({ name }) => name),
    embeds: (await embeds.orderBy('name').limit(limit).execute()).map(({ name }) => name),
  };
};

/** Returns the data app's own dashboard of that id, else the organization's. */
const findByExternalId = async (
  db: Kysely<Tables>,
  dataAppId: string,
  externalDashboardId: string,
): Promise<Dashboard | undefined> => {
  const row = await db
    .selectFrom('dashboards')
    .selectAll()
    .where('external_dashboard_id', '=', externalDashboardId)
    .where(visibleTo(dataAppId))
    .orderBy('data_app_id', (order) => order.asc().nullsLast())
    .limit(1)
    .executeTakeFirst();
  return row && decodeDashboard(row);
};

const listByExternalId = async (db: Kysely<Tables>, externalDashboardId: string): Promise<readonly Dashboard[]> => {
  const found = await db
    .selectFrom('dashboards')
    .selectAll()
    .where('external_dashboard_id', '=', externalDashboardId)
    .orderBy('data_app_id', (order) => order.asc().nullsFirst())
    .execute();
  return found.map(decodeDashboard);
};

const insert = async (db: Kysely<Tables>, dashboard: Dashboard): Promise<boolean> => {
  const { id, owner, externalDashboardId } = dashboard;
  // The lock makes two inserts of one external id run one after the other. Otherwise an insert for a client and one for
  // the organization could both succeed, since neither would see the other.
  await sql`select pg_advisory_xact_lock(hashtextextended(${externalDashboardId}, 0))`.execute(db);
  const result = await db
    .insertInto('dashboards')
    .values(encodeDashboard(dashboard))
    .onConflict((oc) => oc.doNothing())
    .executeTakeFirst();
  if (!wasInserted(result)) return false;
  if (owner === null || (await takeName(db, owner.dataAppId, externalDashboardId, id))) return true;
  // An embed of another dashboard has this id. The row is deleted here, since the caller's transaction continues.
  await db.deleteFrom('dashboards').where('id', '=', id).execute();
  return false;
};

/** Deletes a dashboard. Locks its row first, so that no metric is placed on it during the deletion. */
const remove = async (db: Kysely<Tables>, { id, owner }: Dashboard): Promise<void> => {
  await db.selectFrom('dashboards').select('id').where('id', '=', id).forUpdate().executeTakeFirst();
  // Locks the embeds in the same order as a mint does, so that the two cannot deadlock.
  await db
    .selectFrom('embeds')
    .select('embed_id')
    .where('dashboard_id', '=', id)
    .orderBy('embed_id')
    .forUpdate()
    .execute();
  const held = db.selectFrom('dashboard_metrics').select('metric_id').where('dashboard_id', '=', id);
  const heldElsewhere = db.selectFrom('dashboard_metrics').select('metric_id').where('dashboard_id', '<>', id);
  await db
    .deleteFrom('metrics')
    .where('metric_id', 'in', held)
    .where('metric_id', 'not in', heldElsewhere)
    .where(ownedBy(owner))
    .execute();
  await db.deleteFrom('dashboards').where('id', '=', id).execute();
  if (owner === null) return;
  // With a client's last dashboard, also delete its metrics that were removed from dashboards earlier: nothing refers
  // to them any more.
  const placed = db.selectFrom('dashboard_metrics').select('metric_id');
  const boards = db.selectFrom('dashboards').select('id').where(ownedBy(owner));
  await db
    .deleteFrom('metrics')
    .where(ownedBy(owner))
    .where('metric_id', 'not in', placed)
    .where(({ not, exists }) => not(exists(boards)))
    .execute();
};

const update = async (db: Kysely<Tables>, dashboard: Dashboard): Promise<void> => {
  const { id, ...columns } = encodeDashboard(dashboard);
  const result = await db
    .updateTable('dashboards')
    .set(columns)
    .where('id', '=', id)
    .where('external_dashboard_id', '=', dashboard.externalDashboardId)
    .where(ownedBy(dashboard.owner))
    .executeTakeFirst();
  assertUpdated(result, 'The dashboard');
};
