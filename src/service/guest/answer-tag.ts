/**
 * The tag of an answer: equal exactly if one guest, under the same restrictions, would get the same answer of the same
 * metric again. It is keyed and names the client, so it tells nothing to anybody else, who has the same rows or guesses them.
 */
import { canonicalJson } from '../../model/canonical-json.js';
import { hasColumnRules } from '../../model/datamart/column-rules.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import type { MetricReply } from '../../model/guest/view.js';
import type { Tag } from '../../model/ports.js';

/** Everything in a token but what every new token changes: its id and its times. */
export const restrictionsOf = (grant: GuestGrant): string => {
  const { dataAppId, clientId, userIdentifier, timezone, datamartId, datasourceId, allowedEmbeds } = grant;
  const { rlsSettings, appFilters, dashboardAppFilters, hideDashboardFilters, hideDashboardMetrics } = grant;
  const { accessPermissions, permissions, columnRules } = grant;
  return canonicalJson({
    ...{ dataAppId, clientId, userIdentifier, timezone, datamartId, datasourceId, allowedEmbeds },
    ...{ rlsSettings, appFilters, dashboardAppFilters, hideDashboardFilters, hideDashboardMetrics },
    ...{ accessPermissions, permissions },
    ...(hasColumnRules(columnRules) ? { columnRules } : {}),
  });
};

const known = new WeakMap<GuestGrant, string>();

const grantPart = (grant: GuestGrant): string => {
  const text = known.get(grant) ?? restrictionsOf(grant);
  known.set(grant, text);
  return text;
};

function* partsOf(grant: GuestGrant, { metricId, answer }: Omit<MetricReply, 'tag'>): Generator<unknown> {
  const { rows, ...head } = answer;
  yield [grantPart(grant), metricId, head];
  yield* rows;
}

export const answerTag = (tag: Tag, grant: GuestGrant, reply: Omit<MetricReply, 'tag'>): Promise<string> =>
  tag(partsOf(grant, reply));
