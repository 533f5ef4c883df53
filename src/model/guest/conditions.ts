/**
 * Collects the restrictions of a metric's rows from the metric's author, the token and the guest. All conditions are
 * ANDed, so a guest's choice can only narrow what the token permits. No restriction may be dropped: each one becomes a
 * condition or an error.
 */
import { type Dashboard, type DashboardFilter, isOrCopies, sameName } from '../dashboard/dashboard.js';
import { mappedColumns } from '../dashboard/mapped-columns.js';
import {
  type ConditionTree,
  isOrDescendsFrom,
  type Metric,
  type MetricDefinition,
  type MetricFilter,
} from '../dashboard/metric.js';
import type { ColumnRef } from '../datamart/datamart.js';
import type { Moment } from '../filter/date-range.js';
import type { Condition, FilterDataType, FilterValue, Scalar } from '../filter/filter.js';
import { readFilterValue, readHostFilterValue } from '../filter/value.js';
import { type Code, Refusal } from '../refusal.js';
import type { DashboardValues, FilterValues, GuestGrant, MetricValues } from './grant.js';
import { rlsConditions, rlsVariablesOf } from './rls-conditions.js';

/**
 * Filter values that a guest chose, by filter name. `isHost`: the host's own backend chose them, and may use SQL
 * values.
 */
export type Choices = {
  readonly dashboardFilter: FilterValues;
  readonly metricFilter: FilterValues;
  readonly isHost?: boolean | undefined;
};

/** Returns every value given under one of the names. Two spellings of one name give two conditions. */
const valuesFor = (values: FilterValues, names: readonly string[]): readonly FilterValue[] =>
  Object.entries(values)
    .filter(([key]) => names.some((name) => sameName(key, name)))
    .map(([, value]) => value);

/**
 * Returns the chosen values or else the default, and the function that reads them. Defaults come from the host; chosen
 * values come from the guest, unless `isHost` is set.
 */
const chosenValues = (
  { dashboardFilter, metricFilter, isHost }: Choices,
  where: 'dashboardFilter' | 'metricFilter',
  names: readonly string[],
  { defaultValue }: { readonly defaultValue?: FilterValue | undefined },
): { readonly values: readonly FilterValue[]; readonly read: typeof readFilterValue; readonly code: Code } => {
  const values = valuesFor(where === 'dashboardFilter' ? dashboardFilter : metricFilter, names);
  if (values.length > 0) {
    return { values, read: isHost === true ? readHostFilterValue : readFilterValue, code: 'INVALID_REQUEST_BODY' };
  }
  // The author's default is not part of the request: a guest gets no text about it.
  const defaults = defaultValue === undefined ? [] : [defaultValue];
  return { values: defaults, read: readHostFilterValue, code: 'METRIC_QUERY_ERROR' };
};

/** The part of a grant that restricts rows. */
export type Restrictions = Pick<
  GuestGrant,
  'rlsSettings' | 'appFilters' | 'dashboardAppFilters' | 'hideDashboardFilters'
>;

/** Restrictions for the host's own backend, which sends its filter values with the query. */
export const noRestrictions: Restrictions = {
  rlsSettings: [],
  appFilters: [],
  dashboardAppFilters: [],
  hideDashboardFilters: [],
};

type Named = { readonly what: string; readonly dataType: FilterDataType; readonly columns: readonly ColumnRef[] };

const conditionsOf = (
  named: Named,
  value: FilterValue,
  moment: Moment,
  code: Code,
  read = readHostFilterValue,
): readonly Condition[] => {
  const reading = read(named.dataType, value, moment);
  if ('expected' in reading)
    throw new Refusal(code, `${named.what} takes ${reading.expected}.`, { reason: 'filter-value' });
  const { columns } = named;
  const mapping = columns.length > 1 ? { mappedTo: columns } : {};
  return columns.map((column) => ({ column, predicate: reading.predicate, ...mapping }));
};

const metricFilterNames = (filter: MetricFilter): readonly string[] => [filter.name, filter.label];

const namedMetricFilter = (filter: MetricFilter): Named => ({
  what: `Filter "${filter.label}"`,
  dataType: filter.dataType,
  columns: [filter.column],
});

const namedDashboardFilter = (filter: DashboardFilter): Named => ({
  what: `Filter "${filter.name}"`,
  dataType: filter.dataType,
  columns: mappedColumns(filter),
});

const settingsFor = (settings: readonly MetricValues[], metric: Metric): readonly FilterValues[] =>
  settings.filter(({ metricId }) => isOrDescendsFrom(metric, metricId)).map(({ values }) => values);

const always = (condition: Condition): Condition => ({ ...condition, restriction: 'always' });
const ofToken = (condition: Condition): Condition => ({ ...condition, isOfToken: true });

/** Returns the filters with a fixed predicate that the metric's author defined. */
const authored = ({ filters }: MetricDefinition): readonly Condition[] =>
  filters.flatMap(({ column, predicate }) => (predicate === undefined ? [] : [{ column, predicate }]));

/** Returns the conditions of the metric's `where` that always apply: those that are not inside an `any`. */
const alwaysAsked = (tree: ConditionTree | undefined): readonly Condition[] => {
  if (tree === undefined || 'any' in tree) return [];
  return 'all' in tree ? tree.all.flatMap(alwaysAsked) : [tree];
};

/**
 * Returns the author's conditions. If a guest changed a metric of the host, they are marked like the token's
 * restrictions, so that rows which the author excluded stay hidden. Otherwise, across a join, one row could pass the
 * author's condition and an excluded row the guest's.
 */
const keptFromGuest = ({ guest, isChangedByGuest, definition }: Metric): readonly Condition[] => {
  const own = authored(definition);
  if (guest !== null || !isChangedByGuest) return own;
  return [...own, ...(definition.kind === 'visual' ? alwaysAsked(definition.where) : [])].map(always);
};

/** Returns those of the enforced conditions that the metric's author defined. */
export const authoredAmong = (conditions: readonly Condition[], definition: MetricDefinition): readonly Condition[] => {
  const asked = definition.kind === 'visual' ? alwaysAsked(definition.where) : [];
  return conditions.filter((condition) =>
    [...definition.filters, ...asked].some(({ predicate }) => predicate === condition.predicate),
  );
};

const appFilterConditions = (metric: Metric, settings: readonly FilterValues[], moment: Moment): readonly Condition[] =>
  settings.flatMap((values) =>
    Object.entries(values).flatMap(([key, value]) => {
      const filter = metric.definition.filters.find((candidate) =>
        metricFilterNames(candidate).some((name) => sameName(name, key)),
      );
      if (filter === undefined) {
        throw new Refusal(
          'APP_FILTER_PARAM_ERROR',
          `Metric "${metric.name}" has no filter of the name an appFilter gives.`,
          { reason: 'app-filter-unknown' },
        );
      }
      return conditionsOf(namedMetricFilter(filter), value, moment, 'APP_FILTER_PARAM_ERROR');
    }),
  );

const dashboardAppConditions = (
  dashboard: Dashboard,
  settings: readonly DashboardValues[],
  moment: Moment,
): readonly Condition[] =>
  settings
    .filter(({ dashboardId }) => isOrCopies(dashboard, dashboardId))
    .flatMap(({ values }) => Object.entries(values))
    .flatMap(([key, value]) => {
      const filter = dashboard.filters.find(({ name }) => sameName(name, key));
      if (filter === undefined) {
        throw new Refusal(
          'APP_FILTER_PARAM_ERROR',
          'A dashboardAppFilter of this token names a filter that the dashboard no longer has.',
          { reason: 'dashboard-app-filter-unknown' },
        );
      }
      return conditionsOf(namedDashboardFilter(filter), value, moment, 'APP_FILTER_PARAM_ERROR');
    });

const isHidden = ({ hideDashboardFilters }: Restrictions, name: string): boolean =>
  hideDashboardFilters.some((hidden) => sameName(hidden, name));

const withoutDefault = <T extends { readonly defaultValue?: FilterValue | undefined }>(filter: T): T => ({
  ...filter,
  defaultValue: undefined,
});

/**
 * Returns the dashboard's filters. spec-gap: a token's value for a filter replaces its default, since a default is not
 * a restriction.
 */
const withDefaults = (restrictions: Restrictions, dashboard: Dashboard): readonly DashboardFilter[] => {
  const given = restrictions.dashboardAppFilters.filter(({ dashboardId }) => isOrCopies(dashboard, dashboardId));
  return dashboard.filters.map((filter) =>
    given.some(({ values }) => valuesFor(values, [filter.name]).length > 0) ? withoutDefault(filter) : filter,
  );
};

/** Returns the defaults of filters that are hidden from the guest. They always apply. */
const hiddenDefaults = (restrictions: Restrictions, dashboard: Dashboard, moment: Moment): readonly Condition[] => {
  return withDefaults(restrictions, dashboard)
    .filter(({ name }) => isHidden(restrictions, name))
    .flatMap((filter) => {
      return filter.defaultValue === undefined
        ? []
        : conditionsOf(namedDashboardFilter(filter), filter.defaultValue, moment, 'APP_FILTER_PARAM_ERROR');
    });
};

/**
 * Returns what the token and the metric's author enforce, over all of `dashboards`. The token's conditions are marked
 * by `restriction`.
 */
export const enforcedConditions = (
  restrictions: Restrictions,
  dashboards: readonly Dashboard[],
  metric: Metric,
  moment: Moment,
): readonly Condition[] => [
  ...keptFromGuest(metric),
  ...[
    ...rlsConditions(metric, settingsFor(restrictions.rlsSettings, metric)),
    ...appFilterConditions(metric, settingsFor(restrictions.appFilters, metric), moment),
    ...dashboards.flatMap((dashboard) => dashboardAppConditions(dashboard, restrictions.dashboardAppFilters, moment)),
  ]
    .map(always)
    .map(ofToken),
  // Their values are the author's.
  ...dashboards.flatMap((dashboard) => hiddenDefaults(restrictions, dashboard, moment)).map(always),
];

/** Returns the values of the RLS variables in the metric's own SQL. Throws RLS_SETTINGS_PARAM_ERROR. */
export const enforcedVariables = (
  { rlsSettings }: Pick<Restrictions, 'rlsSettings'>,
  metric: Metric,
): ReadonlyMap<string, readonly Scalar[]> => rlsVariablesOf(metric, settingsFor(rlsSettings, metric));

/** Returns the dashboard filters that a guest sees and may set. */
export const visibleFilters = (restrictions: Restrictions, dashboard: Dashboard): readonly DashboardFilter[] =>
  withDefaults(restrictions, dashboard)
    .filter(({ name, shownOn }) => !isHidden(restrictions, name) && shownOn?.length !== 0)
    .map((filter) => (filter.shownOn === undefined ? filter : { ...filter, applyOnTables: filter.shownOn }));

/** Returns the metric's own filters that take a value. A filter for which the token gives a value has no default. */
export const openMetricFilters = (restrictions: Restrictions, metric: Metric): readonly MetricFilter[] => {
  const given = settingsFor(restrictions.appFilters, metric);
  return metric.definition.filters
    .filter(({ predicate, isClosed }) => predicate === undefined && isClosed !== true)
    .map((filter) =>
      given.some((values) => valuesFor(values, metricFilterNames(filter)).length > 0) ? withoutDefault(filter) : filter,
    );
};

const assertKnown = (values: FilterValues, known: readonly string[], where: string): void => {
  const unknown = Object.keys(values).filter((key) => !known.some((name) => sameName(name, key)));
  if (unknown.length > 0) {
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      `${where}: no filter ${unknown.map((name) => JSON.stringify(name)).join(', ')}; there is ${known.length === 0 ? 'none' : known.map((name) => JSON.stringify(name)).join(', ')}.`,
      { reason: 'filter-unknown' },
    );
  }
};

/**
 * Returns conditions for the values that the guest chose, or for the filters' defaults. Throws INVALID_REQUEST_BODY if
 * a name is not a filter that the guest may set, or a value does not fit; and METRIC_QUERY_ERROR if a default does not.
 */
export const chosenConditions = (
  restrictions: Restrictions,
  dashboard: Dashboard | null,
  metric: Metric,
  choices: Choices,
  moment: Moment,
): readonly Condition[] => {
  const dashboardFilters = dashboard === null ? [] : visibleFilters(restrictions, dashboard);
  const metricFilters = openMetricFilters(restrictions, metric);
  assertKnown(
    choices.dashboardFilter,
    dashboardFilters.map(({ name }) => name),
    'dashboardFilter',
  );
  assertKnown(choices.metricFilter, metricFilters.flatMap(metricFilterNames), 'metricFilter');
  return [
    ...dashboardFilters.map((filter) => ({
      named: namedDashboardFilter(filter),
      ...chosenValues(choices, 'dashboardFilter', [filter.name], filter),
    })),
    ...metricFilters.map((filter) => ({
      named: namedMetricFilter(filter),
      ...chosenValues(choices, 'metricFilter', metricFilterNames(filter), filter),
    })),
  ].flatMap(({ named, values, read, code }) =>
    values.flatMap((value) => conditionsOf(named, value, moment, code, read)),
  );
};
