/** Stores metrics. */
import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { Dashboard } from '../../model/dashboard/dashboard.js';
import type { Metric, MetricDefinition, Owner } from '../../model/dashboard/metric.js';
import type { Page } from '../../model/page.js';
import { mapItems } from '../../model/slices.js';
import { decodeDashboard } from './dashboard-row.js';
import { knownDefinition } from './known-content.js';
import { assertKnown } from './known-fields.js';
import { listRows } from './list-rows.js';
import { assertUpdated, decodeOwner, encodeOwner, jsonb, ownedBy, visibleTo, wasInserted } from './query.js';
import type { Tables } from './tables.js';

export const decodeMetric = (row: Selectable<Tables['metrics']>): Metric => ({
  metricId: row.metric_id,
  workspaceId: row.workspace_id,
  name: row.name,
  definition: assertKnown(knownDefinition, row.definition, `metric ${row.metric_id}`),
  lineage: row.lineage,
  owner: decodeOwner(row),
  isArchived: row.is_archived,
  isChangedByGuest: row.is_changed_by_guest,
  guest: null,
});

const encodeMetric = (metric: Metric): Insertable<Tables['metrics']> => ({
  metric_id: metric.metricId,
  workspace_id: metric.workspaceId,
  name: metric.name,
  definition: jsonb(metric.definition),
  lineage: jsonb(metric.lineage),
  ...encodeOwner(metric.owner),
  is_archived: metric.isArchived,
  is_changed_by_guest: metric.isChangedByGuest,
});

/** The parts of a metric that a guest may change. A new definition marks the metric as changed by a guest. */
export type MetricChange = {
  readonly name?: string | undefined;
  readonly definition?: MetricDefinition | undefined;
  readonly isArchived?: boolean | undefined;
};

/** `update` cannot change the owner: it throws if the stored metric has another one. */
export const createMetricStore = (db: Kysely<Tables>) => ({
  insert: async (metric: Metric) =>
    wasInserted(
      await db
        .insertInto('metrics')
        .values(encodeMetric(metric))
        .onConflict((oc) => oc.doNothing())
        .executeTakeFirst(),
    ),
  /**
   * Inserts the metrics in one statement. Returns false if one of their ids is taken; the transaction must then be
   * rolled back.
   */
  insertAll: (metrics: readonly Metric[]) => insertAll(db, metrics),
  update: (metric: Metric) => update(db, metric),
  findById: async (metricId: string) => {
    const row = await db.selectFrom('metrics').selectAll().where('metric_id', '=', metricId).executeTakeFirst();
    return row && decodeMetric(row);
  },
  /** Returns those that exist, in no particular order. */
  listByIds: async (ids: readonly string[]): Promise<readonly Metric[]> =>
    ids.length === 0
      ? []
      : (await db.selectFrom('metrics').selectAll().where('metric_id', 'in', ids).execute()).map(decodeMetric),
  /**
   * Applies a guest's change to a metric of `owner`; the lineage is kept. Returns false if the owner does not have the
   * metric.
   */
  change: (metricId: string, owner: Owner, change: MetricChange) => changeMetric(db, metricId, owner, change),
  /**
   * Returns the organization's metrics of the workspace, and those of `dataAppId` if it is not null. Ordered by name,
   * then id.
   */
  listByWorkspace: (workspaceId: string, dataAppId: string | null, wanted: Page | null) => {
    const metrics = db.selectFrom('metrics').selectAll().where('workspace_id', '=', workspaceId);
    return mapItems(listRows(metrics.where(visibleTo(dataAppId)), ['name', 'metric_id'], wanted), decodeMetric);
  },
  /**
   * Returns the owner's copies of the metric (the metric is first in their lineage) that no dashboard holds, ordered by
   * id.
   */
  listUnplacedCopies: (metricId: string, owner: Owner) => listUnplacedCopies(db, metricId, owner),
  /** Returns every dashboard that holds the metric. */
  listDashboards: async (metricId: string): Promise<readonly Dashboard[]> => {
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

export type MetricStore = ReturnType<typeof createMetricStore>;

/** Maximum number of rows in one insert: PostgreSQL accepts at most 65,535 parameters in a statement. */
const rowsAtOnce = 1_000;

const insertAll = async (db: Kysely<Tables>, metrics: readonly Metric[]): Promise<boolean> => {
  for (let start = 0; start < metrics.length; start += rowsAtOnce) {
    const rows = metrics.slice(start, start + rowsAtOnce).map(encodeMetric);
    const inserted = db.insertInto('metrics').values(rows);
    const { numInsertedOrUpdatedRows } = await inserted.onConflict((oc) => oc.doNothing()).executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows !== BigInt(rows.length)) return false;
  }
  return true;
};

const listUnplacedCopies = async (db: Kysely<Tables>, metricId: string, owner: Owner): Promise<readonly Metric[]> => {
  const rows = await db
    .selectFrom('metrics')
    .selectAll()
    .where(ownedBy(owner))
    .where(sql<string>`lineage->>0`, '=', metricId)
    .where('metric_id', 'not in', db.selectFrom('dashboard_metrics').select('metric_id'))
    .orderBy('metric_id')
    .execute();
  return rows.map(decodeMetric);
};

/** Writes only the named columns, so that two simultaneous changes of different columns both take effect. */
const changeMetric = async (
  db: Kysely<Tables>,
  metricId: string,
  owner: Owner,
  { name, definition, isArchived }: MetricChange,
): Promise<boolean> => {
  const result = await db
    .updateTable('metrics')
    .set({
      metric_id: metricId,
      ...(name === undefined ? {} : { name }),
      ...(definition === undefined ? {} : { definition: jsonb(definition), is_changed_by_guest: true }),
      ...(isArchived === undefined ? {} : { is_archived: isArchived }),
    })
    .where('metric_id', '=', metricId)
    .where(ownedBy(owner))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
};

const update = async (db: Kysely<Tables>, metric: Metric): Promise<void> => {
  const { metric_id, ...columns } = encodeMetric(metric);
  const result = await db
    .updateTable('metrics')
    .set(columns)
    .where('metric_id', '=', metric_id)
    .where(ownedBy(metric.owner))
    .executeTakeFirst();
  assertUpdated(result, 'The metric');
};
