/**
 * Cross filters: a mark that a guest chose on one card is a temporary filter of the other cards. A guest cannot choose
 * columns by it: the mark is a value of a dimension that its card shows, and another card takes it only if that card
 * shows the same column, at least as fine, or if the guest may filter by the column anyway.
 */
import type { Dashboard, DashboardFilter } from '../dashboard/dashboard.js';
import { mappedColumns } from '../dashboard/mapped-columns.js';
import type { Dimension, Metric, TimeGrain } from '../dashboard/metric.js';
import { sameColumn } from '../datamart/datamart.js';
import { compareNumbers, isNotFinite } from '../filter/exact-number.js';
import type { Condition, FilterDataType, Predicate, Scalar } from '../filter/filter.js';
import { isPeriod, type Period } from '../filter/period.js';
import { groupFault, predicateOf } from '../query/drill.js';
import { Refusal } from '../refusal.js';
import { notOpen } from './access.js';
import type { FilterableColumns } from './column-filters.js';
import { type Restrictions, visibleFilters } from './conditions.js';
import type { CrossFilter } from './view.js';

/** What the guest may filter by on the dashboard without a cross filter. */
export type OwnFilters = { readonly filters: readonly DashboardFilter[]; readonly columns: FilterableColumns };

export const ownFilters = (
  restrictions: Restrictions,
  dashboard: Dashboard,
  columns: FilterableColumns,
): OwnFilters => ({ filters: visibleFilters(restrictions, dashboard), columns });

const refuse = (message: string): never => {
  throw new Refusal('INVALID_REQUEST_BODY', message, { reason: 'cross-filter' });
};

/** Whether a mark of the dimension always stands for the same rows. */
const isMarkable = ({ bucketCount }: Dimension): boolean => bucketCount === undefined;

/** Returns the dimensions whose values the metric shows, also after a drill. Custom SQL does not say its columns. */
const dimensionsOf = ({ definition }: Metric): readonly Dimension[] =>
  definition.kind === 'sql' ? [] : [...definition.dimensions, ...definition.drillPath];

/** The groups of dates that each group is made of, without the rest of another one. */
const partsOfGrain: Readonly<Record<TimeGrain, readonly TimeGrain[]>> = {
  hourOfDay: ['minute', 'hour', 'hourOfDay'],
  dayOfWeek: ['minute', 'hour', 'day', 'dayOfWeek'],
  minute: ['minute'],
  hour: ['minute', 'hour'],
  day: ['minute', 'hour', 'day'],
  week: ['minute', 'hour', 'day', 'week'],
  month: ['minute', 'hour', 'day', 'month'],
  quarter: ['minute', 'hour', 'day', 'month', 'quarter'],
  year: ['minute', 'hour', 'day', 'month', 'quarter', 'year'],
};

/**
 * Whether each mark of `marked` holds whole groups of `shown`. If not, the filtered card would show values of finer
 * groups than its author chose.
 */
const isShownBy = (marked: Dimension, shown: Dimension): boolean => {
  if (!sameColumn(marked.column, shown.column) || !isMarkable(shown)) return false;
  if (shown.bucketWidth !== undefined) return shown.bucketWidth === marked.bucketWidth;
  if (shown.grain === undefined) return true;
  return marked.grain !== undefined && partsOfGrain[marked.grain].includes(shown.grain);
};

const dateFilterGrains: readonly (TimeGrain | undefined)[] = ['day', 'week', 'month', 'quarter', 'year'];

/** Whether the filter could have been given each mark of the dimension. Filters of dates take whole days. */
const canTake = (dataType: FilterDataType, { grain }: Dimension): boolean =>
  dataType === 'date' ? dateFilterGrains.includes(grain) : grain === undefined;

const filterFor = ({ filters }: OwnFilters, marked: Dimension): DashboardFilter | undefined =>
  filters.find(
    (filter) =>
      canTake(filter.dataType, marked) && mappedColumns(filter).some((column) => sameColumn(column, marked.column)),
  );

const isOwnColumn = ({ columns }: OwnFilters, marked: Dimension): boolean =>
  [...columns.values()].some(({ column, dataType }) => sameColumn(column, marked.column) && canTake(dataType, marked));

/** Whether a mark of the dimension filters the metric. */
const takes = (target: Metric, marked: Dimension, own: OwnFilters): boolean =>
  isMarkable(marked) &&
  (dimensionsOf(target).some((shown) => isShownBy(marked, shown)) ||
    isOwnColumn(own, marked) ||
    filterFor(own, marked) !== undefined);

/** Returns, for each dimension of the metric, the ids of the other metrics that a mark of it filters. */
export const crossFilteredBy = (
  metric: Metric,
  all: readonly Metric[],
  own: OwnFilters,
): Readonly<Record<string, readonly string[]>> => {
  const others = all.filter(({ metricId }) => metricId !== metric.metricId);
  return Object.fromEntries(
    dimensionsOf(metric).flatMap((dimension) => {
      const taking = others.filter((other) => takes(other, dimension, own)).map(({ metricId }) => metricId);
      return taking.length === 0 ? [] : [[dimension.name, taking]];
    }),
  );
};

const assertGroup = (dimension: Dimension, value: Scalar | null): void => {
  const fault = groupFault(dimension, value);
  if (fault !== undefined) refuse(`crossFilter: ${fault}`);
};

const isOrdered = (from: Scalar, to: Scalar): boolean => {
  const order = compareNumbers(from, to);
  return order === undefined ? String(from) <= String(to) : order <= 0;
};

/** Returns the test for the marks from one to another, both included. */
const rangeOf = (dimension: Dimension, from: Scalar, to: Scalar): Predicate => {
  const { name, grain, bucketWidth } = dimension;
  if (!isPeriod(grain) && bucketWidth === undefined) {
    refuse(`crossFilter: "${name}" has no periods or buckets, so it takes one value and no range.`);
  }
  if (isNotFinite(from) || isNotFinite(to)) refuse(`crossFilter: the range of "${name}" takes finite values.`);
  if (!isOrdered(from, to)) refuse(`crossFilter: the range of "${name}" ends before it starts; swap from and to.`);
  const [first, last] = [predicateOf(dimension, from), predicateOf(dimension, to)];
  const start = first.kind === 'range' ? first.from : from;
  return last.kind === 'range' ? { ...last, from: start } : { kind: 'range', from: start, to, toIsExclusive: false };
};

type Mark = { readonly dimension: Dimension; readonly predicate: Predicate };

const markOf = (source: Metric, filter: CrossFilter): Mark => {
  const dimension = dimensionsOf(source).find(({ name }) => name === filter.columnName);
  if (dimension === undefined || !isMarkable(dimension)) {
    return refuse(`crossFilter: no mark of "${filter.columnName}" can filter other metrics.`);
  }
  if ('value' in filter) {
    assertGroup(dimension, filter.value);
    return { dimension, predicate: predicateOf(dimension, filter.value) };
  }
  for (const end of [filter.from, filter.to]) assertGroup(dimension, end);
  return { dimension, predicate: rangeOf(dimension, filter.from, filter.to) };
};

const isWithoutValue = (predicate: Predicate): boolean =>
  predicate.kind === 'isNull' || (predicate.kind === 'recurring' && predicate.value === null);

const conditionsOf = ({ dimension, predicate }: Mark, target: Metric, own: OwnFilters): readonly Condition[] => {
  const { column } = dimension;
  const isShown = dimensionsOf(target).some((shown) => isShownBy(dimension, shown));
  if (isShown || isOwnColumn(own, dimension)) return [{ column, predicate }];
  const filter = filterFor(own, dimension);
  // A filter of the dashboard cannot choose the rows without a value.
  if (filter === undefined || isWithoutValue(predicate)) return [];
  const columns = mappedColumns(filter);
  const mapping = columns.length > 1 ? { mappedTo: columns } : {};
  return columns.map((mapped) => ({ column: mapped, predicate, ...mapping }));
};

/** The metric that is read: its groups, or the rows behind them. */
export type CrossTarget = { readonly metric: Metric; readonly reads: 'groups' | 'rows' };

/** A mark with its conditions on one metric. */
type HeldMark = {
  readonly filter: CrossFilter;
  readonly dimension: Dimension;
  readonly conditions: readonly Condition[];
};

/**
 * Returns the marks that filter one metric, with their conditions. Its own marks filter only the rows behind it, since a card
 * keeps what it shows.
 * `open` are the metrics of the dashboard that the guest may open. Throws UNAUTHORIZED for a mark of another metric, and
 * INVALID_REQUEST_BODY for a mark that its metric does not show.
 */
export const heldMarks = (
  filters: readonly CrossFilter[],
  { metric: target, reads }: CrossTarget,
  open: readonly Metric[],
  own: OwnFilters,
): readonly HeldMark[] =>
  filters.flatMap((filter) => {
    const source = open.find(({ metricId }) => metricId === filter.metricId);
    if (source === undefined) throw notOpen('metric-not-on-dashboard');
    const mark = markOf(source, filter);
    const isOwn = source.metricId === target.metricId;
    const conditions = isOwn && reads === 'groups' ? [] : conditionsOf(mark, target, own);
    return conditions.length === 0 ? [] : [{ filter, dimension: mark.dimension, conditions }];
  });

/** The first characters of a timestamp that name its period. */
const periodLength: Readonly<Record<Period, number>> = {
  ...{ minute: 16, hour: 16, day: 10, week: 10, month: 7, quarter: 7, year: 4 },
};

const valueWords = (value: Scalar | null, { grain }: Dimension): string => {
  if (value === null) return '(empty)';
  if (grain === 'quarter')
    return String(value).replace(/^(\d+)-(\d\d).*$/, (_, year, month) => `${year}-Q${Math.ceil(Number(month) / 3)}`);
  return isPeriod(grain) ? String(value).slice(0, periodLength[grain]).replace('T', ' ') : String(value);
};

/** The mark's value for readers: `2001-01 to 2001-03`. */
export const markWords = ({ filter, dimension }: Pick<HeldMark, 'filter' | 'dimension'>): string => {
  if ('value' in filter) return valueWords(filter.value, dimension);
  return [filter.from, filter.to].map((end) => valueWords(end, dimension)).join(' to ');
};
