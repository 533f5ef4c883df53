import type { ColumnRef, TableRef } from '../datamart/datamart.js';
import type { Condition, FilterDataType, FilterValue, Predicate } from '../filter/filter.js';
import type { Period } from '../filter/period.js';
import type { Chart } from './chart.js';

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

export type TimeGrain = Period | 'hourOfDay' | 'dayOfWeek';

/**
 * A column to group by. `grain` is for dates; `bucketWidth` (in the column's unit) or `bucketCount` (about so many buckets, of a round
 * width between the least and the greatest value) for histograms of numbers.
 */
export type Dimension = {
  /** The column's name in the answer; unique within the metric. */
  readonly name: string;
  readonly column: ColumnRef;
  readonly grain?: TimeGrain | undefined;
  readonly bucketWidth?: number | undefined;
  readonly bucketCount?: number | undefined;
};

export const aggregates = ['SUM', 'AVG', 'MIN', 'MAX', 'COUNT', 'COUNT_DISTINCT', 'MEDIAN', 'PERCENTILE'] as const;
export type Aggregate = (typeof aggregates)[number];

export type Measure = AggregateMeasure | ExpressionMeasure;

export type AggregateMeasure = {
  readonly name: string;
  readonly aggregate: Aggregate;
  /** Left out only with COUNT: the number of rows. */
  readonly column?: ColumnRef | undefined;
  /** Aggregate 1 where the column passes and 0 where it does not (NULL stays NULL): AVG of it is a share. */
  readonly indicator?: Predicate | undefined;
  /** With PERCENTILE, from 0 to 1: 0.25 is the lower quartile. Between two values, on the line from one to the other. */
  readonly percentile?: number | undefined;
  readonly expression?: undefined;
};

/** An expression of aggregates in the datasource's own SQL: `SUM(flights.delay) / COUNT(*)`. Host's own, never a guest's. */
export type ExpressionMeasure = {
  readonly name: string;
  readonly expression: string;
  readonly aggregate?: undefined;
  readonly column?: undefined;
  readonly indicator?: undefined;
  readonly percentile?: undefined;
};

/** Conditions over each other: `all` of them, or `any`. NULL passes `isNull` alone. */
export type ConditionTree =
  | Condition
  | { readonly all: readonly ConditionTree[] }
  | { readonly any: readonly ConditionTree[] };

/** Which groups stay, by their measures. */
export type HavingTree =
  | { readonly measure: string; readonly predicate: Predicate }
  | { readonly all: readonly HavingTree[] }
  | { readonly any: readonly HavingTree[] };

/**
 * A column computed from a measure's (`of`) over the groups that `having` left, before the limit. `within` names the dimensions whose
 * values are taken each for itself; `along`, the one that is walked: the first where it is left out.
 */
export type Calculation =
  /** From 0 to 1, of the total of all groups (`within`: of those with the same values there). */
  | {
      readonly kind: 'shareOfTotal';
      readonly name: string;
      readonly of: string;
      readonly within?: readonly string[] | undefined;
    }
  /** The sum up to and including this group; every dimension but `along` is taken each for itself. */
  | { readonly kind: 'runningTotal'; readonly name: string; readonly of: string; readonly along?: string | undefined }
  /** `of` so many periods of `along`'s grain earlier, by the calendar: NULL where that group is not there. */
  | {
      readonly kind: 'previousPeriod';
      readonly name: string;
      readonly of: string;
      readonly along?: string | undefined;
      readonly periods?: number | undefined;
      /** `change`: the difference; `relativeChange`: the difference over the earlier value. */
      readonly result?: 'value' | 'change' | 'relativeChange' | undefined;
    };

/** How many periods back a calculation may look. */
export const maxPeriods = 60;

/** Of a single value: the same measure over the conditions' range of `column`, so many periods earlier. */
export type Comparison = { readonly column: ColumnRef; readonly grain: Period; readonly periods: number };

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
export type RlsVariable = {
  readonly name: string;
  /** Left out only in custom SQL, which then compares with `<name>_variable` itself. */
  readonly column?: ColumnRef | undefined;
  readonly isOptional: boolean;
};

export type Sort = { readonly name: string; readonly direction: 'ASC' | 'DESC' };

export type MetricDefinition = VisualDefinition | SqlDefinition;

/** What is left out was not known to the version that stored it, and is empty. */
export type VisualDefinition = {
  readonly kind: 'visual';
  readonly chart: Chart;
  /** The table whose rows are counted; the joins start here. */
  readonly from: TableRef;
  readonly dimensions: readonly Dimension[];
  readonly measures: readonly Measure[];
  readonly where?: ConditionTree | undefined;
  readonly having?: HavingTree | undefined;
  readonly calculations?: readonly Calculation[] | undefined;
  readonly comparison?: Comparison | undefined;
  readonly filters: readonly MetricFilter[];
  readonly rlsVariables: readonly RlsVariable[];
  /** Columns of the underlying rows, in order. */
  readonly underlying: readonly ColumnRef[];
  /** What a click goes on to: the first drill replaces the dimensions by the path's first, and so on. */
  readonly drillPath: readonly Dimension[];
  readonly sort: readonly Sort[];
  readonly limit: number | null;
};

/** A metric in SQL. Host's own, never a guest's. */
export type SqlDefinition = {
  readonly kind: 'sql';
  readonly chart: Chart;
  /**
   * One SELECT in the datasource's own SQL over the datamart's tables. `client_id_variable` and `<name>_variable` (the RLS variables)
   * are bound values.
   */
  readonly sql: string;
  /** Columns of the result by name: what a chart groups by, and what it shows. Together they are all of it. */
  readonly dimensions: readonly SqlOutput[];
  readonly measures: readonly SqlOutput[];
  readonly filters: readonly MetricFilter[];
  readonly rlsVariables: readonly RlsVariable[];
  readonly sort: readonly Sort[];
  readonly limit: number | null;
};

export type SqlOutput = { readonly name: string };

/** The names of the answer's columns, in order. */
export const outputNames = (definition: MetricDefinition): readonly string[] => [
  ...definition.dimensions.map(({ name }) => name),
  ...measureNames(definition),
];

/** What is shown of each group: measures, and what is computed from them. */
export const measureNames = (definition: MetricDefinition): readonly string[] => [
  ...definition.measures.map(({ name }) => name),
  ...(definition.kind === 'visual' ? (definition.calculations ?? []) : []).map(({ name }) => name),
];

/** Every test of a tree of conditions. */
export const testsOf = (tree: ConditionTree | undefined): readonly Condition[] => {
  if (tree === undefined) return [];
  if ('predicate' in tree) return [tree];
  return ('all' in tree ? tree.all : tree.any).flatMap(testsOf);
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
