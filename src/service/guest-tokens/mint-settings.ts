/**
 * Checks each setting of a guest token against what it names. A name that matches nothing is refused, since it would
 * restrict nothing.
 */
import { sameName } from '../../model/dashboard/dashboard.js';
import { isOrDescendsFrom, type Metric, type MetricFilter } from '../../model/dashboard/metric.js';
import { hasColumnRules, ruleName } from '../../model/datamart/column-rules.js';
import type { DatamartColumn } from '../../model/datamart/datamart.js';
import { columnKind } from '../../model/datamart/datatypes.js';
import { readMask, suitsKind } from '../../model/datamart/masks.js';
import type { Moment } from '../../model/filter/date-range.js';
import { isUnsafeNumber, safeAsText } from '../../model/filter/exact-number.js';
import type { FilterValue } from '../../model/filter/filter.js';
import { readHostFilterValue } from '../../model/filter/value.js';
import type { DashboardValues, GuestGrant, MetricValues } from '../../model/guest/grant.js';
import { isRecord } from '../../model/is-record.js';
import { type Code, Refusal } from '../../model/refusal.js';
import { metricsFor } from '../embeds/lookup.js';
import type { NamedSource } from '../embeds/source.js';
import { findOpenDashboard, findOpenMetric, isGuestMade, type MintScope, oneByOne } from './mint-scope.js';

const quote = (name: string): string => JSON.stringify(name);

/** The parts of a value that are numbers, by their path. */
const numbersIn = (value: unknown, path: string): readonly (readonly [path: string, value: unknown])[] => {
  if (Array.isArray(value)) return value.flatMap((item, index) => numbersIn(item, `${path}[${index}]`));
  if (!isRecord(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, part]) => numbersIn(part, `${path}.${name}`));
};

type Settings = Pick<GuestGrant, 'rlsSettings' | 'appFilters' | 'dashboardAppFilters'>;

const codes = {
  rlsSettings: 'RLS_SETTINGS_PARAM_ERROR',
  appFilters: 'APP_FILTER_PARAM_ERROR',
  dashboardAppFilters: 'APP_FILTER_PARAM_ERROR',
} as const satisfies Record<keyof Settings, Code>;

/**
 * Throws for a number that JSON may have rounded, with its place: the token would restrict to another value than the
 * host meant. Holds for each filter and variable, whatever it is compared with.
 */
export const assertExactNumbers = (settings: Settings): void => {
  for (const field of ['rlsSettings', 'appFilters', 'dashboardAppFilters'] as const) {
    for (const [index, { values }] of settings[field].entries()) {
      const unsafe = Object.entries(values)
        .flatMap(([name, value]) => numbersIn(value, `params.${field}[${index}].values[${quote(name)}]`))
        .find(([, value]) => isUnsafeNumber(value));
      if (unsafe !== undefined)
        throw new Refusal(codes[field], `${unsafe[0]}: ${safeAsText}.`, { reason: 'number-unsafe' });
    }
  }
};

const isNamed = (filter: MetricFilter, key: string): boolean =>
  sameName(filter.name, key) || sameName(filter.label, key);

const assertFits = (what: string, dataType: MetricFilter['dataType'], value: FilterValue, moment: Moment): void => {
  const reading = readHostFilterValue(dataType, value, moment);
  if ('expected' in reading) throw new Refusal('APP_FILTER_PARAM_ERROR', `${what} takes ${reading.expected}.`);
};

const checkMetricFilters = (metric: Metric, { values }: MetricValues, moment: Moment): void => {
  for (const [key, value] of Object.entries(values)) {
    const filter = metric.definition.filters.find((candidate) => isNamed(candidate, key));
    if (filter === undefined) {
      throw new Refusal(
        'APP_FILTER_PARAM_ERROR',
        `params.appFilters: metric ${quote(metric.metricId)} has no filter ${quote(key)}.`,
      );
    }
    assertFits(
      `params.appFilters: filter ${quote(key)} of metric ${quote(metric.metricId)}`,
      filter.dataType,
      value,
      moment,
    );
  }
};

/** Throws APP_FILTER_PARAM_ERROR for an unknown metric or filter, or a value that does not fit. */
export const checkAppFilters = async (
  scope: MintScope,
  settings: readonly MetricValues[],
  moment: Moment,
): Promise<void> => {
  for (const setting of settings) {
    const metric = await findOpenMetric(scope, setting.metricId);
    if (metric === undefined && (await isGuestMade(scope, setting.metricId))) continue;
    if (metric === undefined) {
      throw new Refusal('APP_FILTER_PARAM_ERROR', `Invalid metric Id: ${setting.metricId} in appFilters`);
    }
    checkMetricFilters(metric, setting, moment);
  }
};

const isPlain = (value: FilterValue): boolean =>
  typeof value !== 'object' || (Array.isArray(value) && value.length > 0);

const checkVariables = (metric: Metric, { values }: MetricValues): void => {
  const declared = metric.definition.rlsVariables;
  for (const [key, value] of Object.entries(values)) {
    if (!declared.some(({ name }) => name === key)) {
      throw new Refusal(
        'RLS_SETTINGS_PARAM_ERROR',
        `params.rlsSettings: metric ${quote(metric.metricId)} declares no variable ${quote(key)}.`,
      );
    }
    if (!isPlain(value)) {
      throw new Refusal(
        'RLS_SETTINGS_PARAM_ERROR',
        `params.rlsSettings: variable ${quote(key)} takes a plain value or an array of at least one.`,
      );
    }
  }
};

/**
 * Throws RLS_SETTINGS_PARAM_ERROR if a required variable has no value in any of the settings that apply to the metric.
 */
const checkComplete = (metric: Metric, settings: readonly MetricValues[]): void => {
  const given = settings
    .filter(({ metricId }) => isOrDescendsFrom(metric, metricId))
    .flatMap(({ values }) => Object.keys(values));
  const missing = metric.definition.rlsVariables.filter(({ name, isOptional }) => !isOptional && !given.includes(name));
  if (missing.length > 0) {
    throw new Refusal(
      'RLS_SETTINGS_PARAM_ERROR',
      `params.rlsSettings: metric ${quote(metric.metricId)} needs a value for ${missing.map(({ name }) => quote(name)).join(', ')}.`,
    );
  }
};

/** Throws RLS_SETTINGS_PARAM_ERROR for an unknown metric or variable, or a declared variable without a value. */
export const checkRlsSettings = async (scope: MintScope, settings: readonly MetricValues[]): Promise<void> => {
  for (const setting of settings) {
    const metric = await findOpenMetric(scope, setting.metricId);
    if (metric === undefined && (await isGuestMade(scope, setting.metricId))) continue;
    if (metric === undefined) {
      throw new Refusal('RLS_SETTINGS_PARAM_ERROR', `Invalid metric Id: ${setting.metricId} in rlsSettings`);
    }
    checkVariables(metric, setting);
    checkComplete(metric, settings);
  }
};

const resolveDashboardFilter = async (
  scope: MintScope,
  setting: DashboardValues,
  moment: Moment,
): Promise<DashboardValues> => {
  const dashboard = await findOpenDashboard(scope, setting.dashboardId);
  if (dashboard === undefined) {
    throw new Refusal('APP_FILTER_PARAM_ERROR', `Invalid dashboard Id: ${setting.dashboardId} in dashboard appFilter`);
  }
  for (const [key, value] of Object.entries(setting.values)) {
    const filter = dashboard.filters.find(({ name }) => sameName(name, key));
    if (filter === undefined) {
      throw new Refusal(
        'APP_FILTER_PARAM_ERROR',
        `params.dashboardAppFilters: dashboard ${quote(setting.dashboardId)} has no filter ${quote(key)}.`,
      );
    }
    assertFits(
      `params.dashboardAppFilters: filter ${quote(key)} of dashboard ${quote(setting.dashboardId)}`,
      filter.dataType,
      value,
      moment,
    );
  }
  return { ...setting, dashboardId: dashboard.id };
};

/**
 * Returns the settings with internal dashboard ids. Throws APP_FILTER_PARAM_ERROR for an unknown dashboard or filter,
 * or a value that does not fit.
 */
export const resolveDashboardFilters = (
  scope: MintScope,
  settings: readonly DashboardValues[],
  moment: Moment,
): Promise<readonly DashboardValues[]> =>
  oneByOne(settings, (setting) => resolveDashboardFilter(scope, setting, moment));

const resolveHidden = async (
  scope: MintScope,
  { dashboardId, metricIds }: GuestGrant['hideDashboardMetrics'][number],
): Promise<GuestGrant['hideDashboardMetrics'][number]> => {
  const dashboard = await findOpenDashboard(scope, dashboardId);
  if (dashboard === undefined) {
    throw new Refusal(
      'DASHBOARD_PARAM_ERROR',
      `params.hideDashboardMetrics: there is no dashboard ${quote(dashboardId)} for this client.`,
    );
  }
  const placed = await metricsFor(scope.store, dashboard, scope);
  const absent = metricIds.filter(
    (id) => !placed.some((metric) => metric.metricId === id || metric.lineage.includes(id)),
  );
  if (absent.length > 0) {
    throw new Refusal(
      'DASHBOARD_PARAM_ERROR',
      `params.hideDashboardMetrics: dashboard ${quote(dashboardId)} has no metric ${absent.map(quote).join(', ')}.`,
    );
  }
  return { dashboardId: dashboard.id, metricIds };
};

/**
 * Returns the settings with internal dashboard ids. Throws DASHBOARD_PARAM_ERROR for an unknown dashboard or metric.
 */
export const resolveHiddenMetrics = (
  scope: MintScope,
  settings: GuestGrant['hideDashboardMetrics'],
): Promise<GuestGrant['hideDashboardMetrics']> => oneByOne(settings, (setting) => resolveHidden(scope, setting));

/**
 * Throws DASHBOARD_PARAM_ERROR for a name that no allowed dashboard has. Without a list of embeds, names are not
 * checked.
 */
export const checkHiddenFilters = ({ allowed }: MintScope, names: readonly string[]): void => {
  if (allowed === null) return;
  const filters = allowed.flatMap(({ dashboard }) => dashboard.filters);
  const unknown = names.filter((name) => !filters.some((filter) => sameName(filter.name, name)));
  if (unknown.length > 0) {
    throw new Refusal(
      'DASHBOARD_PARAM_ERROR',
      `params.hideDashboardFilters: no allowed dashboard has a filter ${unknown.map(quote).join(', ')}.`,
    );
  }
};

type NamedColumn = { readonly name: string; readonly column: DatamartColumn };

/** Returns the columns that the rules name, of the source that the token names, or else of all datamarts. */
const namedColumns = async (
  { store }: Pick<MintScope, 'store'>,
  { datamartId, datasourceId }: NamedSource,
  isNamed: (name: string) => boolean,
): Promise<readonly NamedColumn[]> => {
  const found: NamedColumn[] = [];
  for await (const slice of store.datamarts.list(null)) {
    const read = slice.filter(
      ({ datamart }) =>
        (datamartId === null || datamart.id === datamartId) &&
        (datasourceId === null || datamart.datasourceId === datasourceId),
    );
    for (const table of read.flatMap(({ datamart }) => datamart.tables)) {
      const named = table.columns.map((column) => ({ name: ruleName({ ...table, ...column }), column }));
      found.push(...named.filter(({ name }) => isNamed(name)));
    }
  }
  return found;
};

/**
 * Returns the rules. Throws INVALID_REQUEST_BODY for a column that the token's source lacks, where a rule would hide
 * nothing, or that no datamart has if the token names no source, and for a mask that does not suit the
 * values of its column.
 */
export const checkColumnRules = async (
  scope: Pick<MintScope, 'store'>,
  sources: NamedSource,
  rules: GuestGrant['columnRules'],
): Promise<GuestGrant['columnRules']> => {
  const { hideColumns, maskColumns } = rules;
  if (!hasColumnRules(rules)) return rules;
  const wanted = new Set([...hideColumns, ...Object.keys(maskColumns)]);
  const found = await namedColumns(scope, sources, (name) => wanted.has(name));
  const unknown = (names: readonly string[], field: string): void => {
    const missing = names.filter((name) => !found.some((one) => one.name === name));
    if (missing.length === 0) return;
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      `params.${field}: no datamart that the token may read has a column ${missing.map(quote).join(', ')}; write it as schema.table.column, and case counts.`,
      { reason: 'column-rule-unknown' },
    );
  };
  unknown(hideColumns, 'hideColumns');
  unknown(Object.keys(maskColumns), 'maskColumns');
  for (const { name, column } of found) {
    const text = Object.hasOwn(maskColumns, name) ? maskColumns[name] : undefined;
    if (text === undefined || hideColumns.includes(name)) continue;
    const mask = readMask(text);
    const isPlain = column.isCustomColumn !== true;
    if (mask !== undefined && isPlain && suitsKind(mask, columnKind(column))) continue;
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      `params.maskColumns: ${text} does not suit column ${quote(name)}${isPlain ? `, which holds ${columnKind(column) ?? 'other'} values` : ', which is computed: mask what it reads, or hide it'}.`,
      { reason: 'mask-unsuited' },
    );
  }
  return rules;
};
