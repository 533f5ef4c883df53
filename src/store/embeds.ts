import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { Embed } from '../domain/dashboard/embed.js';
import type { Owner } from '../domain/dashboard/metric.js';
import { mapItems, type Slices } from '../domain/slices.js';
import type { EmbedStore } from '../domain/store/dashboards.js';
import type { Page } from '../domain/store/page.js';
import { takeName } from './data-app-names.js';
import { nullableJsonb } from './document.js';
import { listRows } from './list-rows.js';
import { assertUpdated, inTransaction, wasInserted } from './query.js';
import type { Tables } from './tables.js';

const decode = (row: Selectable<Tables['embeds']>): Embed => ({
  embedId: row.embed_id,
  dataAppId: row.data_app_id,
  embedType: row.embed_type,
  dashboardId: row.dashboard_id,
  metricId: row.metric_id,
  name: row.name,
  description: row.description,
  accessSettings: row.access_settings,
  createdAt: row.created_at,
});

const encode = (embed: Embed): Insertable<Tables['embeds']> => ({
  embed_id: embed.embedId,
  data_app_id: embed.dataAppId,
  embed_type: embed.embedType,
  dashboard_id: embed.dashboardId,
  metric_id: embed.metricId,
  name: embed.name,
  description: embed.description,
  access_settings: nullableJsonb(embed.accessSettings),
  created_at: embed.createdAt,
});

/**
 * Lists are ordered by creation time, then embed id. An embed id that already names another dashboard counts as taken.
 */
export const createEmbedStore = (db: Kysely<Tables>): EmbedStore => {
  const rows = db.selectFrom('embeds').selectAll().orderBy('created_at').orderBy('embed_id');
  return {
    insert: (embed) => inTransaction(db, (transaction) => insert(transaction, embed)),
    update: (embed) => update(db, embed),
    delete: async (dataAppId, embedId) => {
      const deleted = await db
        .deleteFrom('embeds')
        .where('data_app_id', '=', dataAppId)
        .where('embed_id', '=', embedId)
        .executeTakeFirst();
      return deleted.numDeletedRows === 1n;
    },
    isSharedBeyond: (dataAppId, dashboardId) => isSharedBeyond(db, dataAppId, dashboardId),
    findById: async (dataAppId, embedId) => {
      const row = await rows.where('data_app_id', '=', dataAppId).where('embed_id', '=', embedId).executeTakeFirst();
      return row && decode(row);
    },
    lock: (dataAppId, embedId) => lock(db, dataAppId, embedId),
    findByDashboard: async (dataAppId, dashboardId) => {
      const row = await rows
        .where('data_app_id', '=', dataAppId)
        .where('dashboard_id', '=', dashboardId)
        .where('embed_type', '=', 'dashboard')
        .limit(1)
        .executeTakeFirst();
      return row && decode(row);
    },
    listByDashboard: async (dataAppId, dashboardId) =>
      (
        await rows
          .where('data_app_id', '=', dataAppId)
          .where('dashboard_id', '=', dashboardId)
          .where('embed_type', '=', 'dashboard')
          .execute()
      ).map(decode),
    listByMetric: async (dataAppId, metricId) =>
      (await rows.where('data_app_id', '=', dataAppId).where('metric_id', '=', metricId).execute()).map(decode),
    listByDataApp: (dataAppId, wanted) => listByDataApp(db, dataAppId, wanted),
    listByClient: (client) => listByClient(db, client),
    removeByDatamart: async (datamartName) => {
      const isOver = sql<boolean>`access_settings ->> 'datamartName' = ${datamartName}`;
      await db.deleteFrom('embeds').where(isOver).execute();
    },
  };
};

const listByDataApp = (db: Kysely<Tables>, dataAppId: string, wanted: Page | null): Slices<Embed> => {
  const own = db.selectFrom('embeds').selectAll().where('data_app_id', '=', dataAppId);
  return mapItems(listRows(own, ['created_at', 'embed_id'], wanted), decode);
};

const listByClient = async (db: Kysely<Tables>, { dataAppId, clientId }: Owner): Promise<readonly Embed[]> => {
  const rows = await db
    .selectFrom('embeds')
    .innerJoin('dashboards', 'dashboards.id', 'embeds.dashboard_id')
    .selectAll('embeds')
    .where('embeds.data_app_id', '=', dataAppId)
    .where((eb) =>
      eb.or([
        eb('dashboards.data_app_id', 'is', null),
        eb.and([eb('dashboards.data_app_id', '=', dataAppId), eb('dashboards.client_id', '=', clientId)]),
      ]),
    )
    .orderBy('embeds.created_at')
    .orderBy('embeds.embed_id')
    .execute();
  return rows.map(decode);
};

const lock = async (db: Kysely<Tables>, dataAppId: string, embedId: string): Promise<Embed | undefined> => {
  const row = await db
    .selectFrom('embeds')
    .selectAll()
    .where('data_app_id', '=', dataAppId)
    .where('embed_id', '=', embedId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row && decode(row);
};

const update = async (db: Kysely<Tables>, embed: Embed): Promise<void> => {
  const { name, description, access_settings } = encode(embed);
  const result = await db
    .updateTable('embeds')
    .set({ name, description, access_settings })
    .where('data_app_id', '=', embed.dataAppId)
    .where('embed_id', '=', embed.embedId)
    .executeTakeFirst();
  assertUpdated(result, 'The embed');
};

const isSharedBeyond = async (db: Kysely<Tables>, dataAppId: string, dashboardId: string): Promise<boolean> => {
  const held = db.selectFrom('dashboard_metrics').select('metric_id').where('dashboard_id', '=', dashboardId);
  const shown = await db
    .selectFrom('embeds')
    .select('embed_id')
    .where('data_app_id', '<>', dataAppId)
    .where((eb) => eb.or([eb('dashboard_id', '=', dashboardId), eb('metric_id', 'in', held)]))
    .limit(1)
    .executeTakeFirst();
  if (shown !== undefined) return true;
  // Data apps that clone this dashboard also restrict the copies by its filters, so they count as users of the filters.
  const copied = await db
    .selectFrom('dashboards')
    .select('id')
    .where('template_id', '=', dashboardId)
    .where('data_app_id', '<>', dataAppId)
    .limit(1)
    .executeTakeFirst();
  return copied !== undefined;
};

const insert = async (db: Kysely<Tables>, embed: Embed): Promise<boolean> => {
  if (!(await takeName(db, embed.dataAppId, embed.embedId, embed.dashboardId))) return false;
  const result = await db
    .insertInto('embeds')
    .values(encode(embed))
    .onConflict((oc) => oc.doNothing())
    .executeTakeFirst();
  return wasInserted(result);
};
