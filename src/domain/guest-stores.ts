/** What the use cases need to keep of what guests write. */
import type { LayoutCard } from './dashboard.js';
import type { GridCard, GuestMadeMetric, Owner, Viewer } from './metric.js';
import type { SavedView } from './saved-view.js';
import type { MetricChange } from './stores.js';

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

/** `known`: the metrics that were there when it was saved; those without a card were taken off the board. */
export type GuestLayout = { readonly cards: readonly LayoutCard[]; readonly known: readonly string[] };

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
