/**
 * The service's metadata as the use cases need it; src/store implements it. This folder contains only types: no SQL, no
 * rules.
 */
import type { ContentRevision } from '../brand.js';
import type {
  ApiKeyStore,
  GuestTokenStore,
  LastUseStore,
  ServiceTokenStore,
  StudioSessionStore,
} from './credentials.js';
import type {
  DashboardStore,
  EmbedStore,
  GuestBoardStore,
  GuestLayoutStore,
  GuestMetricStore,
  GuestViewStore,
  MetricStore,
} from './dashboards.js';
import type { DeliveryStore, ReportAddressStore, ScheduleStore } from './deliveries.js';
import type {
  ClientStore,
  DataAppStore,
  DatamartStore,
  DatasourceStore,
  SemanticLayerStore,
  WorkspaceStore,
} from './organization.js';
import type { SearchStore } from './search.js';

/** All stores of the service's metadata. Writes that belong together run in one `transaction`. */
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
  readonly studioSessions: StudioSessionStore;
  readonly lastUses: LastUseStore;
  readonly guestMetrics: GuestMetricStore;
  readonly guestLayouts: GuestLayoutStore;
  readonly guestViews: GuestViewStore;
  readonly guestBoards: GuestBoardStore;
  readonly schedules: ScheduleStore;
  readonly deliveries: DeliveryStore;
  readonly reportAddresses: ReportAddressStore;
  readonly search: SearchStore;
  /**
   * Returns the content at that revision or later, which may be cached between requests. Null: the current content, not
   * cached.
   */
  readonly contentAt: (revision: ContentRevision | null) => ContentStore;
  /**
   * Runs `work` with a store on its own connection. An error thrown by `work` rolls everything back. `work` must use
   * only that store: the embedded database has one connection, so a call of the outer store would wait forever.
   */
  readonly transaction: <T>(work: (store: Store) => Promise<T>) => Promise<T>;
};

/** The content that guest requests read. Every `Store` is also a `ContentStore`. */
export type ContentStore = {
  readonly embeds: Pick<EmbedStore, 'findById' | 'findByDashboard' | 'listByMetric' | 'listByClient'>;
  readonly dashboards: Pick<DashboardStore, 'findById' | 'findByExternalId' | 'listMetrics'>;
  readonly metrics: Pick<MetricStore, 'findById' | 'listDashboards'>;
  readonly guestMetrics: Pick<GuestMetricStore, 'list'>;
  readonly workspaces: Pick<WorkspaceStore, 'findById'>;
  readonly datamarts: Pick<DatamartStore, 'findById' | 'findByName' | 'findOnlyOf'>;
  readonly datasources: Pick<DatasourceStore, 'findById' | 'findClientDatabase'>;
};
