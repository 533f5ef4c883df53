/** Alerts on one metric of a dashboard: whether a guest may make one, and by which right and rule a check is made. */
import { canonicalJson } from '../../model/canonical-json.js';
import type { Dashboard } from '../../model/dashboard/dashboard.js';
import { currencyDimension } from '../../model/dashboard/measure-currency.js';
import type { Metric, MetricDefinition } from '../../model/dashboard/metric.js';
import { kindOfMeasure } from '../../model/dashboard/type-faults.js';
import type { Datamart } from '../../model/datamart/datamart.js';
import type { DatatypeKind } from '../../model/datamart/datatypes.js';
import { periods } from '../../model/filter/period.js';
import { notOpen } from '../../model/guest/access.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import type { GuestChart } from '../../model/guest/view.js';
import type { Tag } from '../../model/ports.js';
import { measureNumbers } from '../../model/query/numbers.js';
import { Refusal } from '../../model/refusal.js';
import { type Alert, type AlertShape, alertFault, type CellDates, isQuiet } from '../../model/schedule/alert.js';
import type { OpenAlert } from '../../model/schedule/open-report.js';
import { type Calendar, nextMoment, type Recurrence, timePattern } from '../../model/schedule/recurrence.js';
import type { AlertStatus, Schedule } from '../../model/schedule/schedule.js';
import { findSource, type Opened, openMetricsOf, type Source } from '../embeds/lookup.js';
import { findScopedDatamart, unscoped } from '../embeds/source.js';
import { restrictionsOf } from '../guest/answer-tag.js';
import { viewChart } from '../guest/reads.js';
import type { Store } from '../store/store.js';

type Deps = { readonly store: Store; readonly tag: Tag };

const isPeriod = (grain: string | undefined): boolean => periods.some((period) => period === grain);

const shapeOf = (
  { dimensions, grains = {}, comparison }: GuestChart,
  { measure }: Alert,
  definition: MetricDefinition,
  datamart: Datamart | undefined,
): AlertShape => ({
  dimensions,
  chronological: dimensions.find((name) => isPeriod(grains[name])) ?? null,
  hasComparison: comparison !== undefined,
  currency: datamart && currencyDimension(definition, measure, datamart),
});

const datesOf = ({ dimensions, grains = {}, dates = [] }: GuestChart): readonly CellDates[] =>
  dimensions.map((dimension) => {
    const { style, precision } = dates.find(({ name }) => name === dimension) ?? {};
    return { grain: grains[dimension], style, precision };
  });

/** Everything but the metric that decides which rows are read: the token's restrictions, and whose rows are whose. */
const rightOf = async ({ tag }: Deps, grant: GuestGrant, source: Source | undefined): Promise<string> => {
  const { id, tenancy, tables, relationships, sharedTables } = source?.datamart ?? {};
  const rows = { id, tenancy, tables, relationships, sharedTables, joinModel: source?.joinModel };
  return tag(['alert-right', restrictionsOf(grant), canonicalJson({ ...rows, datasource: source?.datasource.id })]);
};

/** Throws UNAUTHORIZED unless the guest may read the metric on this dashboard. `isOfAlert`: whether it is the alert's. */
export const openAlert = async (
  deps: Deps,
  grant: GuestGrant,
  opened: Opened,
  alert: Alert,
  isOfAlert = ({ metricId }: Metric): boolean => metricId === alert.metricId,
): Promise<OpenAlert> => {
  const metrics = await openMetricsOf(deps.store, grant, opened);
  const metric = metrics.find(isOfAlert);
  if (metric === undefined) throw notOpen('metric-not-on-dashboard');
  const { metricId, name, definition } = metric;
  const chart = viewChart(definition);
  const source = await findSource(deps.store, opened, grant);
  const { quietHours: _, ...rule } = alert;
  return {
    metricId,
    metricName: name,
    measures: chart.measures,
    shape: shapeOf(chart, alert, definition, source?.datamart),
    dates: datesOf(chart),
    numbers: measureNumbers(chart, alert.measure),
    kind: source && kindOfMeasure(definition, alert.measure, source.datamart),
    right: await rightOf(deps, grant, source),
    rule: await deps.tag(['alert-rule', canonicalJson({ rule, definition, filters: opened.dashboard.filters })]),
  };
};

/** Enough moments of a schedule to meet each time of day that it has. */
const manyMoments = 50;

const isAlwaysQuiet = ({ quietHours }: Alert, recurrence: Recurrence, calendar: Calendar, now: Date): boolean => {
  let at: Date | null = now;
  for (let count = 0; quietHours !== null && count < manyMoments; count += 1) {
    at = nextMoment(recurrence, calendar, at);
    if (at === null) return count > 0;
    if (!isQuiet(quietHours, recurrence.timezone, at)) return false;
  }
  return quietHours !== null;
};

const refuse = (fault: string): never => {
  throw new Refusal('INVALID_REQUEST_BODY', `alert.${fault}`, { reason: 'alert-invalid' });
};

type When = { readonly recurrence: Recurrence; readonly calendar: Calendar; readonly now: Date };

/** Throws INVALID_REQUEST_BODY for an alert that could tell nothing, and UNAUTHORIZED for a metric that is not open. */
export const assertAlert = async (
  deps: Deps,
  grant: GuestGrant,
  opened: Opened,
  alert: Alert,
  when: When,
): Promise<void> => assertCanTell(alert, await openAlert(deps, grant, opened, alert), when);

/** The datamart of a template. Undefined where the tokens choose it. */
export const findTemplateDatamart = async (
  store: Store,
  { workspaceId }: Pick<Dashboard, 'workspaceId'>,
): Promise<Datamart | undefined> => {
  const workspace = await store.workspaces.findById(workspaceId);
  return workspace && findScopedDatamart(store, workspace, unscoped);
};

/**
 * As `assertAlert`, for the host: of a metric of a template. Each tenant's own metric is looked at by each check.
 * `datamart`: undefined where the tokens choose it.
 */
export const assertHostAlert = (
  alert: Alert,
  { definition }: Pick<Metric, 'definition'>,
  datamart: Datamart | undefined,
  when: When,
): void => {
  const chart = viewChart(definition);
  const kind = datamart && kindOfMeasure(definition, alert.measure, datamart);
  const shape = shapeOf(chart, alert, definition, datamart);
  assertCanTell(alert, { measures: chart.measures, shape, kind }, when);
};

const isOfNumbers = (kind: DatatypeKind | undefined): boolean =>
  kind === undefined || kind === 'integer' || kind === 'number';

const assertCanTell = (
  alert: Alert,
  { measures, shape, kind }: Pick<OpenAlert, 'measures' | 'shape' | 'kind'>,
  when: When,
): void => {
  const { quietHours } = alert;
  if (quietHours !== null && ![quietHours.from, quietHours.to].every((time) => timePattern.test(time))) {
    refuse('quietHours: expected times of day such as "22:00".');
  }
  const fault = alertFault(alert, measures, shape);
  if (fault !== undefined) refuse(fault);
  if (alert.condition.is !== 'newKey' && !isOfNumbers(kind)) {
    refuse(
      `measure: an alert compares numbers, and ${JSON.stringify(alert.measure)} has none: choose another measure.`,
    );
  }
  if (isAlwaysQuiet(alert, when.recurrence, when.calendar, when.now)) {
    refuse('quietHours: every moment of the recurrence is within them, so nothing would ever be told.');
  }
};

/** Null: no check was made by the right that the guest has now. A check by an earlier right tells about other rows. */
export const alertStatus = async (
  deps: Deps,
  grant: GuestGrant,
  opened: Opened,
  { alert, alertState }: Schedule,
): Promise<AlertStatus | null> => {
  if (alert === null || alertState === null) return null;
  try {
    const { right, rule } = await openAlert(deps, grant, opened, alert);
    const { isBreached, since } = alertState;
    return alertState.right === right && alertState.rule === rule ? { isBreached, since } : null;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'UNAUTHORIZED') return null;
    throw error;
  }
};
