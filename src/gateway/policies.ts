/** The policy in force. It may change while the gateway runs: a request takes it once, and goes by that to its end. */
import type { Policy } from './policy-file.js';
import { closeTenantRule } from './tenant-rule.js';

export type Policies = {
  readonly current: () => Policy;
  readonly close: () => void;
};

/** One policy that never changes. */
export const fixedPolicies = (policy: Policy): Policies => ({
  current: () => policy,
  close: () => closeTenantRule(policy.tenant),
});
