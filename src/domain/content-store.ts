/** The part of `stores.ts` that guests' requests read by. */
import type { Brand } from './brand.js';
import type { GuestMetricStore } from './guest-stores.js';
import type { DatamartStore, DatasourceStore, WorkspaceStore } from './source-stores.js';
import type { DashboardStore, EmbedStore, MetricStore } from './stores.js';

/**
 * How often the organization's content was changed: datasources, datamarts, workspaces, dashboards, metrics and embeds. Whatever was read of it after
 * its revision was, is still so for whoever reads the same revision later.
 */
export type ContentRevision = Brand<string, 'ContentRevision'>;

/** What guests' requests read of the content. Every `Store` is one. */
export type ContentStore = {
  readonly embeds: Pick<EmbedStore, 'findById' | 'findByDashboard' | 'listByMetric'>;
  readonly dashboards: Pick<DashboardStore, 'findById' | 'findByExternalId' | 'listMetrics'>;
  readonly metrics: Pick<MetricStore, 'findById' | 'listDashboards'>;
  readonly guestMetrics: Pick<GuestMetricStore, 'list'>;
  readonly workspaces: Pick<WorkspaceStore, 'findById'>;
  readonly datamarts: Pick<DatamartStore, 'findById' | 'findByName' | 'findOnlyOf'>;
  readonly datasources: Pick<DatasourceStore, 'findById' | 'findClientDatabase'>;
};
