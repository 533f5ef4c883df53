/** The metrics that a guest may change: listed, read with a digest to change them, and published. */
import { canonicalJson } from '../../model/canonical-json.js';
import type { Metric, VisualDefinition } from '../../model/dashboard/metric.js';
import { assertDefines, assertWrites, isMetricKnown, isPermitted, notOpen } from '../../model/guest/access.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { showsValuesOf } from '../../model/guest/made-values.js';
import { guestFaults, type OwnDefinition, type OwnMetric } from '../../model/guest/metric.js';
import type { Clock, Digest } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { findSource } from '../embeds/lookup.js';
import type { Store } from '../store/store.js';
import { loadTarget } from './metric-target.js';
import { openDashboard } from './scope.js';

const changes = ['updateGuestMetric', 'archiveGuestMetric', 'restoreGuestMetric'] as const;

/** Returns the metrics of guests on the dashboard that this guest may change. */
export const listGuestMetrics =
  ({ store }: { readonly store: Store }) =>
  async ({ grant }: GuestCaller, { dashboardId }: { readonly dashboardId: string }): Promise<readonly OwnMetric[]> => {
    const { embed, dashboard } = await openDashboard(store, grant, dashboardId);
    if (!changes.some((write) => isPermitted(grant, embed, write))) assertWrites(grant, embed, changes[0]);
    const seesArchived = isPermitted(grant, embed, 'restoreGuestMetric');
    const made = await store.guestMetrics.list(dashboard.id, grant);
    return made.flatMap((metric) => {
      const { metricId, name, isArchived, guest } = metric;
      const isOwn = guest.userIdentifier === null || guest.userIdentifier === grant.userIdentifier;
      if (!isOwn || (isArchived && !seesArchived) || !isMetricKnown(grant, dashboard, metric)) return [];
      const isOfUser = guest.userIdentifier !== null;
      return [{ metricId, name, isArchived, isPrivate: isOfUser && !guest.isPublished, canPublish: isOfUser }];
    });
  };

/** Changes with the name and the definition, and with nothing else. */
export const metricDigest = (digest: Digest, { name, definition }: Pick<Metric, 'name' | 'definition'>): string =>
  digest(canonicalJson({ name, definition }));

type Deps = { readonly store: Store; readonly clock: Clock; readonly digest: Digest };

/**
 * Returns the definition. Throws UNAUTHORIZED unless the guest may read it: it may hold values of rows that the guest does not
 * see, and a metric of the host may name columns and conditions that its guests must not know of.
 */
export const readableDefinition = (grant: GuestGrant, metric: Metric): VisualDefinition => {
  if (!showsValuesOf(grant, metric)) throw notOpen('values-of-another-guest');
  const { guest, definition } = metric;
  if (guest === null || definition.kind !== 'visual') throw notOpen('metric-of-the-host');
  return definition;
};

/**
 * Returns the definition of a metric that a guest made. Throws METRIC_QUERY_ERROR if it names a column that the guest
 * may not use now: the guest may not learn of that column. Throws UNAUTHORIZED if it may hold values of rows that the guest
 * does not see.
 */
export const getGuestMetricDefinition =
  ({ store, clock, digest }: Deps) =>
  async ({ grant }: GuestCaller, { metricId }: { readonly metricId: string }): Promise<OwnDefinition> => {
    const { opened, metric } = await loadTarget(store, grant, metricId, 'updateGuestMetric');
    assertDefines(grant);
    const { name } = metric;
    const definition = readableDefinition(grant, metric);
    const { kind: _, rlsVariables, measures, ...parts } = definition;
    const aggregated = measures.filter((measure) => measure.expression === undefined);
    const write = { parts: { ...parts, measures: aggregated }, whole: definition, before: null };
    const source = await findSource(store, opened, grant);
    const isSound =
      source !== undefined &&
      rlsVariables.length === 0 &&
      aggregated.length === measures.length &&
      guestFaults(write, source.datamart, { now: clock.now(), timezone: grant.timezone }).sent.length === 0;
    if (!isSound) {
      throw new Refusal(
        'METRIC_QUERY_ERROR',
        'The definition of this metric has parts that can no longer be used. Create the metric again.',
        { reason: 'stored-definition' },
      );
    }
    return { metricId, name, definition: write.parts, digest: metricDigest(digest, metric) };
  };

type Published = { readonly metricId: string; readonly isPublished: boolean };

/** Shows a user's own private metric to all users of the client, or to that user only again. */
export const publishGuestMetric =
  ({ store }: { readonly store: Store }) =>
  async ({ grant }: GuestCaller, { metricId, isPublished }: Published): Promise<Published> => {
    const { metric } = await loadTarget(store, grant, metricId, 'publishGuestMetric');
    if (metric.guest === null || metric.guest.userIdentifier === null) {
      throw new Refusal(
        'INVALID_REQUEST_BODY',
        'metricId: this metric belongs to no user. All users of the client see it; it can be archived or deleted.',
        { reason: 'metric-of-no-user' },
      );
    }
    if (!(await store.guestMetrics.change(metricId, { isPublished }))) throw notOpen('metric-gone');
    return { metricId, isPublished };
  };
