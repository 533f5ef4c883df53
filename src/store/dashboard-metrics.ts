import type { Kysely } from 'kysely';
import type { MetricPlacement, PlacedMetric } from '../domain/dashboard.js';
import { decodeMetric } from './metric-row.js';
import type { Tables } from './tables.js';

/** The dashboard's metrics in the order they were placed in. */
export const listMetrics = async (db: Kysely<Tables>, dashboardId: string): Promise<readonly PlacedMetric[]> => {
  const rows = await db
    .selectFrom('dashboard_metrics')
    .innerJoin('metrics', 'metrics.metric_id', 'dashboard_metrics.metric_id')
    .selectAll('metrics')
    .select('dashboard_metrics.placement')
    .where('dashboard_metrics.dashboard_id', '=', dashboardId)
    .orderBy('dashboard_metrics.position')
    .execute();
  return rows.map((row) => ({ metric: decodeMetric(row), placement: row.placement }));
};

/** Runs in a transaction. Two that place at once take turns; the dashboard holds what the later one placed. */
export const placeMetrics = async (
  db: Kysely<Tables>,
  dashboardId: string,
  metrics: readonly { readonly metricId: string; readonly placement: MetricPlacement }[],
): Promise<void> => {
  const dashboard = await db
    .selectFrom('dashboards')
    .select('id')
    .where('id', '=', dashboardId)
    .forUpdate()
    .executeTakeFirst();
  if (dashboard === undefined) throw new Error('The dashboard to place metrics on does not exist (any more).');
  await db.deleteFrom('dashboard_metrics').where('dashboard_id', '=', dashboardId).execute();
  if (metrics.length === 0) return;
  const rows = metrics.map(({ metricId, placement }, position) => ({
    dashboard_id: dashboardId,
    metric_id: metricId,
    placement,
    position,
  }));
  await db.insertInto('dashboard_metrics').values(rows).execute();
};
