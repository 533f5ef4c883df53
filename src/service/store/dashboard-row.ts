import type { Insertable, Selectable } from 'kysely';
import type { Dashboard } from '../../model/dashboard/dashboard.js';
import { knownDashboardFilters } from './known-content.js';
import { assertKnown } from './known-fields.js';
import { decodeOwner, encodeOwner, jsonb, nullableJsonb } from './query.js';
import type { Tables } from './tables.js';

export const decodeDashboard = (row: Selectable<Tables['dashboards']>): Dashboard => ({
  id: row.id,
  externalDashboardId: row.external_dashboard_id,
  workspaceId: row.workspace_id,
  name: row.name,
  owner: decodeOwner(row),
  templateId: row.template_id,
  layout: row.layout,
  gridMargin: row.grid_margin,
  filters: assertKnown(knownDashboardFilters, row.filters, `a filter of dashboard ${row.id}`),
  metadata: row.metadata,
  isAllowPrivateMetricsByDefault: row.is_allow_private_metrics_by_default,
  ...(row.tiles.length === 0 ? {} : { tiles: row.tiles }),
});

export const encodeDashboard = (dashboard: Dashboard): Insertable<Tables['dashboards']> => ({
  id: dashboard.id,
  external_dashboard_id: dashboard.externalDashboardId,
  workspace_id: dashboard.workspaceId,
  name: dashboard.name,
  ...encodeOwner(dashboard.owner),
  template_id: dashboard.templateId,
  layout: jsonb(dashboard.layout),
  grid_margin: jsonb(dashboard.gridMargin),
  filters: jsonb(dashboard.filters),
  metadata: nullableJsonb(dashboard.metadata),
  is_allow_private_metrics_by_default: dashboard.isAllowPrivateMetricsByDefault,
  tiles: jsonb(dashboard.tiles ?? []),
});
