import type { Chart } from '../dashboard/chart.js';
import type { LayoutCard } from '../dashboard/dashboard.js';
import type { Comparison, Sort, TimeGrain } from '../dashboard/metric.js';
import type { Tile } from '../dashboard/tile.js';
import type { FilterDataType, FilterValue, Scalar } from '../filter/filter.js';
import type { MetricAnswer } from '../query/engine.js';
import type { ReportFormat } from '../schedule/schedule.js';
import type { GuestOperation } from './access.js';
import type { EffectiveAccess } from './end-user-filters.js';
import type { GuestPermission } from './grant.js';
import type { ListedBoard } from './own-board.js';
import type { ListedView } from './saved-view.js';

/** A dashboard as one guest sees it, without anything that is hidden from the token. */
export type GuestDashboard = {
  /** The id in the guest's request: an embed id or a dashboard id. */
  readonly dashboardId: string;
  readonly name: string;
  /** What the host says of the embed, below the name. Left out: nothing. */
  readonly description?: string | undefined;
  readonly layout: readonly LayoutCard[];
  readonly metrics: readonly GuestMetric[];
  readonly filters: readonly GuestFilter[];
  readonly permissions: Readonly<Record<GuestPermission, boolean>>;
  readonly accessPermissions: EffectiveAccess;
  readonly theme: GuestTheme | null;
  /** The view that the dashboard opens with. */
  readonly defaultView: ListedView | null;
  /** Whether `layout` is the guest's own. Left out where the guest may not arrange cards. */
  readonly hasOwnLayout?: boolean | undefined;
  /** What the guest may schedule: formats of reports, and alerts. Undefined: nothing. */
  readonly scheduleFormats?: readonly ReportFormat[] | undefined;
  /** The models that the guest may ask in words, the usual one first. Undefined: it may not ask. */
  readonly chat?: { readonly llmNames: readonly string[]; readonly hasSuggestions: boolean } | undefined;
  /** Whether cards have summaries. */
  readonly hasSummary?: true | undefined;
  /** Left out if there are none. */
  readonly tiles?: readonly Tile[] | undefined;
  /** The guest's own dashboards on this one, and shared ones. Undefined: there are none, and the guest may make none. */
  readonly boards?: readonly ListedBoard[] | undefined;
};

/** What one guest opens, with the operations that its token may call there besides reading. */
export type GuestEmbeds = {
  readonly dashboards: readonly (Listed & { readonly dashboardId: string })[];
  readonly metrics: readonly (Listed & { readonly metricId: string })[];
};
type Listed = { readonly name: string; readonly operations: readonly GuestOperation[] };

/**
 * How the elements look. `light` and `dark`: values of CSS custom properties. Without them, `name` is a theme that this
 * service does not have: `light`, `dark`, or one that the page knows.
 */
export type GuestTheme = {
  readonly name: string;
  readonly scheme?: 'light' | 'dark' | undefined;
  readonly light?: Readonly<Record<string, string>>;
  readonly dark?: Readonly<Record<string, string>>;
};

/** The client's own theme, else that of the workspace. */
export type FindTheme = (workspaceTheme: string | undefined, clientId: string) => GuestTheme | null;

export type GuestMetric = {
  readonly metricId: string;
  readonly name: string;
  readonly chart: GuestChart;
  readonly filters: readonly GuestFilter[];
};

/** How to draw the answer. `dimensions` and `measures` are the names of the answer's columns, in order. */
export type GuestChart = Chart & {
  readonly dimensions: readonly string[];
  readonly measures: readonly string[];
  readonly isDrillable: boolean;
  /** Set if no rows behind the chart can be listed: it is custom SQL, or names no columns for them. */
  readonly isWithoutRows?: true | undefined;
  /** Grains of the dimensions that have one, by name. */
  readonly grains?: Readonly<Record<string, TimeGrain>> | undefined;
  /** How many times the metric can be drilled into. */
  readonly drillLevels?: number | undefined;
  /** Ids of the other metrics of the dashboard that a mark of a dimension filters, by the dimension's name. */
  readonly crossFilters?: Readonly<Record<string, readonly string[]>> | undefined;
  /** How values of a measure in several groups combine, by its name. Others, an average for example, do not combine. */
  readonly combine?: Readonly<Record<string, Combine>> | undefined;
  /** Whether a query may say by `maxPoints` how many points it can show. */
  readonly takesMaxPoints?: true | undefined;
  /** How much earlier the answer's `comparisonValue` is. */
  readonly comparison?: Pick<Comparison, 'grain' | 'periods'> | undefined;
};

/** The value of two groups together: their sum, the lesser or the greater. */
export type Combine = 'sum' | 'min' | 'max';

/** A filter that the guest may set. `defaultValue` applies until the guest sets a value. */
export type GuestFilter = {
  readonly name: string;
  /** The name in the reader's language, if it has a translation. */
  readonly label?: string | undefined;
  /** Whether values have labels in the reader's language. The options have them. */
  readonly hasValueLabels?: true | undefined;
  readonly dataType: FilterDataType;
  readonly defaultValue: FilterValue | null;
  /** Whether the guest chooses one value at most. */
  readonly isSingleChoice?: true | undefined;
  /**
   * The value that the token enforces, if the token allows it to be shown. The guest's own value can only narrow it.
   */
  readonly appliedValue?: FilterValue | undefined;
};

/** A mark that the guest chose: a value of a dimension that metric `metricId` shows, or the marks `from` to `to`. */
export type CrossFilter = { readonly metricId: string; readonly columnName: string } & (
  | { readonly value: Scalar | null }
  | { readonly from: Scalar; readonly to: Scalar }
);

/** A guest's query. It names the dashboard that contains the metric; only a metric embed is queried without one. */
export type GuestQuery = {
  readonly metricId: string;
  readonly dashboardId?: string | undefined;
  readonly dashboardFilter?: Readonly<Record<string, FilterValue>> | undefined;
  readonly metricFilter?: Readonly<Record<string, FilterValue>> | undefined;
  /** Marks of other cards of the dashboard. */
  readonly crossFilter?: readonly CrossFilter[] | undefined;
  /** One item for each click: the dimension that was clicked, and its value. */
  readonly drill?: readonly { readonly columnName: string; readonly value: Scalar | null }[] | undefined;
  readonly sort?: readonly Sort[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** How many points the chart can show. Only some types of charts take it, and not together with `limit`. */
  readonly maxPoints?: number | undefined;
  /** The reader's language. It adds labels to the answer, and never changes which rows it has. */
  readonly language?: string | undefined;
};

/** A metric's answer with its duration in whole milliseconds. */
export type MetricReply = {
  readonly metricId: string;
  readonly answer: MetricAnswer;
  readonly timeTakenInMs: number;
  /** Changes with the answer, the client and the token's restrictions; see answer-tag.ts. */
  readonly tag?: string | undefined;
};

/** A query of several metrics of one dashboard. `digest`: that of the answer which the caller already has. */
export type DashboardQuery = {
  readonly dashboardId: string;
  readonly dashboardFilter?: GuestQuery['dashboardFilter'];
  readonly crossFilter?: GuestQuery['crossFilter'];
  readonly language?: GuestQuery['language'];
  readonly metrics: readonly (Omit<GuestQuery, 'dashboardId' | 'dashboardFilter' | 'crossFilter' | 'language'> & {
    readonly digest?: string | undefined;
  })[];
};

/** What became of one metric of a dashboard query. Without `reply`, the answer has the digest that the query named. */
export type DashboardPart =
  | { readonly metricId: string; readonly digest: string; readonly reply: MetricReply }
  | { readonly metricId: string; readonly digest: string }
  | { readonly metricId: string; readonly failure: unknown };

/** How many options of a filter an answer has at most. A search narrows them. */
export const greatestOptions = 1000;

export type GuestOption = { readonly label: string; readonly value: Scalar };

/** A query of the host's backend (operation 16). */
export type BackendQuery = {
  readonly embedId: string;
  readonly metricId: string;
  readonly clientId: string;
  readonly dashboardFilter?: Readonly<Record<string, FilterValue>> | undefined;
  readonly metricFilter?: Readonly<Record<string, FilterValue>> | undefined;
  readonly datasourceName?: string | undefined;
  readonly datamartName?: string | undefined;
};
