/**
 * What the use cases need from outside, said by the side that needs it. compose.ts satisfies these once.
 * Verbs: find may answer undefined, load throws, list answers all, insert fails on a taken name.
 */
import type { HashedToken } from './brand.js';
import type { Dashboard, MetricPlacement, PlacedMetric } from './dashboard.js';
import type { ColumnRef, Datamart } from './datamart.js';
import type { Embed } from './embed.js';
import type { Condition, Scalar } from './filter.js';
import type { GuestGrant } from './guest.js';
import type { Metric, MetricDefinition, Sort } from './metric.js';
import type { DataApp, Datasource, Workspace } from './organization.js';
import type { TenantScope } from './tenant.js';

export type Clock = { readonly now: () => Date };
/** Random UUIDs (version 4). */
export type Ids = { readonly uuid: () => string };
/** `create` makes an unguessable credential (a random UUID, 122 bits); only its `hash` is ever stored. */
export type Tokens = { readonly create: () => string; readonly hash: (token: string) => HashedToken };

/** The service's metadata. Every write that belongs together runs in one `transaction`. */
export type Store = {
  readonly dataApps: DataAppStore;
  readonly apiKeys: ApiKeyStore;
  readonly serviceTokens: ServiceTokenStore;
  readonly datasources: NamedStore<Datasource>;
  readonly datamarts: NamedStore<Datamart>;
  readonly workspaces: NamedStore<Workspace>;
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
  /** The organization's dashboard of that external id, whoever asks: templates. */
  readonly findTemplate: (externalDashboardId: string) => Promise<Dashboard | undefined>;
  /** Ordered by name, then external id. The organization's, and `dataAppId`'s own where one is given. */
  readonly listByWorkspace: (
    workspaceId: string,
    dataAppId: string | null,
    page: Page | null,
  ) => Promise<readonly Dashboard[]>;
  readonly listMetrics: (dashboardId: string) => Promise<readonly PlacedMetric[]>;
  /** Replaces the dashboard's metrics by these, in this order. */
  readonly placeMetrics: (
    dashboardId: string,
    metrics: readonly { readonly metricId: string; readonly placement: MetricPlacement }[],
  ) => Promise<void>;
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
  /** Every dashboard that holds the metric. */
  readonly listDashboards: (metricId: string) => Promise<readonly Dashboard[]>;
};

export type EmbedStore = {
  /** False when the data app has an embed of that id already. */
  readonly insert: (embed: Embed) => Promise<boolean>;
  readonly findById: (dataAppId: string, embedId: string) => Promise<Embed | undefined>;
  /** The data app's oldest dashboard embed of that dashboard. */
  readonly findByDashboard: (dataAppId: string, dashboardId: string) => Promise<Embed | undefined>;
  /** The data app's metric embeds of that metric, oldest first. */
  readonly listByMetric: (dataAppId: string, metricId: string) => Promise<readonly Embed[]>;
  /** Oldest first. */
  readonly listByDataApp: (dataAppId: string, page: Page | null) => Promise<readonly Embed[]>;
};

export type GuestTokenStore = {
  readonly insert: (hash: HashedToken, grant: GuestGrant) => Promise<void>;
  readonly findByHash: (hash: HashedToken) => Promise<GuestGrant | undefined>;
};

/** `number` is 1-based; a page has `size` items. */
export type Page = { readonly number: number; readonly size: number };

/** The size of a page in every listing. spec-gap: the interface gives it for datamarts only. */
export const pageSize = 10;

/** Metric -> rows. Nothing here can be asked without a tenant scope. */
export type Engine = {
  /** The metric's answer. Throws METRIC_QUERY_ERROR, also where it takes longer than 30 seconds, or CLIENT_ID_ERROR; never a driver's text. */
  readonly query: (question: MetricQuestion) => Promise<MetricAnswer>;
  /** The joined rows the metric aggregates, by its `underlying` columns, under the same conditions. */
  readonly underlying: (question: MetricQuestion) => Promise<MetricAnswer>;
  /** Distinct values of `column` in the rows the metric aggregates, ascending, NULL left out. */
  readonly options: (question: OptionsQuestion) => Promise<readonly Scalar[]>;
  readonly close: () => Promise<void>;
};

export type MetricQuestion = {
  readonly datasource: Datasource;
  readonly datamart: Datamart;
  readonly tenant: TenantScope;
  readonly definition: MetricDefinition;
  /** All of them hold, whoever they come from; the definition's own filters are already among them. */
  readonly conditions: readonly Condition[];
  /** IANA name; null: as stored. */
  readonly timezone: string | null;
  /** Replaces the definition's sort where given; names are those of dimensions and measures. */
  readonly sort: readonly Sort[] | null;
  /** Null: the first 10,000 rows (of underlying rows 1,000), so that no answer outgrows memory; `totalRecords` says how many there are. */
  readonly limit: number | null;
  readonly offset: number;
};

export type OptionsQuestion = Omit<MetricQuestion, 'sort' | 'offset'> & {
  readonly column: ColumnRef;
  /** Part of the value, compared without regard to case; wildcards are plain text. */
  readonly search: string | null;
};

export type AnswerColumn = { readonly name: string; readonly dataType: 'date' | 'number' | 'string' | 'boolean' };
/** Dates are ISO 8601 without zone; integers beyond 2^53 and exact decimals are strings. */
export type Cell = string | number | boolean | null;
export type MetricAnswer = {
  readonly rows: readonly Readonly<Record<string, Cell>>[];
  readonly columns: readonly AnswerColumn[];
  /** Names of the non-aggregated columns. */
  readonly groupbyColumnList: readonly string[];
  /** Rows there are in all, before limit and offset. */
  readonly totalRecords: number;
};
