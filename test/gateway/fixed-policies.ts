import type { Policies } from '../../src/gateway/policy/policies.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { closeTenantRule } from '../../src/gateway/policy/tenant-rule.js';

/** A source of one policy that never changes. */
export const fixedPolicies = (policy: Policy): Policies => ({
  current: () => policy,
  reload: async () => ({ outcome: 'unchanged', digest: policy.digest }),
  subscribe: ({ prepare }) => prepare?.(policy),
  close: async () => closeTenantRule(policy.tenant),
});
