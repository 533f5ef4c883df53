import type { Kysely } from 'kysely';
import type { MetricPlacement, PlacedMetric } from '../../model/dashboard/dashboard.js';
import { decodeMetric } from './metrics.js';
import { inTransaction } from './query.js';
import type { Tables } from './tables.js';

const placedOn = (db: Kysely<Tables>, dashboardId: string) =>
  db
    .selectFrom('dashboard_metrics')
    .innerJoin('metrics', 'metrics.metric_id', 'dashboard_metrics.metric_id')
    .selectAll('metrics')
    .select(['dashboard_metrics.placement', 'dashboard_metrics.placed_at'])
    .where('dashboard_metrics.dashboard_id', '=', dashboardId)
    .orderBy('dashboard_metrics.position');

type PlacedRow = Awaited<ReturnType<ReturnType<typeof placedOn>['execute']>>[number];

const decodePlaced = (row: PlacedRow): PlacedMetric => ({
  metric: decodeMetric(row),
  placement: row.placement,
  placedAt: row.placed_at,
});

/** Returns the dashboard's metrics, in the order in which they were placed. */
const listMetrics = async (db: Kysely<Tables>, dashboardId: string): Promise<readonly PlacedMetric[]> =>
  (await placedOn(db, dashboardId).execute()).map(decodePlaced);

/** As `listMetrics`, and locks the metrics against changes by guests until the transaction ends. */
const lockMetrics = async (db: Kysely<Tables>, dashboardId: string): Promise<readonly PlacedMetric[]> =>
  (await placedOn(db, dashboardId).forNoKeyUpdate('metrics').execute()).map(decodePlaced);

type Placing = readonly { readonly metricId: string; readonly placement: MetricPlacement }[];

const insertPlaced = async (
  db: Kysely<Tables>,
  dashboardId: string,
  metrics: Placing,
  placedAt: (metricId: string) => Date,
): Promise<void> => {
  if (metrics.length === 0) return;
  const rows = metrics.map(({ metricId, placement }, position) => ({
    dashboard_id: dashboardId,
    metric_id: metricId,
    placement,
    position,
    placed_at: placedAt(metricId),
  }));
  await db.insertInto('dashboard_metrics').values(rows).execute();
};

/**
 * Replaces the dashboard's metrics. Must run in a transaction. Two simultaneous calls run one after the other, and the
 * later one's metrics remain.
 */
const placeMetrics = async (db: Kysely<Tables>, dashboardId: string, metrics: Placing, now: Date): Promise<void> => {
  const dashboard = await db
    .selectFrom('dashboards')
    .select('id')
    .where('id', '=', dashboardId)
    .forUpdate()
    .executeTakeFirst();
  if (dashboard === undefined) throw new Error('The dashboard to place metrics on does not exist (any more).');
  const removed = await db
    .deleteFrom('dashboard_metrics')
    .where('dashboard_id', '=', dashboardId)
    .returning(['metric_id', 'placed_at'])
    .execute();
  const since = new Map(removed.map(({ metric_id, placed_at }) => [metric_id, placed_at]));
  await insertPlaced(db, dashboardId, metrics, (metricId) => since.get(metricId) ?? now);
};

export const createDashboardMetrics = (db: Kysely<Tables>) => ({
  /**
   * Returns the metrics that the host made. Metrics of guests are in `guestMetrics`, and never part of a clone, an
   * export or a workspace's list.
   */
  listMetrics: (dashboardId: string) => listMetrics(db, dashboardId),
  /** As `listMetrics`, and locks these metrics until the transaction ends. The dashboard must be locked. */
  lockMetrics: (dashboardId: string) => lockMetrics(db, dashboardId),
  /**
   * Replaces the dashboard's metrics by these, in this order. Metrics that were already placed keep their time of
   * placement; new ones get `now`.
   */
  placeMetrics: (dashboardId: string, metrics: Placing, now: Date) =>
    inTransaction(db, (transaction) => placeMetrics(transaction, dashboardId, metrics, now)),
  /**
   * As `placeMetrics`, for a dashboard that this transaction inserted. It has no metrics yet, and is not visible to
   * others.
   */
  placeFirstMetrics: (dashboardId: string, metrics: Placing, now: Date) =>
    insertPlaced(db, dashboardId, metrics, () => now),
});
