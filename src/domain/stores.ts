/** What the use cases need of the service's metadata. Satisfied by store/; compose.ts makes it once. */
import type { HashedToken } from './brand.js';
import type { Dashboard, MetricPlacement, PlacedMetric } from './dashboard.js';
import type { Datamart } from './datamart.js';
import type { Embed } from './embed.js';
import type { GuestGrant } from './guest.js';
import type { Metric, Owner } from './metric.js';
import type { DataApp, Datasource, Workspace } from './organization.js';

/** The service's metadata. Every write that belongs together runs in one `transaction`. */
export type Store = {
  readonly dataApps: DataAppStore;
  readonly apiKeys: ApiKeyStore;
  readonly serviceTokens: ServiceTokenStore;
  readonly datasources: NamedStore<Datasource>;
  readonly datamarts: NamedStore<Datamart>;
  readonly workspaces: WorkspaceStore;
  readonly dashboards: DashboardStore;
  readonly metrics: MetricStore;
  readonly embeds: EmbedStore;
  readonly guestTokens: GuestTokenStore;
  /**
   * Runs `work` on a store of its own connection; what it throws rolls everything back. Inside, only that store may be
   * used: on the embedded database's one connection, the outer one would wait for `work` to end.
   */
  readonly transaction: <T>(work: (store: Store) => Promise<T>) => Promise<T>;
};

/** `insert` answers false when the name is taken, and writes nothing: two simultaneous creates make exactly one. */
export type NamedStore<T> = {
  readonly insert: (item: T) => Promise<boolean>;
  readonly update: (item: T) => Promise<void>;
  readonly findByName: (name: string) => Promise<T | undefined>;
  readonly findById: (id: string) => Promise<T | undefined>;
};

export type WorkspaceStore = NamedStore<Workspace> & {
  /** The datamarts that its connection reaches, by name: one, those of its datasource, or all. */
  readonly listDatamarts: (workspace: Workspace) => Promise<readonly Datamart[]>;
};

export type DataAppStore = NamedStore<DataApp>;

/** A credential at rest: its hash, a name, and when it ends (null: never). */
export type StoredKey = {
  readonly id: string;
  readonly name: string;
  readonly hash: HashedToken;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
};

export type ApiKeyStore = {
  readonly insert: (key: StoredKey & { readonly dataAppId: string }) => Promise<boolean>;
  readonly findByHash: (
    hash: HashedToken,
  ) => Promise<(StoredKey & { readonly dataAppId: string; readonly dataAppName: string }) | undefined>;
};

export type ServiceTokenStore = {
  readonly insert: (key: StoredKey) => Promise<boolean>;
  readonly findByHash: (hash: HashedToken) => Promise<StoredKey | undefined>;
};

export type DashboardStore = {
  /** False when the data app, or the organization, has a dashboard of that external id already. */
  readonly insert: (dashboard: Dashboard) => Promise<boolean>;
  readonly update: (dashboard: Dashboard) => Promise<void>;
  readonly findById: (id: string) => Promise<Dashboard | undefined>;
  /** The data app's own dashboard of that external id, otherwise the organization's. */
  readonly findByExternalId: (dataAppId: string, externalDashboardId: string) => Promise<Dashboard | undefined>;
  /** Every dashboard of that external id, whoever owns it: the organization's first. */
  readonly listByExternalId: (externalDashboardId: string) => Promise<readonly Dashboard[]>;
  /** The organization's dashboard of that external id, whoever asks: templates. */
  readonly findTemplate: (externalDashboardId: string) => Promise<Dashboard | undefined>;
  /** Ordered by name, then external id. The organization's, and `dataAppId`'s own where one is given. */
  readonly listByWorkspace: (
    workspaceId: string,
    dataAppId: string | null,
    page: Page | null,
  ) => Promise<readonly Dashboard[]>;
  readonly listMetrics: (dashboardId: string) => Promise<readonly PlacedMetric[]>;
  /** Replaces the dashboard's metrics by these, in this order. Those that were there keep when they were placed; new ones are placed `now`. */
  readonly placeMetrics: (
    dashboardId: string,
    metrics: readonly { readonly metricId: string; readonly placement: MetricPlacement }[],
    now: Date,
  ) => Promise<void>;
  /** The dashboard, which no other transaction locks before this one ends. */
  readonly lock: (id: string) => Promise<Dashboard | undefined>;
  /** With its embeds (tokens as `EmbedStore.delete` says) and those metrics of its owner's that no other dashboard holds. */
  readonly delete: (dashboard: Dashboard) => Promise<void>;
};

export type MetricStore = {
  readonly insert: (metric: Metric) => Promise<boolean>;
  readonly update: (metric: Metric) => Promise<void>;
  readonly findById: (metricId: string) => Promise<Metric | undefined>;
  /** Ordered by name, then id; the organization's, and `dataAppId`'s own where one is given. */
  readonly listByWorkspace: (
    workspaceId: string,
    dataAppId: string | null,
    page: Page | null,
  ) => Promise<readonly Metric[]>;
  /** The owner's copies of the metric (it is nearest in their lineage) that no dashboard holds, in order of id. */
  readonly listUnplacedCopies: (metricId: string, owner: Owner) => Promise<readonly Metric[]>;
  /** Every dashboard that holds the metric. */
  readonly listDashboards: (metricId: string) => Promise<readonly Dashboard[]>;
};

export type EmbedStore = {
  /** False when the data app has an embed of that id already. */
  readonly insert: (embed: Embed) => Promise<boolean>;
  /** Changes name, description and access settings. */
  readonly update: (embed: Embed) => Promise<void>;
  /** False where it is gone already. Takes its id out of all guest tokens; those that named nothing else are deleted. */
  readonly delete: (dataAppId: string, embedId: string) => Promise<boolean>;
  readonly findById: (dataAppId: string, embedId: string) => Promise<Embed | undefined>;
  /** Whether another data app than this one shows the dashboard, or a metric that is on it. */
  readonly isSharedBeyond: (dataAppId: string, dashboardId: string) => Promise<boolean>;
  /** The data app's oldest dashboard embed of that dashboard. */
  readonly findByDashboard: (dataAppId: string, dashboardId: string) => Promise<Embed | undefined>;
  /** The data app's metric embeds of that metric, oldest first. */
  readonly listByMetric: (dataAppId: string, metricId: string) => Promise<readonly Embed[]>;
  /** Oldest first. */
  readonly listByDataApp: (dataAppId: string, page: Page | null) => Promise<readonly Embed[]>;
};

export type GuestTokenStore = {
  /** False, and nothing is written, where an embed that the grant names is gone. */
  readonly insert: (hash: HashedToken, grant: GuestGrant) => Promise<boolean>;
  readonly findByHash: (hash: HashedToken) => Promise<GuestGrant | undefined>;
};

/** `number` is 1-based; a page has `size` items. */
export type Page = { readonly number: number; readonly size: number };

/** The size of a page in every listing. spec-gap: the interface gives it for datamarts only. */
export const pageSize = 10;
