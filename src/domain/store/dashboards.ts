/** Stores of dashboards, metrics and embeds, and of the metrics, layouts and views of guests. */
import type { Dashboard, LayoutCard, MetricPlacement, PlacedMetric } from '../dashboard/dashboard.js';
import type { Embed } from '../dashboard/embed.js';
import type { GridCard, GuestMadeMetric, Metric, MetricDefinition, Owner, Viewer } from '../dashboard/metric.js';
import type { Tile } from '../dashboard/tile.js';
import type { GuestLayout } from '../guest/layout.js';
import type { BoardContent, ListedBoard, OwnBoard } from '../guest/own-board.js';
import type { SavedUnder, SavedView, StoredView, ViewChoices } from '../guest/saved-view.js';
import type { Slices } from '../slices.js';
import type { Page } from './page.js';

/** External ids of the copies of a dashboard, and ids of its embeds. */
export type DashboardUsers = { readonly copies: readonly string[]; readonly embeds: readonly string[] };

/** A client's copy of a dashboard. */
export type ClientCopy = Pick<Dashboard, 'id' | 'externalDashboardId'> & { readonly clientId: string };

export type DashboardStore = {
  /** Returns false if the data app, or the organization, already has a dashboard of that external id. */
  readonly insert: (dashboard: Dashboard) => Promise<boolean>;
  readonly update: (dashboard: Dashboard) => Promise<void>;
  readonly findById: (id: string) => Promise<Dashboard | undefined>;
  /** Returns those that exist, in no particular order. */
  readonly listByIds: (ids: readonly string[]) => Promise<readonly Dashboard[]>;
  /** Returns the data app's own dashboard of that external id, else the organization's. */
  readonly findByExternalId: (dataAppId: string, externalDashboardId: string) => Promise<Dashboard | undefined>;
  /** Returns all dashboards of that external id, of every owner. The organization's dashboard comes first. */
  readonly listByExternalId: (externalDashboardId: string) => Promise<readonly Dashboard[]>;
  /** Returns the organization's dashboard of that external id. Templates are such dashboards. */
  readonly findTemplate: (externalDashboardId: string) => Promise<Dashboard | undefined>;
  /**
   * Returns the organization's dashboards of the workspace, and those of `dataAppId` if it is not null. Ordered by
   * name, then external id.
   */
  readonly listByWorkspace: (workspaceId: string, dataAppId: string | null, page: Page | null) => Slices<Dashboard>;
  /**
   * Returns the metrics that the host made. Metrics of guests are in `guestMetrics`, and never part of a clone, an
   * export or a workspace's list.
   */
  readonly listMetrics: (dashboardId: string) => Promise<readonly PlacedMetric[]>;
  /** Prevents deletion of the dashboard until the transaction ends. Returns false if it does not exist. */
  readonly hold: (id: string) => Promise<boolean>;
  /** As `lock`, and waits for those who hold the dashboard. */
  readonly lockToDelete: (id: string) => Promise<Dashboard | undefined>;
  /** Returns the copies of the dashboard that clients of the data app own, ordered by client. */
  readonly listCopies: (id: string, dataAppId: string) => Promise<readonly ClientCopy[]>;
  /** Returns the copies and embeds of the dashboard, of every owner; at most `limit` of each. */
  readonly listUsers: (id: string, limit: number) => Promise<DashboardUsers>;
  /** Returns the dashboard, and locks it until the transaction ends. */
  readonly lock: (id: string) => Promise<Dashboard | undefined>;
  /** As `listMetrics`, and locks these metrics until the transaction ends. The dashboard must be locked. */
  readonly lockMetrics: (dashboardId: string) => Promise<readonly PlacedMetric[]>;
  /** Without `tiles`, the dashboard keeps its tiles. */
  readonly setLayout: (id: string, layout: readonly LayoutCard[], tiles?: readonly Tile[]) => Promise<void>;
  /**
   * Replaces the dashboard's metrics by these, in this order. Metrics that were already placed keep their time of
   * placement; new ones get `now`.
   */
  readonly placeMetrics: (
    dashboardId: string,
    metrics: readonly { readonly metricId: string; readonly placement: MetricPlacement }[],
    now: Date,
  ) => Promise<void>;
  /**
   * As `placeMetrics`, for a dashboard that this transaction inserted. It has no metrics yet, and is not visible to
   * others.
   */
  readonly placeFirstMetrics: DashboardStore['placeMetrics'];
  /**
   * Deletes the dashboard, its embeds (tokens as described at `EmbedStore.delete`) and those metrics of its owner that
   * no other dashboard holds.
   */
  readonly delete: (dashboard: Dashboard) => Promise<void>;
};

export type MetricStore = {
  readonly insert: (metric: Metric) => Promise<boolean>;
  /**
   * Inserts the metrics in one statement. Returns false if one of their ids is taken; the transaction must then be
   * rolled back.
   */
  readonly insertAll: (metrics: readonly Metric[]) => Promise<boolean>;
  readonly update: (metric: Metric) => Promise<void>;
  readonly findById: (metricId: string) => Promise<Metric | undefined>;
  /** Returns those that exist, in no particular order. */
  readonly listByIds: (metricIds: readonly string[]) => Promise<readonly Metric[]>;
  /**
   * Applies a guest's change to a metric of `owner`; the lineage is kept. Returns false if the owner does not have the
   * metric.
   */
  readonly change: (metricId: string, owner: Owner, change: MetricChange) => Promise<boolean>;
  /**
   * Returns the organization's metrics of the workspace, and those of `dataAppId` if it is not null. Ordered by name,
   * then id.
   */
  readonly listByWorkspace: (workspaceId: string, dataAppId: string | null, page: Page | null) => Slices<Metric>;
  /**
   * Returns the owner's copies of the metric (the metric is first in their lineage) that no dashboard holds, ordered by
   * id.
   */
  readonly listUnplacedCopies: (metricId: string, owner: Owner) => Promise<readonly Metric[]>;
  /** Returns every dashboard that holds the metric. */
  readonly listDashboards: (metricId: string) => Promise<readonly Dashboard[]>;
};

/** The parts of a metric that a guest may change. A new definition marks the metric as changed by a guest. */
export type MetricChange = {
  readonly name?: string | undefined;
  readonly definition?: MetricDefinition | undefined;
  readonly isArchived?: boolean | undefined;
};

export type EmbedStore = {
  /** Returns false if the data app already has an embed of that id. */
  readonly insert: (embed: Embed) => Promise<boolean>;
  /** Changes name, description and access settings. */
  readonly update: (embed: Embed) => Promise<void>;
  /**
   * Deletes the embed and removes its id from all guest tokens. Tokens that named no other embed are deleted. Returns
   * false if the embed does not exist.
   */
  readonly delete: (dataAppId: string, embedId: string) => Promise<boolean>;
  readonly findById: (dataAppId: string, embedId: string) => Promise<Embed | undefined>;
  /** Returns the current embed, and locks it until the transaction ends. */
  readonly lock: (dataAppId: string, embedId: string) => Promise<Embed | undefined>;
  /** Whether another data app shows the dashboard, a metric on it, or a copy made from it. */
  readonly isSharedBeyond: (dataAppId: string, dashboardId: string) => Promise<boolean>;
  /** Returns the data app's oldest dashboard embed of that dashboard. */
  readonly findByDashboard: (dataAppId: string, dashboardId: string) => Promise<Embed | undefined>;
  /** Returns the data app's dashboard embeds of that dashboard, oldest first. */
  readonly listByDashboard: (dataAppId: string, dashboardId: string) => Promise<readonly Embed[]>;
  /** Returns the data app's metric embeds of that metric, oldest first. */
  readonly listByMetric: (dataAppId: string, metricId: string) => Promise<readonly Embed[]>;
  /** Returns the data app's embeds, oldest first. */
  readonly listByDataApp: (dataAppId: string, page: Page | null) => Slices<Embed>;
  /**
   * Returns the client's embeds, oldest first: those of its data app whose dashboard is the client's own or the
   * organization's.
   */
  readonly listByClient: (client: Owner) => Promise<readonly Embed[]>;
  /**
   * Deletes the embeds of all data apps whose access settings name the datamart. Tokens change as described at
   * `delete`.
   */
  readonly removeByDatamart: (datamartName: string) => Promise<void>;
};

/**
 * Metrics that guests made. Each belongs to one client of one data app and to one dashboard, and is deleted with
 * either.
 */
export type GuestMetricStore = {
  readonly insert: (metric: GuestMadeMetric) => Promise<boolean>;
  /** Returns false if the metric does not exist. */
  readonly change: (metricId: string, change: GuestMetricChange) => Promise<boolean>;
  readonly delete: (metricId: string) => Promise<boolean>;
  readonly findById: (metricId: string) => Promise<GuestMadeMetric | undefined>;
  /**
   * Returns the client's metrics on that dashboard, oldest first. They include private metrics of all its users, so the
   * caller must filter them.
   */
  readonly list: (dashboardId: string, client: Owner) => Promise<readonly GuestMadeMetric[]>;
};

export type GuestMetricChange = MetricChange & {
  readonly isPublished?: boolean | undefined;
  readonly card?: GridCard | null | undefined;
};

/** Layouts of dashboards, one for each viewer. */
export type GuestLayoutStore = {
  readonly find: (dashboardId: string, viewer: Viewer) => Promise<GuestLayout | undefined>;
  readonly save: (dashboardId: string, viewer: Viewer, layout: GuestLayout) => Promise<void>;
  /** Removes this viewer's own layout, if there is one. */
  readonly delete: (dashboardId: string, viewer: Viewer) => Promise<void>;
};

export type ViewChange = {
  readonly name?: string | undefined;
  readonly choices?: (ViewChoices & SavedUnder) | undefined;
  readonly isShared?: boolean | undefined;
  readonly isDefault?: boolean | undefined;
};

export type GuestViewStore = {
  /**
   * Returns false if the viewer already has a view of that name on this dashboard. A default view replaces the
   * viewer's default, a shared one that of the client.
   */
  readonly insert: (
    dashboardId: string,
    viewer: Viewer,
    view: SavedView & SavedUnder,
    createdAt: Date,
  ) => Promise<boolean>;
  /** Returns the viewer's views and those that are shared with the client's users, oldest first. */
  readonly list: (dashboardId: string, viewer: Viewer) => Promise<readonly StoredView[]>;
  /**
   * Changes a view of the list, a default as `insert` does. A view that becomes shared or unshared is no longer a
   * default, unless the change says so. The caller has locked the dashboard, and checks the name and whether the viewer
   * may change the view.
   */
  readonly change: (dashboardId: string, viewer: Viewer, viewId: string, change: ViewChange) => Promise<boolean>;
  /** Deletes a view of the list. */
  readonly delete: (dashboardId: string, viewer: Viewer, viewId: string) => Promise<boolean>;
};

export type NewBoard = Omit<ListedBoard, 'isOwn'> & BoardContent;
export type BoardChange = {
  readonly name?: string | undefined;
  readonly content?: BoardContent | undefined;
  readonly isShared?: boolean | undefined;
};

/** Own dashboards of viewers, made of the cards of a dashboard. */
export type GuestBoardStore = {
  /** Returns false if the viewer already has a board of that name on this dashboard. */
  readonly insert: (dashboardId: string, viewer: Viewer, board: NewBoard, createdAt: Date) => Promise<boolean>;
  /** Returns the viewer's boards and those that are shared with the client's users, oldest first. */
  readonly list: (dashboardId: string, viewer: Viewer) => Promise<readonly ListedBoard[]>;
  /** Returns a board of the list with its content. */
  readonly find: (dashboardId: string, viewer: Viewer, boardId: string) => Promise<OwnBoard | undefined>;
  /**
   * Changes a board of the list, if it still has this version. The caller checks the name, and whether the viewer may
   * change the board.
   */
  readonly change: (
    dashboardId: string,
    viewer: Viewer,
    at: { readonly boardId: string; readonly version: number },
    change: BoardChange,
  ) => Promise<boolean>;
  /** Deletes a board of the viewer itself. */
  readonly delete: (dashboardId: string, viewer: Viewer, boardId: string) => Promise<boolean>;
};
