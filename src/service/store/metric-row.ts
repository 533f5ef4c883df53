import type { Insertable, Selectable } from 'kysely';
import type { Metric } from '../../model/dashboard/metric.js';
import { jsonb } from './document.js';
import { decodeOwner, encodeOwner } from './query.js';
import type { Tables } from './tables.js';

export const decodeMetric = (row: Selectable<Tables['metrics']>): Metric => ({
  metricId: row.metric_id,
  workspaceId: row.workspace_id,
  name: row.name,
  definition: row.definition,
  lineage: row.lineage,
  owner: decodeOwner(row),
  isArchived: row.is_archived,
  isChangedByGuest: row.is_changed_by_guest,
  guest: null,
});

export const encodeMetric = (metric: Metric): Insertable<Tables['metrics']> => ({
  metric_id: metric.metricId,
  workspace_id: metric.workspaceId,
  name: metric.name,
  definition: jsonb(metric.definition),
  lineage: jsonb(metric.lineage),
  ...encodeOwner(metric.owner),
  is_archived: metric.isArchived,
  is_changed_by_guest: metric.isChangedByGuest,
});
