/**
 * The service's metadata as the use cases need it; src/store implements it. This folder holds types alone: no SQL, no rule.
 */
import type { ContentRevision } from '../brand.js';
import type { ApiKeyStore, GuestTokenStore, LastUseStore, ServiceTokenStore } from './credentials.js';
import type {
  DashboardStore,
  EmbedStore,
  GuestLayoutStore,
  GuestMetricStore,
  GuestViewStore,
  MetricStore,
} from './dashboards.js';
import type {
  ClientStore,
  DataAppStore,
  DatamartStore,
  DatasourceStore,
  SemanticLayerStore,
  WorkspaceStore,
} from './organization.js';

/** The service's metadata. Every write that belongs together runs in one `transaction`. */
export type Store = {
  readonly dataApps: DataAppStore;
  readonly clients: ClientStore;
  readonly apiKeys: ApiKeyStore;
  readonly serviceTokens: ServiceTokenStore;
  readonly datasources: DatasourceStore;
  readonly datamarts: DatamartStore;
  readonly semanticLayers: SemanticLayerStore;
  readonly workspaces: WorkspaceStore;
  readonly dashboards: DashboardStore;
  readonly metrics: MetricStore;
  readonly embeds: EmbedStore;
  readonly guestTokens: GuestTokenStore;
  readonly lastUses: LastUseStore;
  readonly guestMetrics: GuestMetricStore;
  readonly guestLayouts: GuestLayoutStore;
  readonly guestViews: GuestViewStore;
  /** The content at that revision or later, kept between requests; null: as it is now. */
  readonly contentAt: (revision: ContentRevision | null) => ContentStore;
  /**
   * Runs `work` on a store of its own connection; what it throws rolls everything back. Inside, only that store may be
   * used: on the embedded database's one connection, the outer one would wait for `work` to end.
   */
  readonly transaction: <T>(work: (store: Store) => Promise<T>) => Promise<T>;
};

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
