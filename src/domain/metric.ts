import type { ColumnRef, TableRef } from './datamart.js';
import type { FilterDataType, FilterValue, Predicate } from './filter.js';

/** A question over a datamart and the chart that shows its answer. Ids are unique in the organization. */
export type Metric = {
  readonly metricId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly definition: MetricDefinition;
  /** The metrics this one was copied from, nearest first: a setting that names one of them binds this copy too. */
  readonly lineage: readonly string[];
  /** Null: the organization's. A client's metric is read by that client alone. */
  readonly owner: Owner | null;
  /** Out of every guest's sight, until it is brought back. */
  readonly isArchived: boolean;
  /** A guest of the owner's rewrote the definition: it may show more than its author meant the metric to show. */
  readonly isChangedByGuest: boolean;
  /** Null: the host made it. */
  readonly guest: GuestMade | null;
};

/** What a metric has that a guest made. It lives on one dashboard, and goes with it. */
export type GuestMade = {
  /** Internal. */
  readonly dashboardId: string;
  /** Private to this user until it is published. Null: every user of the owner sees it. */
  readonly userIdentifier: string | null;
  readonly isPublished: boolean;
  /** Where it stands for those who did not move it; null: in the gallery. */
  readonly card: GridCard | null;
  readonly createdAt: Date;
};

export type GuestMadeMetric = Metric & { readonly owner: Owner; readonly guest: GuestMade };

/** On a grid of 12 columns, in grid units. */
export type GridCard = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };

/** A metric that the host makes, before any guest touched it. */
export const hostMade = { isArchived: false, isChangedByGuest: false, guest: null } as const;

/** The client of a data app that owns a copy. */
export type Owner = { readonly dataAppId: string; readonly clientId: string };

/** Whose layouts, views and private metrics these are. Null: of the client's tokens that name no user. */
export type Viewer = Owner & { readonly userIdentifier: string | null };

export type ChartType = 'line' | 'bar' | 'singleValue' | 'table';

export type Chart = {
  readonly type: ChartType;
  /** Hint for numbers: `percent` shows 0.21 as 21 %. */
  readonly format?: 'number' | 'percent' | undefined;
  readonly unit?: string | undefined;
};

export type TimeGrain = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year' | 'hourOfDay' | 'dayOfWeek';

/** A column to group by. `grain` is for dates, `bucketWidth` (in the column's unit) for histograms of numbers. */
export type Dimension = {
  /** The column's name in the answer; unique within the metric. */
  readonly name: string;
  readonly column: ColumnRef;
  readonly grain?: TimeGrain | undefined;
  readonly bucketWidth?: number | undefined;
};

export type Aggregate = 'SUM' | 'AVG' | 'MIN' | 'MAX' | 'COUNT' | 'COUNT_DISTINCT' | 'MEDIAN';

export type Measure = {
  readonly name: string;
  readonly aggregate: Aggregate;
  /** Left out only with COUNT: the number of rows. */
  readonly column?: ColumnRef | undefined;
  /** Aggregate 1 where the column passes and 0 where it does not (NULL stays NULL): AVG of it is a share. */
  readonly indicator?: Predicate | undefined;
};

/** A filter that belongs to the metric: `predicate` always holds; without one, it waits for a value by its name. */
export type MetricFilter = {
  readonly name: string;
  readonly label: string;
  readonly column: ColumnRef;
  readonly dataType: FilterDataType;
  readonly predicate?: Predicate | undefined;
  readonly defaultValue?: FilterValue | undefined;
};

/** A variable whose value the token must bring (`rlsSettings`), unless `isOptional`. */
export type RlsVariable = { readonly name: string; readonly column: ColumnRef; readonly isOptional: boolean };

export type Sort = { readonly name: string; readonly direction: 'ASC' | 'DESC' };

export type MetricDefinition = {
  readonly kind: 'visual';
  readonly chart: Chart;
  /** The table whose rows are counted; the joins start here. */
  readonly from: TableRef;
  readonly dimensions: readonly Dimension[];
  readonly measures: readonly Measure[];
  readonly filters: readonly MetricFilter[];
  readonly rlsVariables: readonly RlsVariable[];
  /** Columns of the underlying rows, in order. */
  readonly underlying: readonly ColumnRef[];
  /** What a click goes on to: the first drill replaces the dimensions by the path's first, and so on. */
  readonly drillPath: readonly Dimension[];
  readonly sort: readonly Sort[];
  readonly limit: number | null;
};

/** How many metrics a lineage names at most. A longer one is refused: cut, it would lose the original that settings name. */
export const maxLineage = 100;

/** The lineage of a copy of the metric. */
export const lineageOfCopy = ({ metricId, lineage }: Pick<Metric, 'metricId' | 'lineage'>): readonly string[] => [
  ...new Set([metricId, ...lineage]),
];

/** Whether a setting that names `metricId` binds this metric: it is the metric, or the copy was made from it. */
export const isOrDescendsFrom = (metric: Metric, metricId: string): boolean =>
  metric.metricId === metricId || metric.lineage.includes(metricId);
