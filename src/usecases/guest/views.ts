/** Views: filter choices that a guest saves under a name. Other users do not see them. */
import type { Metric } from '../../domain/dashboard/metric.js';
import { assertWrites } from '../../domain/guest/access.js';
import type { GuestCaller } from '../../domain/guest/caller.js';
import type { GuestGrant } from '../../domain/guest/grant.js';
import { guestLimits } from '../../domain/guest/metric.js';
import { type SavedView, type ViewChoices, viewFaults, visibleChoices } from '../../domain/guest/saved-view.js';
import type { Clock, Ids } from '../../domain/ports.js';
import type { Reason } from '../../domain/reasons.js';
import { Refusal } from '../../domain/refusal.js';
import type { Store } from '../../domain/store/store.js';
import { type Opened, openMetricsOf } from '../embeds/lookup.js';
import { lockDashboard, openDashboard } from './scope.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids };

export type CreateGuestView = { readonly dashboardId: string; readonly name: string } & {
  readonly [Kind in keyof ViewChoices]?: ViewChoices[Kind] | undefined;
};

const invalid = (message: string, reason: Reason): Refusal => new Refusal('INVALID_REQUEST_BODY', message, { reason });

const openMetrics = (store: Store, grant: GuestGrant, { dashboard }: Opened): Promise<readonly Metric[]> =>
  openMetricsOf(store, grant, dashboard);

const assertRenames = ({ accessPermissions }: GuestGrant, { filterNames }: ViewChoices): void => {
  const isAllowed = accessPermissions.isAllowDashboardFilterNameChange === true;
  if (isAllowed || Object.keys(filterNames).length === 0) return;
  throw new Refusal(
    'UNAUTHORIZED',
    'This token does not carry isAllowDashboardFilterNameChange: leave filterNames out.',
    { reason: 'permission-missing' },
  );
};

/** Returns the choices under the filters' own names. Throws INVALID_REQUEST_BODY with the faults. */
const readChoices = async (
  { store, clock }: Deps,
  grant: GuestGrant,
  opened: Opened,
  { dashboardFilter = {}, metricFilter = {}, filterNames = {} }: CreateGuestView,
): Promise<ViewChoices> => {
  const choices = { dashboardFilter, metricFilter, filterNames };
  assertRenames(grant, choices);
  const metrics = await openMetrics(store, grant, opened);
  const moment = { now: clock.now(), timezone: grant.timezone };
  const faults = viewFaults(grant, opened.dashboard, metrics, choices, moment);
  if (faults.length > 0) throw invalid(`${faults.slice(0, 10).join('; ')}.`, 'view-choices');
  return visibleChoices(grant, opened.dashboard, metrics, choices);
};

const insert = async (
  { clock }: Deps,
  store: Store,
  grant: GuestGrant,
  dashboardId: string,
  view: SavedView,
): Promise<void> => {
  await lockDashboard(store, grant, dashboardId);
  const { length } = await store.guestViews.list(dashboardId, grant);
  if (length >= guestLimits.views) {
    throw invalid(`There are ${length} views, and may be ${guestLimits.views}: delete one first.`, 'too-many-views');
  }
  if (await store.guestViews.insert(dashboardId, grant, view, clock.now())) return;
  throw new Refusal('VIEW_ALREADY_EXISTS', `There is a view named ${JSON.stringify(view.name)} already.`);
};

/** Saves a view. Throws UNAUTHORIZED, INVALID_REQUEST_BODY or VIEW_ALREADY_EXISTS. */
export const createGuestView =
  (deps: Deps) =>
  async ({ grant }: GuestCaller, command: CreateGuestView): Promise<SavedView> => {
    const opened = await openDashboard(deps.store, grant, command.dashboardId);
    assertWrites(grant, opened.embed, 'createGuestView');
    const view = { id: deps.ids.uuid(), name: command.name, ...(await readChoices(deps, grant, opened, command)) };
    await deps.store.transaction((store) => insert(deps, store, grant, opened.dashboard.id, view));
    return view;
  };

/**
 * Returns the user's views, without anything that this token does not see. Another token of the same user may have
 * saved it.
 */
export const listGuestViews =
  ({ store }: Pick<Deps, 'store'>) =>
  async ({ grant }: GuestCaller, { dashboardId }: { readonly dashboardId: string }): Promise<readonly SavedView[]> => {
    const opened = await openDashboard(store, grant, dashboardId);
    assertWrites(grant, opened.embed, 'listGuestViews');
    const metrics = await openMetrics(store, grant, opened);
    const views = await store.guestViews.list(opened.dashboard.id, grant);
    return views.map((view) => ({ ...view, ...visibleChoices(grant, opened.dashboard, metrics, view) }));
  };

type DeleteView = { readonly dashboardId: string; readonly viewId: string };

/** Throws VIEW_NOT_FOUND, also for a view of another user. */
export const deleteGuestView =
  ({ store }: Pick<Deps, 'store'>) =>
  async ({ grant }: GuestCaller, { dashboardId, viewId }: DeleteView): Promise<{ readonly id: string }> => {
    const { embed, dashboard } = await openDashboard(store, grant, dashboardId);
    assertWrites(grant, embed, 'deleteGuestView');
    if (!(await store.guestViews.delete(dashboard.id, grant, viewId))) {
      throw new Refusal('VIEW_NOT_FOUND', `This dashboard has no view ${JSON.stringify(viewId)} of this user.`);
    }
    return { id: viewId };
  };
