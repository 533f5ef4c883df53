/** Queries several metrics of a dashboard. Each is read in the same way as by a query of its own. */
import type { GuestCaller } from '../../model/guest/caller.js';
import type { DashboardPart, DashboardQuery } from '../../model/guest/view.js';
import type { WarmUp } from '../../model/guest/warm-up.js';
import type { Clock, Tag } from '../../model/ports.js';
import type { ReadEngine } from '../../model/query/engine.js';
import type { Store } from '../store/store.js';
import { asReady } from './as-ready.js';
import { queryGuestMetric } from './reads.js';
import { assertStillGood, openDashboard } from './scope.js';

type Deps = {
  readonly store: Store;
  readonly engine: ReadEngine;
  readonly clock: Clock;
  readonly tag: Tag;
  readonly warmUp?: Pick<WarmUp, 'seen'> | undefined;
};

/** As many as a browser would send at once. */
const atOnce = 6;

/**
 * Returns the parts in the order in which they are ready. A failed metric is one part, and the others are answered.
 * Throws UNAUTHORIZED if the token does not open the dashboard.
 */
export const queryGuestDashboard =
  (deps: Deps) =>
  async (caller: GuestCaller, query: DashboardQuery, signal: AbortSignal): Promise<AsyncIterable<DashboardPart>> => {
    const { dashboardId, dashboardFilter, crossFilter, language, metrics } = query;
    await openDashboard(deps.store.contentAt(caller.grant.revision), caller.grant, dashboardId);
    const queryOne = queryGuestMetric(deps);
    const answer = async (
      { digest: known, ...metric }: DashboardQuery['metrics'][number],
      hasWaited: boolean,
    ): Promise<DashboardPart> => {
      const { metricId } = metric;
      try {
        // A metric waits for as long as the caller leaves earlier answers unread, and the token may end meanwhile.
        if (hasWaited) await assertStillGood(deps, caller);
        const reply = await queryOne(
          caller,
          { ...metric, dashboardId, dashboardFilter, crossFilter, language },
          signal,
        );
        const { tag: digest } = reply;
        return digest === known ? { metricId, digest } : { metricId, digest, reply };
      } catch (failure) {
        return { metricId, failure };
      }
    };
    return asReady(
      metrics.map((metric, position) => () => answer(metric, position >= atOnce)),
      atOnce,
      signal,
    );
  };
