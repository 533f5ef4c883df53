/** Dashboards and metrics as files that the server draws. The drawing reads with the guest's own token. */
import { sameName } from '../../model/dashboard/dashboard.js';
import type { Metric } from '../../model/dashboard/metric.js';
import type { Moment } from '../../model/filter/date-range.js';
import type { FilterValue } from '../../model/filter/filter.js';
import { readFilterValue } from '../../model/filter/value.js';
import { notOpen } from '../../model/guest/access.js';
import type { GuestCaller, LiveGrant } from '../../model/guest/caller.js';
import { visibleFilters } from '../../model/guest/conditions.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import type { RenderChoices, Renderer, RenderFormat, RenderRequest } from '../../model/guest/render.js';
import type { GuestQuery } from '../../model/guest/view.js';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { findSource, type Opened, openMetricsOf } from '../embeds/lookup.js';
import type { Store } from '../store/store.js';
import { assertPermitted, assertStillGood, marksFor, openDashboard, openMetric } from './scope.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly renderer: Renderer };

type Drawn = Pick<RenderRequest, 'caller' | 'target' | 'format' | 'language'>;

const drawFor = (deps: Deps, drawn: Drawn, signal: AbortSignal) =>
  deps.renderer.render({ ...drawn, assertStillGood: () => assertStillGood(deps, drawn.caller) }, signal);

const refuse = (message: string): never => {
  throw new Refusal('INVALID_REQUEST_BODY', message, { reason: 'drawn-choices' });
};

/** Returns the values by the filters' own names. Throws INVALID_REQUEST_BODY for what the drawing could not hold. */
const drawnFilters = (
  grant: GuestGrant,
  { dashboard }: Opened,
  values: GuestQuery['dashboardFilter'] = {},
  moment: Moment,
): Readonly<Record<string, FilterValue>> => {
  const visible = visibleFilters(grant, dashboard);
  const entries = Object.entries(values).map(([key, value]) => {
    const filter = visible.find(({ name }) => sameName(name, key));
    if (filter === undefined) return refuse(`dashboardFilter: the dashboard has no filter ${JSON.stringify(key)}.`);
    const reading = readFilterValue(filter.dataType, value, moment);
    if ('expected' in reading) return refuse(`dashboardFilter: ${JSON.stringify(key)} takes ${reading.expected}.`);
    return [filter.name, value] as const;
  });
  if (new Set(entries.map(([name]) => name)).size < entries.length) refuse('dashboardFilter: a filter occurs twice.');
  return Object.fromEntries(entries);
};

/**
 * Returns the choices as the elements take them. The elements leave out what they do not know, so a choice that does
 * not fit is refused here: a file must not show more than was asked for.
 */
const drawnChoices = async (
  { store, clock }: Deps,
  grant: LiveGrant,
  opened: Opened,
  { dashboardFilter, crossFilter = [] }: RenderChoices,
  only?: Metric,
): Promise<RenderChoices> => {
  const content = store.contentAt(grant.revision);
  const filters = drawnFilters(grant, opened, dashboardFilter, { now: clock.now(), timezone: grant.timezone });
  if (crossFilter.length === 0) return { dashboardFilter: filters, crossFilter };
  const metric = only ?? (await openMetricsOf(content, grant, opened))[0];
  if (metric === undefined) throw notOpen('metric-not-on-dashboard');
  const source = await findSource(content, opened, grant);
  const held = await marksFor(content, grant, { opened, metric }, source?.datamart, { crossFilter });
  // One card alone states only the marks that filter it.
  return { dashboardFilter: filters, crossFilter: only === undefined ? crossFilter : held.map(({ filter }) => filter) };
};

type DashboardPage = RenderChoices & Pick<GuestQuery, 'language'> & { readonly dashboardId: string };

const renderDashboard =
  (format: RenderFormat) =>
  (deps: Deps) =>
  async (caller: GuestCaller, asked: DashboardPage, signal: AbortSignal): Promise<Uint8Array> => {
    const { grant } = caller;
    const { dashboardId } = asked;
    const opened = await openDashboard(deps.store.contentAt(grant.revision), grant, dashboardId);
    assertPermitted(grant, opened, 'isEnableDownloadMetrics');
    const target = { dashboardId, ...(await drawnChoices(deps, grant, opened, asked)) };
    return drawFor(deps, { caller, target, format, language: asked.language }, signal);
  };

type MetricPage = Pick<GuestQuery, 'metricId' | 'dashboardId' | 'language'> & RenderChoices;

const renderMetric =
  (format: RenderFormat) =>
  (deps: Deps) =>
  async (caller: GuestCaller, asked: MetricPage, signal: AbortSignal): Promise<Uint8Array> => {
    const { grant } = caller;
    const { metricId, dashboardId } = asked;
    const { opened, metric } = await openMetric(deps.store.contentAt(grant.revision), grant, metricId, dashboardId);
    assertPermitted(grant, opened, 'isEnableDownloadMetrics');
    const target =
      dashboardId === undefined
        ? { metricId }
        : { metricId, dashboardId, ...(await drawnChoices(deps, grant, opened, asked, metric)) };
    return drawFor(deps, { caller, target, format, language: asked.language }, signal);
  };

/** Each throws UNAUTHORIZED if the token does not open the target, or does not permit downloads. */
export const renderGuestDashboardPdf = renderDashboard('pdf');
export const renderGuestDashboardPng = renderDashboard('png');
export const renderGuestMetricPdf = renderMetric('pdf');
export const renderGuestMetricPng = renderMetric('png');
