/**
 * Filter choices that a guest saved under a name. They are never restrictions: a view can only narrow what its reader
 * may see.
 */

import { type Dashboard, sameName } from '../dashboard/dashboard.js';
import type { Metric } from '../dashboard/metric.js';
import { hasColumnRules } from '../datamart/column-rules.js';
import type { Moment } from '../filter/date-range.js';
import type { FilterDataType } from '../filter/filter.js';
import { readFilterValue } from '../filter/value.js';
import { openMetricFilters, visibleFilters } from './conditions.js';
import type { FilterValues, GuestGrant } from './grant.js';

export type ViewChoices = {
  /** Values by the name of a dashboard filter. */
  readonly dashboardFilter: FilterValues;
  /** Values by metric id, then by the name of a filter of that metric. */
  readonly metricFilter: Readonly<Record<string, FilterValues>>;
  /** The viewer's own names for the dashboard's filters. */
  readonly filterNames: Readonly<Record<string, string>>;
};

export type SavedView = ViewChoices & {
  readonly id: string;
  readonly name: string;
  /** Whether all users of the client see the view. */
  readonly isShared: boolean;
  /** Whether the dashboard opens with the view: for its viewer, or, if it is shared, for users without a default. */
  readonly isDefault: boolean;
};

/** The digest of `rowRestrictions` of the token that chose the values. Left out: it is not known. */
export type SavedUnder = { readonly savedUnder?: string | undefined };

/** A view as it is stored for one guest. */
export type StoredView = ListedView & SavedUnder;

/** A view as one guest sees it. `isOwn`: whether this guest saved it. */
export type ListedView = SavedView & { readonly isOwn: boolean };

/** The view that a dashboard opens with: the guest's own default, else the shared one. */
export const defaultAmong = <View extends ListedView>(views: readonly View[]): View | undefined => {
  const defaults = views.filter(({ isDefault }) => isDefault);
  return defaults.find(({ isShared }) => !isShared) ?? defaults[0];
};

/** A filter that the guest sees, with all its names. The first name is the one that is stored. */
type Visible = { readonly names: readonly string[]; readonly dataType: FilterDataType };

const onDashboard = (grant: GuestGrant, dashboard: Dashboard): readonly Visible[] =>
  visibleFilters(grant, dashboard).map(({ name, dataType }) => ({ names: [name], dataType }));

const onMetric = (grant: GuestGrant, metric: Metric): readonly Visible[] =>
  openMetricFilters(grant, metric).map(({ label, name, dataType }) => ({ names: [label, name], dataType }));

const findVisible = (filters: readonly Visible[], key: string): Visible | undefined =>
  filters.find(({ names }) => names.some((name) => sameName(name, key)));

const quote = (text: string): string => JSON.stringify(text);

const valueFaults = (
  where: string,
  values: FilterValues,
  filters: readonly Visible[],
  moment: Moment,
): readonly string[] => {
  const seen = new Set<Visible>();
  return Object.entries(values).flatMap(([key, value]) => {
    const filter = findVisible(filters, key);
    if (filter === undefined) return [`${where}[${quote(key)}]: there is no such filter`];
    if (seen.has(filter)) return [`${where}[${quote(key)}]: the filter occurs twice`];
    seen.add(filter);
    const reading = readFilterValue(filter.dataType, value, moment);
    return 'expected' in reading ? [`${where}[${quote(key)}]: takes ${reading.expected}`] : [];
  });
};

const nameFaults = (filterNames: ViewChoices['filterNames'], filters: readonly Visible[]): readonly string[] => {
  const entries = Object.entries(filterNames);
  const renamed = filters.map(({ names }) => {
    const entry = entries.find(([key]) => names.some((name) => sameName(name, key)));
    return entry?.[1] ?? names[0] ?? '';
  });
  return entries.flatMap(([key, name], index) => {
    if (findVisible(filters, key) === undefined) return [`filterNames[${quote(key)}]: there is no such filter`];
    if (entries.slice(0, index).some(([other]) => sameName(other, key)))
      return [`filterNames[${quote(key)}]: the filter occurs twice`];
    const bearers = renamed.filter((other) => sameName(other, name)).length;
    return bearers > 1 ? [`filterNames[${quote(key)}]: two filters would be named ${quote(name)}`] : [];
  });
};

/**
 * Returns all faults of the choices for this guest. A hidden filter is reported as missing. `metrics` are those that
 * the guest may open.
 */
export const viewFaults = (
  grant: GuestGrant,
  dashboard: Dashboard,
  metrics: readonly Metric[],
  choices: ViewChoices,
  moment: Moment,
): readonly string[] => {
  const filters = onDashboard(grant, dashboard);
  return [
    ...valueFaults('dashboardFilter', choices.dashboardFilter, filters, moment),
    ...Object.entries(choices.metricFilter).flatMap(([metricId, values]) => {
      const metric = metrics.find((candidate) => candidate.metricId === metricId);
      const where = `metricFilter[${quote(metricId)}]`;
      return metric === undefined
        ? [`${where}: there is no such metric on this dashboard`]
        : valueFaults(where, values, onMetric(grant, metric), moment);
    }),
    ...nameFaults(choices.filterNames, filters),
  ];
};

/** Values for a host, who sees every filter: under the filters' own spelling, or what is wrong with them. */
export const readDashboardFilter = (
  dashboard: Pick<Dashboard, 'filters'>,
  values: FilterValues,
  moment: Moment,
): { readonly dashboardFilter: FilterValues } | { readonly faults: readonly string[] } => {
  const filters = dashboard.filters.map(({ name, dataType }) => ({ names: [name], dataType }));
  const faults = valueFaults('dashboardFilter', values, filters, moment);
  return faults.length > 0 ? { faults } : { dashboardFilter: kept(values, filters) };
};

/** Returns only the values of filters that the guest sees, under the filters' own spelling. */
const kept = <Value>(
  values: Readonly<Record<string, Value>>,
  filters: readonly Visible[],
): Readonly<Record<string, Value>> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => {
      const name = findVisible(filters, key)?.names[0];
      return name === undefined ? [] : [[name, value]];
    }),
  );

const datesOf = (values: FilterValues, filters: readonly Visible[]): FilterValues =>
  Object.fromEntries(Object.entries(values).filter(([key]) => findVisible(filters, key)?.dataType === 'date'));

/** Whether the token may see all rows of its client, and all their values. The default of a hidden filter always applies. */
export const isUnrestricted = ({
  rlsSettings,
  appFilters,
  dashboardAppFilters,
  hideDashboardFilters,
  columnRules,
}: GuestGrant): boolean =>
  !hasColumnRules(columnRules) &&
  [rlsSettings, appFilters, dashboardAppFilters, hideDashboardFilters].every(({ length }) => length === 0);

/** What restricts the rows of a token: tokens of one client with equal parts see the same rows. */
export const rowRestrictions = (grant: GuestGrant) => {
  const { datamartId, datasourceId, rlsSettings, appFilters, dashboardAppFilters, hideDashboardFilters } = grant;
  const { columnRules } = grant;
  return {
    ...{ datamartId, datasourceId, rlsSettings, appFilters, dashboardAppFilters, hideDashboardFilters },
    // Left out where there are none: digests of earlier releases stay the same.
    ...(hasColumnRules(columnRules) ? { columnRules } : {}),
  };
};

/** Whether this very user chose the values. Tokens that name no user have views in common. */
const isOfUser = ({ userIdentifier }: GuestGrant, { isOwn }: StoredView): boolean => isOwn && userIdentifier !== null;

/**
 * Returns what the guest may see of a view. If a token that sees other rows chose its values, they may be values that only
 * those rows have: unless this user chose them, only the dates are returned. `under`: the digest of the guest's own row
 * restrictions.
 */
export const readableChoices = (
  grant: GuestGrant,
  dashboard: Dashboard,
  metrics: readonly Metric[],
  view: StoredView,
  under: string,
): ViewChoices => {
  const visible = visibleChoices(grant, dashboard, metrics, view);
  if (isOfUser(grant, view) || isUnrestricted(grant) || view.savedUnder === under) return visible;
  const { dashboardFilter, metricFilter, filterNames } = visible;
  return {
    filterNames,
    dashboardFilter: datesOf(dashboardFilter, onDashboard(grant, dashboard)),
    metricFilter: Object.fromEntries(
      Object.entries(metricFilter).map(([metricId, values]) => {
        const metric = metrics.find((candidate) => candidate.metricId === metricId);
        return [metricId, metric === undefined ? {} : datesOf(values, onMetric(grant, metric))];
      }),
    ),
  };
};

/** Returns the choices without hidden or deleted filters and metrics. */
export const visibleChoices = (
  grant: GuestGrant,
  dashboard: Dashboard,
  metrics: readonly Metric[],
  choices: ViewChoices,
): ViewChoices => {
  const filters = onDashboard(grant, dashboard);
  return {
    dashboardFilter: kept(choices.dashboardFilter, filters),
    metricFilter: Object.fromEntries(
      Object.entries(choices.metricFilter).flatMap(([metricId, values]) => {
        const metric = metrics.find((candidate) => candidate.metricId === metricId);
        return metric === undefined ? [] : [[metricId, kept(values, onMetric(grant, metric))]];
      }),
    ),
    filterNames: kept(choices.filterNames, filters),
  };
};
