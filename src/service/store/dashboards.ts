import { type Kysely, type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import type { Dashboard, LayoutCard } from '../../model/dashboard/dashboard.js';
import type { Tile } from '../../model/dashboard/tile.js';
import type { Page } from '../../model/page.js';
import { mapItems } from '../../model/slices.js';
import { createDashboardMetrics } from './dashboard-metrics.js';
import { decodeDashboard, encodeDashboard } from './dashboard-row.js';
import { listRows } from './list-rows.js';
import {
  assertUpdated,
  createHolds,
  inTransaction,
  jsonb,
  ownedBy,
  takeName,
  visibleTo,
  wasInserted,
} from './query.js';
import type { Tables } from './tables.js';

/** External ids of the copies of a dashboard, and ids of its embeds. */
type DashboardUsers = { readonly copies: readonly string[]; readonly embeds: readonly string[] };

/** A client's copy of a dashboard. */
type ClientCopy = Pick<Dashboard, 'id' | 'externalDashboardId'> & { readonly clientId: string };

type Rows = SelectQueryBuilder<Tables, 'dashboards', Selectable<Tables['dashboards']>>;

const first = async (rows: Rows): Promise<Dashboard | undefined> => {
  const row = await rows.executeTakeFirst();
  return row && decodeDashboard(row);
};

/** `update` cannot change the owner or the external id: it throws if the stored dashboard has other ones. */
export const createDashboardStore = (db: Kysely<Tables>) => {
  const rows = db.selectFrom('dashboards').selectAll();
  return {
    ...createDashboardMetrics(db),
    /** Returns false if the data app, or the organization, already has a dashboard of that external id. */
    insert: (dashboard: Dashboard) => inTransaction(db, (transaction) => insert(transaction, dashboard)),
    update: (dashboard: Dashboard) => update(db, dashboard),
    findById: (id: string) => first(rows.where('id', '=', id)),
    /** Returns those that exist, in no particular order. */
    listByIds: async (ids: readonly string[]): Promise<readonly Dashboard[]> =>
      ids.length === 0 ? [] : (await rows.where('id', 'in', ids).execute()).map(decodeDashboard),
    /** Returns the data app's own dashboard of that external id, else the organization's. */
    findByExternalId: (dataAppId: string, externalDashboardId: string) =>
      findByExternalId(db, dataAppId, externalDashboardId),
    /** Returns all dashboards of that external id, of every owner. The organization's dashboard comes first. */
    listByExternalId: (externalDashboardId: string) => listByExternalId(db, externalDashboardId),
    /** Returns the organization's dashboard of that external id. Templates are such dashboards. */
    findTemplate: (externalDashboardId: string) =>
      first(rows.where('external_dashboard_id', '=', externalDashboardId).where('data_app_id', 'is', null)),
    /**
     * Returns the organization's dashboards of the workspace, and those of `dataAppId` if it is not null. Ordered by
     * name, then external id.
     */
    listByWorkspace: (workspaceId: string, dataAppId: string | null, wanted: Page | null) => {
      const visible = rows.where('workspace_id', '=', workspaceId).where(visibleTo(dataAppId));
      return mapItems(listRows(visible, ['name', 'external_dashboard_id', 'id'], wanted), decodeDashboard);
    },
    /** Returns the dashboard, and locks it until the transaction ends. */
    lock: (id: string) => first(rows.where('id', '=', id).forNoKeyUpdate()),
    /** Prevents deletion of the dashboard until the transaction ends. Returns false if it does not exist. */
    hold: createHolds(db, 'dashboards').hold,
    /** As `lock`, and waits for those who hold the dashboard. */
    lockToDelete: (id: string) => first(rows.where('id', '=', id).forUpdate()),
    /** Returns the copies of the dashboard that clients of the data app own, ordered by client. */
    listCopies: (id: string, dataAppId: string) => listCopies(db, id, dataAppId),
    /** Returns the copies and embeds of the dashboard, of every owner; at most `limit` of each. */
    listUsers: (id: string, limit: number) => listUsers(db, id, limit),
    /** Without `tiles`, the dashboard keeps its tiles. */
    setLayout: async (id: string, layout: readonly LayoutCard[], tiles?: readonly Tile[]) => {
      const changed = { layout: jsonb(layout), ...(tiles === undefined ? {} : { tiles: jsonb(tiles) }) };
      const set = db.updateTable('dashboards').set(changed);
      assertUpdated(await set.where('id', '=', id).executeTakeFirst(), 'The dashboard');
    },
    /**
     * Deletes the dashboard, its embeds (tokens as described at `EmbedStore.delete`) and those metrics of its owner that
     * no other dashboard holds.
     */
    delete: (dashboard: Dashboard) => inTransaction(db, (transaction) => remove(transaction, dashboard)),
  };
};

export type DashboardStore = ReturnType<typeof createDashboardStore>;

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
const findByExternalId = (db: Kysely<Tables>, dataAppId: string, externalDashboardId: string) =>
  first(
    db
      .selectFrom('dashboards')
      .selectAll()
      .where('external_dashboard_id', '=', externalDashboardId)
      .where(visibleTo(dataAppId))
      .orderBy('data_app_id', (order) => order.asc().nullsLast())
      .limit(1),
  );

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
