/**
 * The token of a grant, by what the upstream says now or, while it cannot be asked, by what it said last: then only a token
 * that was minted already is found.
 */
import type { Call } from '../../contract/client.js';
import type { Policy } from '../policy/policy.js';
import { unavailable } from '../upstream/unavailable.js';
import { type GuestRequestOf, guestRequestOf } from './guest-request.js';
import type { HeldMetricLists, ListedMetric, ListMetrics } from './metric-lists.js';
import type { Account, GuestToken, TokenOf } from './token.js';

export type ConfirmedTokenOptions = {
  readonly listMetrics: HeldMetricLists;
  readonly upstream: Call;
  /** The token step that mints with this. */
  readonly tokenStep: (mintWith: Call) => TokenOf;
};

/** Its key holds every metric's id, so that a token is found only where the list was the same when it was minted. */
const mintNothing: Call = async () => {
  throw unavailable('metric-list-outdated', new Error('nothing is minted from a list that cannot be confirmed'));
};

/** Makes the step of session.ts. Throws what the token step throws. */
export const createConfirmedToken = ({ listMetrics, upstream, tokenStep }: ConfirmedTokenOptions) => {
  const findOrMint = tokenStep(upstream);
  const find = tokenStep(mintNothing);
  return async (of: GuestRequestOf, policy: Policy, account: Account): Promise<GuestToken> => {
    let isCurrent = true;
    const used = new Map<string, readonly ListedMetric[]>();
    const list: ListMetrics = async (dashboardId, clientId) => {
      const listed = await listMetrics(dashboardId, clientId);
      isCurrent &&= listed.isCurrent;
      used.set(dashboardId, listed.metrics);
      return listed.metrics;
    };
    const request = await guestRequestOf(of, list);
    const token = await (isCurrent ? findOrMint : find)(request, policy, account);
    const areListsSame = (): boolean =>
      [...used].every(([dashboardId, metrics]) => listMetrics.find(dashboardId, of.clientId) === metrics);
    return used.size === 0 ? token : { ...token, isStill: () => areListsSame() && token.isStill() };
  };
};
