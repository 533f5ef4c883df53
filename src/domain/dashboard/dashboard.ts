import { type ColumnRef, type Datamart, findColumn } from '../datamart/datamart.js';
import type { FilterDataType, FilterValue } from '../filter/filter.js';
import type { GridCard, Metric, MetricDefinition, Owner } from './metric.js';

export type Dashboard = {
  /** Internal. `externalDashboardId` is the one that callers know, unique within the data app. */
  readonly id: string;
  readonly externalDashboardId: string;
  readonly workspaceId: string;
  readonly name: string;
  /** Null: the organization's. A client's dashboard opens for that client of that data app alone. */
  readonly owner: Owner | null;
  /** The dashboard it was cloned from. */
  readonly templateId: string | null;
  readonly layout: readonly LayoutCard[];
  readonly gridMargin: readonly number[];
  readonly filters: readonly DashboardFilter[];
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly isAllowPrivateMetricsByDefault: boolean;
};

/** A card on a grid of 12 columns; `x`, `y`, `w` and `h` in grid units. */
export type LayoutCard = GridCard & { readonly metricId: string };

export type DashboardFilter = {
  /** The label: unique within the dashboard, matched without regard to case. */
  readonly name: string;
  readonly dataType: FilterDataType;
  /** The columns it restricts. A metric that joins none of their tables is restricted along the relationships. */
  readonly applyOnTables: readonly (ColumnRef & { readonly dataType: string })[];
  readonly defaultValue?: FilterValue | undefined;
};

/** `METRIC`: shown on the board. `GALLERY`: at hand for it. */
export type MetricPlacement = 'METRIC' | 'GALLERY';

export type PlacedMetric = { readonly metric: Metric; readonly placement: MetricPlacement; readonly placedAt: Date };

/** What a dashboard is made of: the `data` of an export, where cards and metrics name each other by ids of their own. */
export type DashboardContent = {
  readonly layout: readonly LayoutCard[];
  readonly filters: readonly DashboardFilter[];
  readonly metrics: readonly {
    readonly metricId: string;
    readonly name: string;
    readonly definition: MetricDefinition;
    /** The metrics it was copied from, nearest first. */
    readonly lineage: readonly string[];
    readonly placement: MetricPlacement;
  }[];
  readonly gridMargin: readonly number[];
  readonly isAllowPrivateMetricsByDefault?: boolean | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
};

/**
 * Whether a setting that names the dashboard of this id binds `dashboard`: it is that one, or a copy made from it.
 * spec-gap: what is said of a template holds for its copies, as it does for metrics.
 */
export const isOrCopies = (dashboard: Dashboard, dashboardId: string): boolean =>
  dashboard.id === dashboardId || dashboard.templateId === dashboardId;

/** Names of filters are compared without regard to case. */
export const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export type FilterMapping = {
  readonly name: string;
  readonly applyOnTables: readonly (ColumnRef & { readonly dataType: string })[];
};

/** The dashboard's filters with these mappings in place of theirs, or what is wrong with the mappings. */
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
      // A mapping to nothing would restrict nothing, or break every metric.
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

/** What an id names among a dashboard's metrics: the metric itself, or its copy there. */
export const findPlaced = (placed: readonly PlacedMetric[], metricId: string): PlacedMetric | undefined =>
  placed.find(({ metric }) => metric.metricId === metricId) ??
  placed.find(({ metric }) => metric.lineage[0] === metricId);
