import type { ColumnRef, TableRef } from '../datamart/datamart.js';
import type { Condition, FilterDataType, FilterValue, Predicate } from '../filter/filter.js';
import type { Period } from '../filter/period.js';
import type { Chart } from './chart.js';

/** A question over a datamart, and the chart that shows its answer. Ids are unique in the organization. */
export type Metric = {
  readonly metricId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly definition: MetricDefinition;
  /**
   * Ids of the metrics that this one was copied from, nearest first. A setting that names one of them also applies to
   * this copy.
   */
  readonly lineage: readonly string[];
  /** The client that owns the metric; null if the organization does. Only that client can read a client's metric. */
  readonly owner: Owner | null;
  /** Whether the metric is hidden from all guests until it is restored. */
  readonly isArchived: boolean;
  /** Whether a guest of the owner rewrote the definition. The metric may then show more than its author intended. */
  readonly isChangedByGuest: boolean;
  /** Null if the host made the metric. */
  readonly guest: GuestMade | null;
};

/** Properties of a metric that a guest made. The metric belongs to one dashboard, and is deleted with it. */
export type GuestMade = {
  /** Internal id. */
  readonly dashboardId: string;
  /** The user to whom the metric is private until it is published. Null: every user of the owner sees it. */
  readonly userIdentifier: string | null;
  readonly isPublished: boolean;
  /** Its card for viewers who did not move it; null if it is in the gallery. */
  readonly card: GridCard | null;
  readonly createdAt: Date;
};

export type GuestMadeMetric = Metric & { readonly owner: Owner; readonly guest: GuestMade };

/** Position and size on a grid of 12 columns, in grid units. */
export type GridCard = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };

/** Properties of a metric that the host made and no guest changed. */
export const hostMade = { isArchived: false, isChangedByGuest: false, guest: null } as const;

/** The client of a data app that owns a copy. */
export type Owner = { readonly dataAppId: string; readonly clientId: string };

/**
 * The owner of layouts, views and private metrics. `userIdentifier` null: all tokens of the client that name no user.
 */
export type Viewer = Owner & { readonly userIdentifier: string | null };

export type TimeGrain = Period | 'hourOfDay' | 'dayOfWeek';

/**
 * A column to group by. `grain` groups dates. `bucketWidth` (in the column's unit) or `bucketCount` groups numbers for
 * histograms; `bucketCount` is approximate, since the width between minimum and maximum is rounded.
 */
export type Dimension = {
  /** Name of the column in the answer; unique within the metric. */
  readonly name: string;
  readonly column: ColumnRef;
  readonly grain?: TimeGrain | undefined;
  readonly bucketWidth?: number | undefined;
  readonly bucketCount?: number | undefined;
};

export const aggregates = ['SUM', 'AVG', 'MIN', 'MAX', 'COUNT', 'COUNT_DISTINCT', 'MEDIAN', 'PERCENTILE'] as const;
export type Aggregate = (typeof aggregates)[number];

/** Of a measure: `AGGREGATE` takes a measure of the datamart as it is. */
export const measureAggregates = [...aggregates, 'AGGREGATE'] as const;
export type MeasureAggregate = (typeof measureAggregates)[number];

export type Measure = AggregateMeasure | ExpressionMeasure;

export type AggregateMeasure = {
  readonly name: string;
  readonly aggregate: MeasureAggregate;
  /** Undefined only with COUNT, which then counts rows. */
  readonly column?: ColumnRef | undefined;
  /**
   * If set, the aggregate is over 1 where the column passes and 0 where it does not; NULL stays NULL. AVG is then a
   * share.
   */
  readonly indicator?: Predicate | undefined;
  /**
   * Required for PERCENTILE, from 0 to 1: 0.25 is the lower quartile. The result between two values is interpolated
   * linearly.
   */
  readonly percentile?: number | undefined;
  readonly expression?: undefined;
  readonly isHidden?: Hidden;
};

/** Of a measure: computed for calculations, conditions on groups and sorts, but no column of the answer. Restricts no access. */
type Hidden = true | undefined;

/** A measure of the datamart: its column is an aggregating custom column. It has no indicator and no percentile. */
export type ModelMeasure = AggregateMeasure & { readonly aggregate: 'AGGREGATE' };

/**
 * An expression of aggregates in the datasource's own SQL: `SUM(flights.delay) / COUNT(*)`. Only the host may define
 * one, never a guest.
 */
export type ExpressionMeasure = {
  readonly name: string;
  readonly expression: string;
  readonly aggregate?: undefined;
  readonly column?: undefined;
  readonly indicator?: undefined;
  readonly percentile?: undefined;
  readonly isHidden?: Hidden;
};

/** A tree of conditions: `all` must pass, or `any`. NULL passes only `isNull`. */
export type ConditionTree =
  | Condition
  | { readonly all: readonly ConditionTree[] }
  | { readonly any: readonly ConditionTree[] };

/** A tree of conditions on measures. Groups that do not pass are removed. */
export type HavingTree =
  | { readonly measure: string; readonly predicate: Predicate }
  | { readonly all: readonly HavingTree[] }
  | { readonly any: readonly HavingTree[] };

/**
 * A column that is computed from the measure `of` over the groups that passed `having`, before the limit. `within`
 * names dimensions whose values are calculated separately. `along` names the dimension that the calculation follows;
 * the default is the first.
 */
export type Calculation =
  /**
   * Share of the total of all groups, from 0 to 1. With `within`: of the total of the groups with the same values
   * there.
   */
  | {
      readonly kind: 'shareOfTotal';
      readonly name: string;
      readonly of: string;
      readonly within?: readonly string[] | undefined;
    }
  /** The sum up to and including this group, separately for each value of the dimensions other than `along`. */
  | { readonly kind: 'runningTotal'; readonly name: string; readonly of: string; readonly along?: string | undefined }
  /** The value of `of` a number of calendar periods of `along`'s grain earlier. NULL if that group does not exist. */
  | {
      readonly kind: 'previousPeriod';
      readonly name: string;
      readonly of: string;
      readonly along?: string | undefined;
      readonly periods?: number | undefined;
      /** `change`: the difference. `relativeChange`: the difference divided by the earlier value. */
      readonly result?: 'value' | 'change' | 'relativeChange' | undefined;
    };

/** Maximum number of periods that a calculation may look back. */
export const maxPeriods = 60;

/**
 * For a single value: compares it with the same measure over the conditions' range of `column` a number of periods
 * earlier.
 */
export type Comparison = { readonly column: ColumnRef; readonly grain: Period; readonly periods: number };

/** A filter of the metric. A `predicate` always applies; without one, the filter takes a value under its name. */
export type MetricFilter = {
  readonly name: string;
  readonly label: string;
  readonly column: ColumnRef;
  readonly dataType: FilterDataType;
  readonly predicate?: Predicate | undefined;
  readonly defaultValue?: FilterValue | undefined;
  /** Whether a token hides the column, so that only its own values reach the filter. Never stored. */
  readonly isClosed?: true | undefined;
};

/** An RLS variable. The token must give it a value in `rlsSettings`, unless `isOptional`. */
export type RlsVariable = {
  readonly name: string;
  /** Undefined only in custom SQL, which compares with `<name>_variable` itself. */
  readonly column?: ColumnRef | undefined;
  readonly isOptional: boolean;
};

export type Sort = { readonly name: string; readonly direction: 'ASC' | 'DESC' };

export type MetricDefinition = VisualDefinition | SqlDefinition;

/**
 * A metric without custom SQL. A missing optional field is empty: an earlier version that did not have it stored the
 * metric.
 */
export type VisualDefinition = {
  readonly kind: 'visual';
  readonly chart: Chart;
  /** The table whose rows are aggregated. Joins start at this table. */
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
  /** Dimensions for drilling, in order. Each click replaces the dimensions by the next one. */
  readonly drillPath: readonly Dimension[];
  readonly sort: readonly Sort[];
  readonly limit: number | null;
  /**
   * Whether the limit counts values of the last dimension, by the first sort, and all other values are combined into one.
   * Left out: the limit counts rows, and the rest is left out.
   */
  readonly others?: boolean | undefined;
} & BaseFilterChoice;

/** The way out of base filters. Only an author has it: no request of a guest may hold it, and no change of one keeps it. */
export type BaseFilterChoice = {
  /** The tables that the metric reads without their base filters. Undefined: none. */
  readonly withoutBaseFilters?: readonly TableRef[] | undefined;
};

/** A metric in SQL. Only the host may define one, never a guest. */
export type SqlDefinition = {
  readonly kind: 'sql';
  readonly chart: Chart;
  /**
   * One SELECT in the datasource's own SQL over the datamart's tables. `client_id_variable` and `<name>_variable` (the
   * RLS variables) are bound values.
   */
  readonly sql: string;
  /** All columns of the result, by name: dimensions are what a chart groups by, measures are what it shows. */
  readonly dimensions: readonly SqlOutput[];
  readonly measures: readonly SqlOutput[];
  readonly filters: readonly MetricFilter[];
  readonly rlsVariables: readonly RlsVariable[];
  readonly sort: readonly Sort[];
  readonly limit: number | null;
} & BaseFilterChoice;

export type SqlOutput = { readonly name: string };

/** Returns the names of the answer's columns, in order. */
export const outputNames = (definition: MetricDefinition): readonly string[] => [
  ...definition.dimensions.map(({ name }) => name),
  ...measureNames(definition),
];

/** Returns the measures that are columns of the answer. */
export const shownMeasures = (measures: readonly Measure[]): readonly Measure[] =>
  measures.filter(({ isHidden }) => isHidden !== true);

/** Returns the names by which groups may be sorted: the answer's columns, and hidden measures. */
export const sortableNames = (definition: MetricDefinition): readonly string[] => [
  ...new Set([...outputNames(definition), ...definition.measures.map(({ name }) => name)]),
];

/** Returns the names of the values shown for each group: measures and calculations. */
export const measureNames = (definition: MetricDefinition): readonly string[] => [
  ...(definition.kind === 'visual' ? shownMeasures(definition.measures) : definition.measures).map(({ name }) => name),
  ...(definition.kind === 'visual' ? (definition.calculations ?? []) : []).map(({ name }) => name),
];

/** Returns every condition of a tree. */
export const testsOf = (tree: ConditionTree | undefined): readonly Condition[] => {
  if (tree === undefined) return [];
  if ('predicate' in tree) return [tree];
  return ('all' in tree ? tree.all : tree.any).flatMap(testsOf);
};

/**
 * Maximum length of a lineage. A longer one is refused: if it were cut, it would lose the original metric that settings
 * name.
 */
export const maxLineage = 100;

/** Returns the lineage of a copy of the metric. */
export const lineageOfCopy = ({ metricId, lineage }: Pick<Metric, 'metricId' | 'lineage'>): readonly string[] => [
  ...new Set([metricId, ...lineage]),
];

/** Whether a setting that names `metricId` applies to this metric: it is that metric or a copy of it. */
export const isOrDescendsFrom = (metric: Metric, metricId: string): boolean =>
  metric.metricId === metricId || metric.lineage.includes(metricId);
