import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { Embed } from '../../model/dashboard/embed.js';
import type { Owner } from '../../model/dashboard/metric.js';
import type { Page } from '../../model/page.js';
import { mapItems, type Slices } from '../../model/slices.js';
import { knownAccessSettings } from './known-content.js';
import { assertKnown } from './known-fields.js';
import { isFound, listRows } from './list-rows.js';
import { assertUpdated, inTransaction, nullableJsonb, takeName, wasInserted } from './query.js';
import type { Tables } from './tables.js';

const decode = (row: Selectable<Tables['embeds']>): Embed => ({
  embedId: row.embed_id,
  dataAppId: row.data_app_id,
  embedType: row.embed_type,
  dashboardId: row.dashboard_id,
  metricId: row.metric_id,
  name: row.name,
  description: row.description,
  accessSettings: assertKnown(knownAccessSettings, row.access_settings, `embed ${row.embed_id}`),
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
export const createEmbedStore = (db: Kysely<Tables>) => {
  const rows = db.selectFrom('embeds').selectAll().orderBy('created_at').orderBy('embed_id');
  const ofDashboard = (dataAppId: string, dashboardId: string) =>
    rows
      .where('data_app_id', '=', dataAppId)
      .where('dashboard_id', '=', dashboardId)
      .where('embed_type', '=', 'dashboard');
  return {
    /** Returns false if the data app already has an embed of that id. */
    insert: (embed: Embed) => inTransaction(db, (transaction) => insert(transaction, embed)),
    /** Changes name, description and access settings. */
    update: (embed: Embed) => update(db, embed),
    /**
     * Deletes the embed and removes its id from all guest tokens. Tokens that named no other embed are deleted. Returns
     * false if the embed does not exist.
     */
    delete: async (dataAppId: string, embedId: string) => {
      const own = db.deleteFrom('embeds').where('data_app_id', '=', dataAppId).where('embed_id', '=', embedId);
      return (await own.executeTakeFirst()).numDeletedRows === 1n;
    },
    /** Whether another data app shows the dashboard, a metric on it, or a copy made from it. */
    isSharedBeyond: (dataAppId: string, dashboardId: string) => isSharedBeyond(db, dataAppId, dashboardId),
    findById: async (dataAppId: string, embedId: string) => {
      const row = await rows.where('data_app_id', '=', dataAppId).where('embed_id', '=', embedId).executeTakeFirst();
      return row && decode(row);
    },
    /** Returns the current embed, and locks it until the transaction ends. */
    lock: (dataAppId: string, embedId: string) => lock(db, dataAppId, embedId),
    /** Returns the data app's oldest dashboard embed of that dashboard. */
    findByDashboard: async (dataAppId: string, dashboardId: string) => {
      const row = await ofDashboard(dataAppId, dashboardId).limit(1).executeTakeFirst();
      return row && decode(row);
    },
    /** Returns the data app's dashboard embeds of that dashboard, oldest first. */
    listByDashboard: async (dataAppId: string, dashboardId: string): Promise<readonly Embed[]> =>
      (await ofDashboard(dataAppId, dashboardId).execute()).map(decode),
    /** Returns the data app's metric embeds of that metric, oldest first. */
    listByMetric: async (dataAppId: string, metricId: string): Promise<readonly Embed[]> =>
      (await rows.where('data_app_id', '=', dataAppId).where('metric_id', '=', metricId).execute()).map(decode),
    /** Returns the data app's embeds, oldest first. */
    listByDataApp: (dataAppId: string, wanted: Page | null) => listByDataApp(db, dataAppId, wanted),
    /**
     * Returns the client's embeds, oldest first: those of its data app whose dashboard is the client's own or the
     * organization's.
     */
    listByClient: (client: Owner) => listByClient(db, client),
    /**
     * Deletes the embeds of all data apps whose access settings name the datamart. Tokens change as described at
     * `delete`.
     */
    removeByDatamart: async (datamartName: string) => {
      const isOver = sql<boolean>`access_settings ->> 'datamartName' = ${datamartName}`;
      await db.deleteFrom('embeds').where(isOver).execute();
    },
  };
};

export type EmbedStore = ReturnType<typeof createEmbedStore>;

const listByDataApp = (db: Kysely<Tables>, dataAppId: string, wanted: Page | null): Slices<Embed> => {
  const own = db.selectFrom('embeds').selectAll().where('data_app_id', '=', dataAppId);
  return mapItems(listRows(own, ['created_at', 'embed_id'], wanted), decode);
};

const listByClient = async (db: Kysely<Tables>, { dataAppId, clientId }: Owner): Promise<readonly Embed[]> => {
  const boards = db.selectFrom('dashboards').select('id');
  const own = boards.where('data_app_id', '=', dataAppId).where('client_id', '=', clientId);
  const rows = await db
    .selectFrom('embeds')
    .selectAll()
    .where('data_app_id', '=', dataAppId)
    .where((eb) =>
      eb.or([isFound('dashboard_id', boards.where('data_app_id', 'is', null)), isFound('dashboard_id', own)]),
    )
    .orderBy('created_at')
    .orderBy('embed_id')
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
    .where((eb) => eb.or([eb('dashboard_id', '=', dashboardId), isFound('metric_id', held)]))
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
