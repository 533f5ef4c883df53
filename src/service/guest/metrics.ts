/**
 * Metrics that guests create, change, archive and delete. Each belongs to one client, and all restrictions of its
 * dashboard apply to it.
 */
import type { Dashboard } from '../../model/dashboard/dashboard.js';
import type { GridCard, GuestMadeMetric, Metric, MetricDefinition } from '../../model/dashboard/metric.js';
import { assertDefines, assertWrites, notOpen } from '../../model/guest/access.js';
import type { ApiKeyCaller, GuestCaller } from '../../model/guest/caller.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { nextCard } from '../../model/guest/layout.js';
import { type GuestDefinition, guestLimits, isWhole, type NewGuestDefinition } from '../../model/guest/metric.js';
import type { GuestMetric } from '../../model/guest/view.js';
import type { Clock, Digest, Ids } from '../../model/ports.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import { findEmbed, metricsFor, type Opened, openMetricsOf } from '../embeds/lookup.js';
import type { Store } from '../store/store.js';
import { readChangedDefinition, readNewDefinition } from './definition.js';
import { boardFor } from './layouts.js';
import { changeTarget, loadTarget } from './metric-target.js';
import { metricDigest, readableDefinition } from './own-metrics.js';
import { viewMetric } from './reads.js';
import { lockDashboard, openDashboard } from './scope.js';

type Deps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sqlRewriter: SqlRewriter;
};

export type CreateGuestMetric = {
  readonly dashboardId: string;
  readonly name: string;
  readonly definition: NewGuestDefinition;
  /** Null: place it in the gallery. Undefined: place it below all other cards. */
  readonly card?: GridCard | null | undefined;
};

const make = (
  { clock, ids }: Deps,
  { dataAppId, clientId, userIdentifier }: GuestGrant,
  dashboard: Dashboard,
  name: string,
  definition: MetricDefinition,
): GuestMadeMetric => ({
  metricId: ids.uuid(),
  workspaceId: dashboard.workspaceId,
  name,
  definition,
  lineage: [],
  owner: { dataAppId, clientId },
  isArchived: false,
  isChangedByGuest: false,
  guest: {
    dashboardId: dashboard.id,
    userIdentifier: dashboard.isAllowPrivateMetricsByDefault ? userIdentifier : null,
    isPublished: false,
    card: null,
    createdAt: clock.now(),
  },
});

/** Returns the locked dashboard, so that two simultaneous creates cannot both take the last free place. */
const lockWithRoom = async (store: Store, grant: GuestGrant, id: string): Promise<Dashboard> => {
  const dashboard = await lockDashboard(store, grant, id);
  const made = await store.guestMetrics.list(id, grant);
  if (made.length < guestLimits.metrics) return dashboard;
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    `This dashboard has ${made.length} metrics of this client's guests, and may have ${guestLimits.metrics}: delete one first.`,
    { reason: 'too-many-guest-metrics' },
  );
};

const place = async (
  store: Store,
  grant: GuestGrant,
  opened: Opened,
  metric: GuestMadeMetric,
  wanted: CreateGuestMetric['card'],
): Promise<void> => {
  const { dashboard } = opened;
  const all = await metricsFor(store, dashboard, grant);
  const open = await openMetricsOf(store, grant, opened);
  const card =
    wanted === undefined ? nextCard((await boardFor(store, grant, dashboard, { all, open })).layout) : wanted;
  if (!(await store.guestMetrics.insert({ ...metric, guest: { ...metric.guest, card } })))
    throw new Error('a random metric id was taken');
  const own = await store.guestLayouts.find(dashboard.id, grant);
  if (own === undefined) return;
  const { metricId } = metric;
  const cards = card === null ? own.cards : [...own.cards, { metricId, ...card }];
  await store.guestLayouts.save(dashboard.id, grant, { cards, known: [...own.known, metricId] });
};

/**
 * Creates a metric of the guest's client. If the dashboard makes metrics private by default and the token names a user,
 * only that user sees it until it is published.
 */
export const createGuestMetric =
  (deps: Deps) =>
  async ({ grant }: GuestCaller, command: CreateGuestMetric): Promise<GuestMetric> => {
    const opened = await openDashboard(deps.store, grant, command.dashboardId);
    assertWrites(grant, opened.embed, 'createGuestMetric');
    assertDefines(grant);
    const definition = await readNewDefinition(deps, grant, opened, command.definition);
    return deps.store.transaction(async (store) => {
      const dashboard = await lockWithRoom(store, grant, opened.dashboard.id);
      const metric = make(deps, grant, dashboard, command.name, definition);
      await place(store, grant, { embed: opened.embed, dashboard }, metric, command.card);
      return viewMetric(grant, metric);
    });
  };

export type UpdateGuestMetric = {
  readonly metricId: string;
  readonly name?: string | undefined;
  readonly definition?: GuestDefinition | undefined;
  /** The version that the guest has read. The definition is a whole one then. */
  readonly digest?: string | undefined;
};

const assertIs = (expected: string | undefined, { digest }: UpdateDeps, metric: Metric): void => {
  if (expected === undefined || metricDigest(digest, metric) === expected) return;
  throw new Refusal(
    'METRIC_CHANGED',
    `Metric ${JSON.stringify(metric.metricId)} has changed since digest was read. Read its definition again, then retry.`,
  );
};

const readWhole = async (
  deps: Deps,
  grant: GuestGrant,
  opened: Opened,
  _: Metric,
  parts: GuestDefinition,
): Promise<MetricDefinition> => {
  if (isWhole(parts)) return readNewDefinition(deps, grant, opened, parts);
  throw new Refusal('INVALID_REQUEST_BODY', 'definition: with digest, it needs chart and from.', {
    reason: 'guest-definition',
  });
};

type UpdateDeps = Deps & { readonly digest: Digest };

/**
 * Changes a metric. Missing fields keep their values, unless a digest says that the definition is whole. Lineage, RLS
 * variables, and the filters of a metric that the host made never change. Throws METRIC_CHANGED if the metric is no
 * longer that of the digest, and UNAUTHORIZED for a digest of a definition that the guest may not read.
 */
export const updateGuestMetric =
  (deps: UpdateDeps) =>
  async (
    { grant }: GuestCaller,
    { metricId, name, definition: parts, digest }: UpdateGuestMetric,
  ): Promise<GuestMetric> => {
    const { opened, metric } = await loadTarget(deps.store, grant, metricId, 'updateGuestMetric');
    assertDefines(grant);
    // Whether a guessed digest is right would tell of a definition that this guest may not read.
    if (digest !== undefined) readableDefinition(grant, metric);
    assertIs(digest, deps, metric);
    const read = digest === undefined ? readChangedDefinition : readWhole;
    const definition = parts === undefined ? undefined : await read(deps, grant, opened, metric, parts);
    return deps.store.transaction(async (store) => {
      await lockDashboard(store, grant, opened.dashboard.id);
      const current = await loadTarget(store, grant, metricId, 'updateGuestMetric');
      assertIs(digest, deps, current.metric);
      await changeTarget(store, metric, { name, definition });
      return viewMetric(grant, {
        ...metric,
        name: name ?? metric.name,
        definition: definition ?? metric.definition,
      });
    });
  };

type Archived = { readonly metricId: string; readonly isArchived: boolean };

/** Hides a metric from all guests, or restores it. */
export const archiveGuestMetric =
  ({ store }: Pick<Deps, 'store'>) =>
  async ({ grant }: GuestCaller, { metricId, isArchived }: Archived): Promise<Archived> => {
    const write = isArchived ? 'archiveGuestMetric' : 'restoreGuestMetric';
    const { metric } = await loadTarget(store, grant, metricId, write);
    await changeTarget(store, metric, { isArchived });
    return { metricId, isArchived };
  };

/**
 * Deletes a metric. spec-gap: a metric that the host made is archived instead, since embeds refer to it, and the
 * provisioning of the client's dashboard would take the dashboard for incompletely imported.
 */
export const deleteGuestMetric =
  ({ store }: Pick<Deps, 'store'>) =>
  async (
    { grant }: GuestCaller,
    { metricId }: { readonly metricId: string },
  ): Promise<{ readonly metricId: string }> => {
    const { metric } = await loadTarget(store, grant, metricId, 'deleteGuestMetric');
    if (metric.guest === null) await changeTarget(store, metric, { isArchived: true });
    else if (!(await store.guestMetrics.delete(metricId))) throw notOpen('metric-gone');
    return { metricId };
  };

export type PublishMetric = { readonly embedId: string; readonly metricId: string; readonly isPublished: boolean };

/**
 * Publishes a guest's private metric, or makes it private again. spec-gap: only a metric that a guest made can be
 * published; a metric of the host is visible to all who may see the dashboard.
 */
export const publishMetric =
  ({ store }: { readonly store: Store }) =>
  async (
    { dataAppId }: ApiKeyCaller,
    { embedId, metricId, isPublished }: PublishMetric,
  ): Promise<{ readonly metricId: string }> => {
    const opened = await findEmbed(store, dataAppId, embedId);
    if (opened === undefined)
      throw new Refusal('INVALID_EMBED_ID', `This data app has no embed ${JSON.stringify(embedId)}.`);
    const metric = await store.guestMetrics.findById(metricId);
    const isThere = metric?.owner.dataAppId === dataAppId && metric.guest.dashboardId === opened.dashboard.id;
    if (!isThere || !(await store.guestMetrics.change(metricId, { isPublished }))) {
      throw new Refusal(
        'INVALID_METRIC_ID',
        `Embed ${JSON.stringify(embedId)} has no metric ${JSON.stringify(metricId)} that a guest made.`,
      );
    }
    return { metricId };
  };
