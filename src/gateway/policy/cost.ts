/** What all expressions of a policy may cost together: one request evaluates them one after the other, without giving way to others. */

import type { Part } from './checks.js';
import { maxPolicyCost } from './expression-cost.js';
import type { Policy } from './load.js';

type Costed = { readonly source: string; readonly at: string; readonly cost: number };

const expressionsOf = ({ tenant, roles, rules, restrictions }: Policy): readonly Costed[] => [
  tenant.key,
  roles,
  ...rules.flatMap(({ when, grant: { timezone } }) =>
    timezone === null || timezone === 'request' ? [when] : [when, timezone],
  ),
  ...restrictions.flatMap(({ when, restrict: { dashboardFilters, rls, appFilters } }) => [
    when,
    ...[dashboardFilters, rls, appFilters].flatMap((values) => [...values.values()]),
  ]),
];

const count = (steps: number): string => steps.toLocaleString('en');

/** Undefined: what it costs may be spent at each request. */
const faultOf = (policy: Policy): string | undefined => {
  const expressions = expressionsOf(policy);
  const total = expressions.reduce((sum, { cost }) => sum + cost, 0);
  if (total <= maxPolicyCost) return undefined;
  const dearest = expressions.toSorted((left, right) => right.cost - left.cost).slice(0, 3);
  const named = dearest.map(({ at, source, cost }) => `${at} takes ${count(cost)} (${source})`);
  return `the expressions that one request evaluates take up to ${count(total)} steps together, and may take ${count(maxPolicyCost)}: make the dearest ones cheaper, or rules fewer. ${named.join('; ')}`;
};

/** Notes a fault where the policy, or what it is for a tenant with overrides, costs too much. */
export const checkCost = (policy: Policy, { source, faults }: Part): void => {
  const own = faultOf(policy);
  if (own !== undefined) {
    faults.add(source.offsetOf(['rules']), own);
    return;
  }
  const seen = new Set<Policy>();
  for (const [clientId, overridden] of policy.overrides) {
    if (seen.has(overridden)) continue;
    seen.add(overridden);
    const fault = faultOf(overridden);
    if (fault !== undefined) faults.add(source.offsetOf(['tenants']), `with the overrides of "${clientId}", ${fault}`);
  }
};
