import { type ColumnRef, type Datamart, findColumn } from '../datamart/datamart.js';
import type { FilterDataType, FilterValue } from '../filter/filter.js';
import type { CopySettings } from './embed.js';
import type { GridCard, Metric, MetricDefinition, Owner } from './metric.js';
import type { Tile } from './tile.js';

export type Dashboard = {
  /** Internal id. Callers use `externalDashboardId`, which is unique within the data app. */
  readonly id: string;
  readonly externalDashboardId: string;
  readonly workspaceId: string;
  readonly name: string;
  /**
   * The client that owns the dashboard; null if the organization does. A client's dashboard opens only for that client
   * of that data app.
   */
  readonly owner: Owner | null;
  /** Id of the dashboard that this one was cloned from, or null. */
  readonly templateId: string | null;
  readonly layout: readonly LayoutCard[];
  readonly gridMargin: readonly number[];
  readonly filters: readonly DashboardFilter[];
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly isAllowPrivateMetricsByDefault: boolean;
  readonly tiles?: readonly Tile[] | undefined;
};

/** A card on a grid of 12 columns; `x`, `y`, `w` and `h` in grid units. */
export type LayoutCard = GridCard & { readonly metricId: string };

export type DashboardFilter = {
  /** Label of the filter. Unique within the dashboard, ignoring case. */
  readonly name: string;
  readonly dataType: FilterDataType;
  /**
   * The columns that the filter restricts. A metric that joins none of their tables is restricted along the
   * relationships.
   */
  readonly applyOnTables: readonly (ColumnRef & { readonly dataType: string })[];
  readonly defaultValue?: FilterValue | undefined;
  /** Of `applyOnTables`, what a token does not hide; undefined: all. Only a guest's choices follow it. Never stored. */
  readonly shownOn?: DashboardFilter['applyOnTables'] | undefined;
  /** Whether the filter bar lets a guest choose one value at most. Only for text. */
  readonly isSingleChoice?: true | undefined;
};

/** `METRIC`: shown on the board. `GALLERY`: offered for adding to the board. */
export type MetricPlacement = 'METRIC' | 'GALLERY';

export type PlacedMetric = { readonly metric: Metric; readonly placement: MetricPlacement; readonly placedAt: Date };

/**
 * The content of a dashboard, as in the `data` of an export. Cards and metrics refer to each other by ids that are
 * local to the content.
 */
export type DashboardContent = {
  readonly layout: readonly LayoutCard[];
  readonly filters: readonly DashboardFilter[];
  readonly metrics: readonly {
    readonly metricId: string;
    readonly name: string;
    readonly definition: MetricDefinition;
    /** Ids of the metrics that it was copied from, nearest first. */
    readonly lineage: readonly string[];
    readonly placement: MetricPlacement;
  }[];
  readonly gridMargin: readonly number[];
  readonly isAllowPrivateMetricsByDefault?: boolean | undefined;
  /** Left out if there are none. A replacement without them keeps those of the dashboard. */
  readonly tiles?: readonly Tile[] | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** The settings of a client's copy, or of the template for its copies. Exports never have them. */
  readonly settings?: CopySettings | undefined;
};

/** Whether a metric could be answered for a client. `untried`: it needs values that only a token has. */
export type TriedMetric = {
  readonly metricId: string;
  readonly name: string;
  readonly outcome: 'answered' | 'failed' | 'untried';
  /** Null if answered. */
  readonly message: string | null;
  /** How it was answered, if the caller wanted the whole answer measured. Never its rows, nor their number. */
  readonly measured?:
    | { readonly isEmpty: boolean; readonly isTruncated: boolean; readonly milliseconds: number }
    | undefined;
};

/**
 * Whether a setting that names a dashboard id applies to `dashboard`: the id is its own or its template's. spec-gap:
 * settings for a template also apply to its copies, as they do for metrics.
 */
export const isOrCopies = (dashboard: Dashboard, dashboardId: string): boolean =>
  dashboard.id === dashboardId || dashboard.templateId === dashboardId;

/** Whether two filter names are equal, ignoring case. */
export const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export type FilterMapping = {
  readonly name: string;
  readonly applyOnTables: readonly (ColumnRef & { readonly dataType: string })[];
};

/** Returns the dashboard's filters with these mappings applied, or the faults of the mappings. */
export const mapFilters = (
  dashboard: Dashboard,
  mappings: readonly FilterMapping[],
  datamarts: readonly Datamart[],
): { readonly filters: readonly DashboardFilter[] } | { readonly faults: readonly string[] } => {
  const faults = mappings.flatMap(({ name, applyOnTables }) => [
    ...(dashboard.filters.some((filter) => sameName(filter.name, name))
      ? []
      : [`the dashboard has no filter "${name}"`]),
    ...applyOnTables
      // A mapping to a missing column would either restrict nothing or make every metric fail.
      .filter((ref) => datamarts.every((datamart) => findColumn(datamart, ref) === undefined))
      .map((ref) => `"${name}": the workspace has no column ${ref.schemaName}.${ref.tableName}.${ref.columnName}`),
  ]);
  if (faults.length > 0) return { faults };
  return {
    filters: dashboard.filters.map((filter) => {
      const mapping = mappings.find(({ name }) => sameName(filter.name, name));
      return mapping === undefined ? filter : { ...filter, applyOnTables: mapping.applyOnTables };
    }),
  };
};

/** Returns the metric of that id on the dashboard, else its copy on the dashboard, else undefined. */
export const findPlaced = (placed: readonly PlacedMetric[], metricId: string): PlacedMetric | undefined =>
  placed.find(({ metric }) => metric.metricId === metricId) ??
  placed.find(({ metric }) => metric.lineage[0] === metricId);
