/** Dashboards and metrics as files that the server draws. The drawing reads with the guest's own token. */
import type { GuestCaller } from '../../domain/guest/caller.js';
import type { Renderer, RenderFormat, RenderTarget } from '../../domain/guest/render.js';
import type { GuestQuery } from '../../domain/guest/view.js';
import type { Clock } from '../../domain/ports.js';
import type { Store } from '../../domain/store/store.js';
import { assertPermitted, assertStillGood, openDashboard, openMetric } from './scope.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly renderer: Renderer };

const drawFor = (deps: Deps, caller: GuestCaller, target: RenderTarget, format: RenderFormat, signal: AbortSignal) =>
  deps.renderer.render({ caller, target, format, assertStillGood: () => assertStillGood(deps, caller) }, signal);

type DashboardPage = Pick<GuestQuery, 'dashboardFilter'> & { readonly dashboardId: string };

const renderDashboard =
  (format: RenderFormat) =>
  (deps: Deps) =>
  async (caller: GuestCaller, target: DashboardPage, signal: AbortSignal): Promise<Uint8Array> => {
    const { grant } = caller;
    const opened = await openDashboard(deps.store.contentAt(grant.revision), grant, target.dashboardId);
    assertPermitted(grant, opened, 'isEnableDownloadMetrics');
    return drawFor(deps, caller, target, format, signal);
  };

type MetricPage = Pick<GuestQuery, 'metricId' | 'dashboardId'>;

const renderMetric =
  (format: RenderFormat) =>
  (deps: Deps) =>
  async (caller: GuestCaller, target: MetricPage, signal: AbortSignal): Promise<Uint8Array> => {
    const { grant } = caller;
    const { opened } = await openMetric(
      deps.store.contentAt(grant.revision),
      grant,
      target.metricId,
      target.dashboardId,
    );
    assertPermitted(grant, opened, 'isEnableDownloadMetrics');
    return drawFor(deps, caller, target, format, signal);
  };

/** Each throws UNAUTHORIZED if the token does not open the target, or does not permit downloads. */
export const renderGuestDashboardPdf = renderDashboard('pdf');
export const renderGuestDashboardPng = renderDashboard('png');
export const renderGuestMetricPdf = renderMetric('pdf');
export const renderGuestMetricPng = renderMetric('png');
