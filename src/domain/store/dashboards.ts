/** Stores of dashboards, metrics and embeds, and of what guests make on a dashboard. */
import type { Dashboard, LayoutCard, MetricPlacement, PlacedMetric } from '../dashboard/dashboard.js';
import type { Embed } from '../dashboard/embed.js';
import type { GridCard, GuestMadeMetric, Metric, MetricDefinition, Owner, Viewer } from '../dashboard/metric.js';
import type { GuestLayout } from '../guest/layout.js';
import type { SavedView } from '../guest/saved-view.js';
import type { Page } from './page.js';

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

/** Metrics that guests made. Each belongs to one client of one data app, and to one dashboard, and goes with either. */
export type GuestMetricStore = {
  readonly insert: (metric: GuestMadeMetric) => Promise<boolean>;
  /** False where there is no such metric (any more). */
  readonly change: (metricId: string, change: GuestMetricChange) => Promise<boolean>;
  readonly delete: (metricId: string) => Promise<boolean>;
  readonly findById: (metricId: string) => Promise<GuestMadeMetric | undefined>;
  /** The client's on that dashboard, its users' private ones too: whoever asks must not be shown them all. Oldest first. */
  readonly list: (dashboardId: string, client: Owner) => Promise<readonly GuestMadeMetric[]>;
};

export type GuestMetricChange = MetricChange & {
  readonly isPublished?: boolean | undefined;
  readonly card?: GridCard | null | undefined;
};

/** Boards as one viewer arranged them. */
export type GuestLayoutStore = {
  readonly find: (dashboardId: string, viewer: Viewer) => Promise<GuestLayout | undefined>;
  readonly save: (dashboardId: string, viewer: Viewer, layout: GuestLayout) => Promise<void>;
};

export type GuestViewStore = {
  /** False where the viewer has a view of that name on this dashboard already. */
  readonly insert: (dashboardId: string, viewer: Viewer, view: SavedView, createdAt: Date) => Promise<boolean>;
  /** Oldest first. */
  readonly list: (dashboardId: string, viewer: Viewer) => Promise<readonly SavedView[]>;
  readonly delete: (dashboardId: string, viewer: Viewer, viewId: string) => Promise<boolean>;
};
