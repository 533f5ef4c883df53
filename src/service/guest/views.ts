/** Views: filter choices that a guest saves under a name. Users of the same client see those that are shared. */
import { canonicalJson } from '../../model/canonical-json.js';
import type { Metric } from '../../model/dashboard/metric.js';
import { assertWrites, isPermitted } from '../../model/guest/access.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { guestLimits } from '../../model/guest/metric.js';
import {
  defaultAmong,
  type ListedView,
  readableChoices,
  rowRestrictions,
  type SavedUnder,
  type SavedView,
  type StoredView,
  type ViewChoices,
  viewFaults,
  visibleChoices,
} from '../../model/guest/saved-view.js';
import type { Clock, Digest, Ids } from '../../model/ports.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { type Opened, openMetricsOf } from '../embeds/lookup.js';
import type { Store } from '../store/store.js';
import { lockDashboard, openDashboard } from './scope.js';

type ReadDeps = { readonly store: Store; readonly digest: Digest };
type Deps = ReadDeps & { readonly clock: Clock; readonly ids: Ids };

type Choices = { readonly [Kind in keyof ViewChoices]?: ViewChoices[Kind] | undefined };
type Flags = { readonly isShared?: boolean | undefined; readonly isDefault?: boolean | undefined };

export type CreateGuestView = { readonly dashboardId: string; readonly name: string } & Choices & Flags;
export type UpdateGuestView = { readonly dashboardId: string; readonly viewId: string } & {
  readonly name?: string | undefined;
} & Choices &
  Flags;

const invalid = (message: string, reason: Reason): Refusal => new Refusal('INVALID_REQUEST_BODY', message, { reason });

const openMetrics = (store: Store, grant: GuestGrant, opened: Opened): Promise<readonly Metric[]> =>
  openMetricsOf(store, grant, opened);

const assertRenames = ({ accessPermissions }: GuestGrant, { filterNames }: ViewChoices): void => {
  const isAllowed = accessPermissions.isAllowDashboardFilterNameChange === true;
  if (isAllowed || Object.keys(filterNames).length === 0) return;
  throw new Refusal(
    'UNAUTHORIZED',
    'This token does not carry isAllowDashboardFilterNameChange: leave filterNames out.',
    { reason: 'permission-missing' },
  );
};

const underOf = ({ digest }: Pick<Deps, 'digest'>, grant: GuestGrant): string =>
  digest(canonicalJson(rowRestrictions(grant)));

/** Returns the view without anything that this token may not see. */
const shownTo = (
  deps: Pick<Deps, 'digest'>,
  grant: GuestGrant,
  { dashboard }: Opened,
  metrics: readonly Metric[],
  view: StoredView,
): ListedView => {
  const { savedUnder: _, ...listed } = view;
  return { ...listed, ...readableChoices(grant, dashboard, metrics, view, underOf(deps, grant)) };
};

/** Returns the choices under the filters' own names. Throws INVALID_REQUEST_BODY with the faults. */
const readChoices = async (
  { store, clock }: Deps,
  grant: GuestGrant,
  opened: Opened,
  { dashboardFilter = {}, metricFilter = {}, filterNames = {} }: Choices,
): Promise<ViewChoices> => {
  const choices = { dashboardFilter, metricFilter, filterNames };
  assertRenames(grant, choices);
  const metrics = await openMetrics(store, grant, opened);
  const moment = { now: clock.now(), timezone: grant.timezone };
  const faults = viewFaults(grant, opened.dashboard, metrics, choices, moment);
  if (faults.length > 0) throw invalid(`${faults.slice(0, 10).join('; ')}.`, 'view-choices');
  return visibleChoices(grant, opened.dashboard, metrics, choices);
};

const nameTaken = (name: string): Refusal =>
  new Refusal('VIEW_ALREADY_EXISTS', `There is a view named ${JSON.stringify(name)} already.`);

const insert = async (
  { clock }: Deps,
  store: Store,
  grant: GuestGrant,
  dashboardId: string,
  view: SavedView & SavedUnder,
): Promise<void> => {
  await lockDashboard(store, grant, dashboardId);
  const { length } = (await store.guestViews.list(dashboardId, grant)).filter(({ isOwn }) => isOwn);
  if (length >= guestLimits.views) {
    throw invalid(`There are ${length} views, and may be ${guestLimits.views}: delete one first.`, 'too-many-views');
  }
  if (await store.guestViews.insert(dashboardId, grant, view, clock.now())) return;
  throw nameTaken(view.name);
};

const assertShares = (grant: GuestGrant, { embed }: Opened): void => {
  if (isPermitted(grant, embed, 'shareGuestView')) return;
  throw new Refusal(
    'UNAUTHORIZED',
    'This token does not carry isEnableManageMetrics: it cannot share a view, nor change one that is shared.',
    { reason: 'permission-missing' },
  );
};

/** Saves a view. Throws UNAUTHORIZED, INVALID_REQUEST_BODY or VIEW_ALREADY_EXISTS. */
export const createGuestView =
  (deps: Deps) =>
  async ({ grant }: GuestCaller, command: CreateGuestView): Promise<ListedView> => {
    const opened = await openDashboard(deps.store, grant, command.dashboardId);
    const { name, isShared = false, isDefault = false } = command;
    assertWrites(grant, opened.embed, 'createGuestView');
    if (isShared) assertShares(grant, opened);
    const choices = await readChoices(deps, grant, opened, command);
    const view = { id: deps.ids.uuid(), name, isShared, isDefault, ...choices };
    const stored = { ...view, savedUnder: underOf(deps, grant) };
    await deps.store.transaction((store) => insert(deps, store, grant, opened.dashboard.id, stored));
    return { ...view, isOwn: true };
  };

const viewMissing = (viewId: string): Refusal =>
  new Refusal('VIEW_NOT_FOUND', `This dashboard has no view ${JSON.stringify(viewId)} of this user.`);

const findView = (views: readonly StoredView[], viewId: string): StoredView => {
  const view = views.find(({ id }) => id === viewId);
  if (view === undefined) throw viewMissing(viewId);
  return view;
};

/** Another user's view is only shared or not, and a default or not. */
const assertChanges = (
  grant: GuestGrant,
  opened: Opened,
  view: ListedView,
  { name, dashboardFilter, metricFilter, filterNames, isShared, isDefault }: UpdateGuestView,
): void => {
  if (view.isShared || isShared === true) assertShares(grant, opened);
  if (view.isOwn) return;
  if ([name, dashboardFilter, metricFilter, filterNames].some((given) => given !== undefined)) {
    throw invalid(
      'Another user saved this view: only isShared and isDefault can change. Save a view of your own.',
      'view-of-another-user',
    );
  }
  if (isShared === false && isDefault === true) {
    throw invalid('isDefault: another user’s view can be a default only while it is shared.', 'view-of-another-user');
  }
};

const change = async (deps: Deps, grant: GuestGrant, opened: Opened, command: UpdateGuestView): Promise<StoredView> => {
  const { store } = deps;
  const { id } = opened.dashboard;
  await lockDashboard(store, grant, id);
  const views = await store.guestViews.list(id, grant);
  const view = findView(views, command.viewId);
  assertChanges(grant, opened, view, command);
  const { name, isShared, isDefault, dashboardFilter, metricFilter, filterNames } = command;
  if (name !== undefined && views.some((other) => other.isOwn && other.id !== view.id && other.name === name)) {
    throw nameTaken(name);
  }
  const given = { dashboardFilter, metricFilter, filterNames };
  const isChosen = Object.values(given).some((choice) => choice !== undefined);
  const read = isChosen ? await readChoices(deps, grant, opened, given) : undefined;
  const choices = read && mergedChoices(view, given, { ...read, savedUnder: underOf(deps, grant) });
  if (!(await store.guestViews.change(id, grant, view.id, { name, choices, isShared, isDefault }))) {
    throw viewMissing(view.id);
  }
  return findView(await store.guestViews.list(id, grant), view.id);
};

type Stored = ViewChoices & SavedUnder;

/** The stored choices with those that the caller gave. `savedUnder` is left out if two tokens that see other rows chose them. */
const mergedChoices = (stored: Stored, given: Choices, read: Stored): Stored => {
  const isWhole = given.dashboardFilter !== undefined && given.metricFilter !== undefined;
  return {
    dashboardFilter: given.dashboardFilter === undefined ? stored.dashboardFilter : read.dashboardFilter,
    metricFilter: given.metricFilter === undefined ? stored.metricFilter : read.metricFilter,
    filterNames: given.filterNames === undefined ? stored.filterNames : read.filterNames,
    savedUnder: isWhole || stored.savedUnder === read.savedUnder ? read.savedUnder : undefined,
  };
};

/**
 * Changes what the caller names. Throws UNAUTHORIZED, INVALID_REQUEST_BODY, VIEW_ALREADY_EXISTS or VIEW_NOT_FOUND, also
 * for a view that another user does not share.
 */
export const updateGuestView =
  (deps: Deps) =>
  async ({ grant }: GuestCaller, command: UpdateGuestView): Promise<ListedView> => {
    const opened = await openDashboard(deps.store, grant, command.dashboardId);
    assertWrites(grant, opened.embed, 'updateGuestView');
    const changed = await deps.store.transaction((store) => change({ ...deps, store }, grant, opened, command));
    const metrics = await openMetrics(deps.store, grant, opened);
    return shownTo(deps, grant, opened, metrics, changed);
  };

/**
 * Returns the user's views and those shared with the client's users, without anything that this token does not see.
 * Another token may have saved it.
 */
export const listGuestViews =
  (deps: ReadDeps) =>
  async ({ grant }: GuestCaller, { dashboardId }: { readonly dashboardId: string }): Promise<readonly ListedView[]> => {
    const { store } = deps;
    const opened = await openDashboard(store, grant, dashboardId);
    assertWrites(grant, opened.embed, 'listGuestViews');
    const metrics = await openMetrics(store, grant, opened);
    const views = await store.guestViews.list(opened.dashboard.id, grant);
    return views.map((view) => shownTo(deps, grant, opened, metrics, view));
  };

/** Returns the view that the dashboard opens with, without anything that this token does not see. */
export const openingView = async (
  deps: ReadDeps,
  grant: GuestGrant,
  opened: Opened,
  metrics: readonly Metric[],
): Promise<ListedView | null> => {
  const view = defaultAmong(await deps.store.guestViews.list(opened.dashboard.id, grant));
  return view === undefined ? null : shownTo(deps, grant, opened, metrics, view);
};

type DeleteView = { readonly dashboardId: string; readonly viewId: string };

/** Throws VIEW_NOT_FOUND, also for a view that another user does not share. */
export const deleteGuestView =
  ({ store }: Pick<Deps, 'store'>) =>
  async ({ grant }: GuestCaller, { dashboardId, viewId }: DeleteView): Promise<{ readonly id: string }> => {
    const opened = await openDashboard(store, grant, dashboardId);
    const { id } = opened.dashboard;
    assertWrites(grant, opened.embed, 'deleteGuestView');
    await store.transaction(async (inner) => {
      await lockDashboard(inner, grant, id);
      if (findView(await inner.guestViews.list(id, grant), viewId).isShared) assertShares(grant, opened);
      if (!(await inner.guestViews.delete(id, grant, viewId))) throw viewMissing(viewId);
    });
    return { id: viewId };
  };
