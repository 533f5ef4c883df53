/** What the use cases need of the service's metadata. Satisfied by store/; compose.ts makes it once. */
import type { HashedToken } from './brand.js';
import type { ClientStore } from './client-store.js';
import type { ContentRevision, ContentStore } from './content-store.js';
import type { Dashboard, LayoutCard, MetricPlacement, PlacedMetric } from './dashboard.js';
import type { Embed } from './embed.js';
import type { GuestLayoutStore, GuestMetricStore, GuestViewStore } from './guest-stores.js';
import type { Metric, MetricDefinition, Owner } from './metric.js';
import type { DataApp } from './organization.js';
import type { DatamartStore, DatasourceStore, SemanticLayerStore, WorkspaceStore } from './source-stores.js';
import type { GuestTokenStore } from './token-store.js';

export type * from './client-store.js';
export type * from './content-store.js';
export type * from './source-stores.js';
export type * from './token-store.js';

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

/** `insert` answers false when the name is taken, and writes nothing: two simultaneous creates make exactly one. */
export type NamedStore<T> = {
  readonly insert: (item: T) => Promise<boolean>;
  readonly update: (item: T) => Promise<void>;
  readonly findByName: (name: string) => Promise<T | undefined>;
  readonly findById: (id: string) => Promise<T | undefined>;
};

export type DataAppStore = NamedStore<DataApp> & {
  /**
   * `gone`: there is none of that id and name any more. `taken`: of two simultaneous renames to one name, one succeeds. Not for
   * use in a transaction.
   */
  readonly rename: (from: DataApp, to: DataApp) => Promise<'renamed' | 'gone' | 'taken'>;
  /** With everything that belongs to it; false where it is gone already. */
  readonly delete: (id: string) => Promise<boolean>;
  /** Keeps it from being deleted until the transaction ends; false where it is gone. */
  readonly hold: (id: string) => Promise<boolean>;
  /** In order of their names. */
  readonly list: (page: Page | null) => Promise<readonly DataApp[]>;
};

/** A credential at rest: its hash, a name, and when it ends (null: never). */
export type StoredKey = {
  readonly id: string;
  readonly name: string;
  readonly hash: HashedToken;
  /** Its last characters; null: those of earlier releases, and what is too short to tell any. */
  readonly keyHint: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
};
export type StoredApiKey = StoredKey & { readonly dataAppId: string; readonly description: string | null };

type Optional<T, Names extends keyof T> = Omit<T, Names> & Partial<Pick<T, Names>>;
export type NewKey = Optional<Omit<StoredKey, 'lastUsedAt'>, 'keyHint'>;
export type NewApiKey = Optional<Omit<StoredApiKey, 'lastUsedAt'>, 'keyHint' | 'description'>;

/**
 * A credential is current until it is revoked or replaced; names are unique among the current ones. What was revoked, or has
 * ended, stays as a tombstone: known by its hash, so that no start brings it back.
 */
export type ApiKeyStore = {
  /** False for a name that a current key of the data app has, and for a hash that was ever there. */
  readonly insert: (key: NewApiKey) => Promise<boolean>;
  /** Whether there is or was a key of that hash. */
  readonly isKnown: (hash: HashedToken) => Promise<boolean>;
  /** Not what is revoked; what has ended is found: whoever asks compares `expiresAt` with its own clock. */
  readonly findByHash: (hash: HashedToken) => Promise<(StoredApiKey & { readonly dataAppName: string }) | undefined>;
  /** The current ones, by name. */
  readonly listByDataApp: (dataAppId: string, page: Page | null) => Promise<readonly StoredApiKey[]>;
  /** Ends a current key at `expiresAt`, and frees its name for its successor; answers it, or undefined where it is not current. */
  readonly replace: (
    key: { readonly dataAppId: string; readonly id: string },
    when: { readonly now: Date; readonly expiresAt: Date },
  ) => Promise<StoredApiKey | undefined>;
  /** Revokes the current key of that name and every earlier one that it replaced; false where there is none. */
  readonly revoke: (dataAppId: string, name: string, now: Date) => Promise<boolean>;
};

/** As for API keys, for the organization. */
export type ServiceTokenStore = {
  readonly insert: (key: NewKey) => Promise<boolean>;
  readonly isKnown: (hash: HashedToken) => Promise<boolean>;
  readonly findByHash: (hash: HashedToken) => Promise<StoredKey | undefined>;
  readonly list: (page: Page | null) => Promise<readonly StoredKey[]>;
  readonly replace: (
    id: string,
    when: { readonly now: Date; readonly expiresAt: Date },
  ) => Promise<StoredKey | undefined>;
  /** `last`: it is the only current one, and stays; however many are revoked at once, one is left. */
  readonly revoke: (name: string, now: Date) => Promise<'revoked' | 'unknown' | 'last'>;
};

export type DashboardStore = {
  /** False when the data app, or the organization, has a dashboard of that external id already. */
  readonly insert: (dashboard: Dashboard) => Promise<boolean>;
  readonly update: (dashboard: Dashboard) => Promise<void>;
  readonly findById: (id: string) => Promise<Dashboard | undefined>;
  /** Those that there are, in no order. */
  readonly listByIds: (ids: readonly string[]) => Promise<readonly Dashboard[]>;
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
  /** Those that the host made: a guest's are in `guestMetrics`, and never in a clone, an export or the workspace's listing. */
  readonly listMetrics: (dashboardId: string) => Promise<readonly PlacedMetric[]>;
  /** The dashboard, which no other transaction locks before this one ends. */
  readonly lock: (id: string) => Promise<Dashboard | undefined>;
  /** As `listMetrics`; until this transaction ends nobody changes these metrics. For a dashboard that is locked. */
  readonly lockMetrics: (dashboardId: string) => Promise<readonly PlacedMetric[]>;
  readonly setLayout: (id: string, layout: readonly LayoutCard[]) => Promise<void>;
  /** Replaces the dashboard's metrics by these, in this order. Those that were there keep when they were placed; new ones are placed `now`. */
  readonly placeMetrics: (
    dashboardId: string,
    metrics: readonly { readonly metricId: string; readonly placement: MetricPlacement }[],
    now: Date,
  ) => Promise<void>;
  /** The same for a dashboard that this transaction inserted: it has none, and nobody else sees it. */
  readonly placeFirstMetrics: DashboardStore['placeMetrics'];
  /** With its embeds (tokens as `EmbedStore.delete` says) and those metrics of its owner's that no other dashboard holds. */
  readonly delete: (dashboard: Dashboard) => Promise<void>;
};

export type MetricStore = {
  readonly insert: (metric: Metric) => Promise<boolean>;
  /** In one statement. False where an id of theirs is taken: then the transaction must not go on. */
  readonly insertAll: (metrics: readonly Metric[]) => Promise<boolean>;
  readonly update: (metric: Metric) => Promise<void>;
  readonly findById: (metricId: string) => Promise<Metric | undefined>;
  /** Those that there are, in no order. */
  readonly listByIds: (metricIds: readonly string[]) => Promise<readonly Metric[]>;
  /** What a guest of `owner` changes; the lineage stays. False where the owner has no such metric (any more). */
  readonly change: (metricId: string, owner: Owner, change: MetricChange) => Promise<boolean>;
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

/** The parts of a metric that a guest may change; a new definition marks the metric as changed by a guest. */
export type MetricChange = {
  readonly name?: string | undefined;
  readonly definition?: MetricDefinition | undefined;
  readonly isArchived?: boolean | undefined;
};

export type EmbedStore = {
  /** False when the data app has an embed of that id already. */
  readonly insert: (embed: Embed) => Promise<boolean>;
  /** Changes name, description and access settings. */
  readonly update: (embed: Embed) => Promise<void>;
  /** False where it is gone already. Takes its id out of all guest tokens; those that named nothing else are deleted. */
  readonly delete: (dataAppId: string, embedId: string) => Promise<boolean>;
  readonly findById: (dataAppId: string, embedId: string) => Promise<Embed | undefined>;
  /** As it is now, and as nobody else changes or deletes it until the transaction ends. */
  readonly lock: (dataAppId: string, embedId: string) => Promise<Embed | undefined>;
  /** Whether another data app than this one shows the dashboard, a metric that is on it, or a copy made from it. */
  readonly isSharedBeyond: (dataAppId: string, dashboardId: string) => Promise<boolean>;
  /** The data app's oldest dashboard embed of that dashboard. */
  readonly findByDashboard: (dataAppId: string, dashboardId: string) => Promise<Embed | undefined>;
  /** The data app's dashboard embeds of that dashboard, oldest first. */
  readonly listByDashboard: (dataAppId: string, dashboardId: string) => Promise<readonly Embed[]>;
  /** The data app's metric embeds of that metric, oldest first. */
  readonly listByMetric: (dataAppId: string, metricId: string) => Promise<readonly Embed[]>;
  /** Oldest first. */
  readonly listByDataApp: (dataAppId: string, page: Page | null) => Promise<readonly Embed[]>;
  /** Deletes every data app's embeds whose access settings name the datamart; tokens as `delete` says. */
  readonly removeByDatamart: (datamartName: string) => Promise<void>;
};

/** That a credential was used, and when. */
export type LastUse = {
  readonly kind: 'apiKey' | 'serviceToken' | 'guestToken';
  readonly id: string;
  readonly at: Date;
};
/** Writes them in one statement; a later time that is there stays. A row that is being written at the moment is passed over. */
export type LastUseStore = { readonly write: (uses: readonly LastUse[]) => Promise<void> };

/** `number` is 1-based; a page has `size` items. */
export type Page = { readonly number: number; readonly size: number };

/** The size of a page in every listing. spec-gap: the interface gives it for datamarts only. */
export const pageSize = 10;
