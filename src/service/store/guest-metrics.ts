import type { Insertable, Kysely, Selectable } from 'kysely';
import type { GridCard, GuestMadeMetric, Owner } from '../../model/dashboard/metric.js';
import { knownDefinition } from './known-content.js';
import { assertKnown } from './known-fields.js';
import type { MetricChange } from './metrics.js';
import { jsonb, nullableJsonb, wasInserted } from './query.js';
import type { Tables } from './tables.js';

type GuestMetricChange = MetricChange & {
  readonly isPublished?: boolean | undefined;
  readonly card?: GridCard | null | undefined;
};

const decode = (row: Selectable<Tables['guest_metrics']> & { readonly workspace_id: string }): GuestMadeMetric => ({
  metricId: row.metric_id,
  workspaceId: row.workspace_id,
  name: row.name,
  definition: assertKnown(knownDefinition, row.definition, `metric ${row.metric_id}`),
  lineage: [],
  owner: { dataAppId: row.data_app_id, clientId: row.client_id },
  isArchived: row.is_archived,
  isChangedByGuest: false,
  guest: {
    dashboardId: row.dashboard_id,
    userIdentifier: row.user_identifier,
    isPublished: row.is_published,
    card: row.card,
    createdAt: row.created_at,
  },
});

const encode = (metric: GuestMadeMetric): Insertable<Tables['guest_metrics']> => ({
  metric_id: metric.metricId,
  dashboard_id: metric.guest.dashboardId,
  data_app_id: metric.owner.dataAppId,
  client_id: metric.owner.clientId,
  user_identifier: metric.guest.userIdentifier,
  name: metric.name,
  definition: jsonb(metric.definition),
  card: nullableJsonb(metric.guest.card),
  is_published: metric.guest.isPublished,
  is_archived: metric.isArchived,
  created_at: metric.guest.createdAt,
});

const changed = ({ name, definition, isArchived, isPublished, card }: GuestMetricChange) => ({
  ...(name === undefined ? {} : { name }),
  ...(definition === undefined ? {} : { definition: jsonb(definition) }),
  ...(isArchived === undefined ? {} : { is_archived: isArchived }),
  ...(isPublished === undefined ? {} : { is_published: isPublished }),
  ...(card === undefined ? {} : { card: nullableJsonb(card) }),
});

/**
 * A change writes only the columns that it names. An update therefore cannot undo a publication that is made at the
 * same time.
 */
export const createGuestMetricStore = (db: Kysely<Tables>) => {
  const rows = db
    .selectFrom('guest_metrics')
    .innerJoin('dashboards', 'dashboards.id', 'guest_metrics.dashboard_id')
    .selectAll('guest_metrics')
    .select('dashboards.workspace_id');
  return {
    insert: async (metric: GuestMadeMetric) =>
      wasInserted(
        await db
          .insertInto('guest_metrics')
          .values(encode(metric))
          .onConflict((oc) => oc.doNothing())
          .executeTakeFirst(),
      ),
    /** Returns false if the metric does not exist. */
    change: async (metricId: string, change: GuestMetricChange) => {
      const set = db.updateTable('guest_metrics').set({ metric_id: metricId, ...changed(change) });
      return (await set.where('metric_id', '=', metricId).executeTakeFirst()).numUpdatedRows === 1n;
    },
    delete: async (metricId: string) =>
      (await db.deleteFrom('guest_metrics').where('metric_id', '=', metricId).executeTakeFirst()).numDeletedRows === 1n,
    findById: async (metricId: string) => {
      const row = await rows.where('guest_metrics.metric_id', '=', metricId).executeTakeFirst();
      return row && decode(row);
    },
    /**
     * Returns the client's metrics on that dashboard, oldest first. They include private metrics of all its users, so the
     * caller must filter them.
     */
    list: async (dashboardId: string, { dataAppId, clientId }: Owner): Promise<readonly GuestMadeMetric[]> => {
      const found = await rows
        .where('guest_metrics.dashboard_id', '=', dashboardId)
        .where('guest_metrics.data_app_id', '=', dataAppId)
        .where('guest_metrics.client_id', '=', clientId)
        .orderBy('guest_metrics.created_at')
        .orderBy('guest_metrics.metric_id')
        .execute();
      return found.map(decode);
    },
  };
};

/**
 * Metrics that guests made. Each belongs to one client of one data app and to one dashboard, and is deleted with
 * either.
 */
export type GuestMetricStore = ReturnType<typeof createGuestMetricStore>;
