import type { Insertable, Kysely, Selectable } from 'kysely';
import type { Metric } from '../domain/metric.js';
import type { MetricStore } from '../domain/ports.js';
import { decodeDashboard } from './dashboards.js';
import { jsonb } from './document.js';
import { assertUpdated, decodeOwner, encodeOwner, ownedBy, page, visibleTo, wasInserted } from './query.js';
import type { Tables } from './tables.js';

export const decodeMetric = (row: Selectable<Tables['metrics']>): Metric => ({
  metricId: row.metric_id,
  workspaceId: row.workspace_id,
  name: row.name,
  definition: row.definition,
  lineage: row.lineage,
  owner: decodeOwner(row),
});

const encode = (metric: Metric): Insertable<Tables['metrics']> => ({
  metric_id: metric.metricId,
  workspace_id: metric.workspaceId,
  name: metric.name,
  definition: jsonb(metric.definition),
  lineage: jsonb(metric.lineage),
  ...encodeOwner(metric.owner),
});

/** `update` does not change the owner: it throws for a metric that has another. */
export const createMetricStore = (db: Kysely<Tables>): MetricStore => ({
  insert: async (metric) =>
    wasInserted(
      await db
        .insertInto('metrics')
        .values(encode(metric))
        .onConflict((oc) => oc.doNothing())
        .executeTakeFirst(),
    ),
  update: (metric) => update(db, metric),
  findById: async (metricId) => {
    const row = await db.selectFrom('metrics').selectAll().where('metric_id', '=', metricId).executeTakeFirst();
    return row && decodeMetric(row);
  },
  listByWorkspace: async (workspaceId, dataAppId, wanted) => {
    const rows = await db
      .selectFrom('metrics')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where(visibleTo(dataAppId))
      .orderBy('name')
      .orderBy('metric_id')
      .$call(page(wanted))
      .execute();
    return rows.map(decodeMetric);
  },
  listDashboards: async (metricId) => {
    const rows = await db
      .selectFrom('dashboards')
      .innerJoin('dashboard_metrics', 'dashboard_metrics.dashboard_id', 'dashboards.id')
      .selectAll('dashboards')
      .where('dashboard_metrics.metric_id', '=', metricId)
      .orderBy('dashboards.name')
      .orderBy('dashboards.id')
      .execute();
    return rows.map(decodeDashboard);
  },
});

const update = async (db: Kysely<Tables>, metric: Metric): Promise<void> => {
  const { metric_id, ...columns } = encode(metric);
  const result = await db
    .updateTable('metrics')
    .set(columns)
    .where('metric_id', '=', metric_id)
    .where(ownedBy(metric.owner))
    .executeTakeFirst();
  assertUpdated(result, 'The metric');
};
