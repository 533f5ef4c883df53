import type { Kysely } from 'kysely';
import type { MetricPlacement, PlacedMetric } from '../domain/dashboard/dashboard.js';
import { decodeMetric } from './metric-row.js';
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
export const listMetrics = async (db: Kysely<Tables>, dashboardId: string): Promise<readonly PlacedMetric[]> =>
  (await placedOn(db, dashboardId).execute()).map(decodePlaced);

/** As `listMetrics`, and locks the metrics against changes by guests until the transaction ends. */
export const lockMetrics = async (db: Kysely<Tables>, dashboardId: string): Promise<readonly PlacedMetric[]> =>
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

/** Places the metrics of a new dashboard. Takes no lock, since no other transaction can see the dashboard yet. */
export const placeFirstMetrics = (
  db: Kysely<Tables>,
  dashboardId: string,
  metrics: Placing,
  now: Date,
): Promise<void> => insertPlaced(db, dashboardId, metrics, () => now);

/**
 * Replaces the dashboard's metrics. Must run in a transaction. Two simultaneous calls run one after the other, and the
 * later one's metrics remain.
 */
export const placeMetrics = async (
  db: Kysely<Tables>,
  dashboardId: string,
  metrics: Placing,
  now: Date,
): Promise<void> => {
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
