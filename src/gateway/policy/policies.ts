/** The policy in force. It may change while the gateway runs; each request reads it once and uses that one to its end. */
import { z } from 'zod';
import { type AdminCommand, adminCommand } from '../common/admin-command.js';
import type { Policy } from './policy.js';
import { closeTenantRule } from './tenant-rule.js';

/** The outcome of reading the policy's files again. */
export type Reload = { readonly outcome: 'unchanged' | 'changed' | 'refused'; readonly digest: string };

export type PolicyListener = {
  /** Checks what else the policy needs. If it throws PolicyFaults, the policy is not used. */
  readonly prepare?: (next: Policy) => void;
  /** Called after the policy changed. The listener must handle its own failures. */
  readonly changed?: (next: Policy, previous: Policy) => Promise<void>;
};

export type Policies = {
  readonly current: () => Policy;
  /** Reads the files now. Resolves once every listener has handled the change. */
  readonly reload: () => Promise<Reload>;
  /** Calls `prepare` with the policy in force at once. */
  readonly subscribe: (listener: PolicyListener) => void;
  readonly close: () => void;
};

/** One policy that never changes. */
export const fixedPolicies = (policy: Policy): Policies => ({
  current: () => policy,
  reload: async () => ({ outcome: 'unchanged', digest: policy.digest }),
  subscribe: ({ prepare }) => prepare?.(policy),
  close: () => closeTenantRule(policy.tenant),
});

/** The command `policy-reload`: reads the policy's files now and answers the outcome. Their faults are in the log. */
export const policyReload = (policies: Policies): AdminCommand =>
  adminCommand('policy-reload', z.strictObject({}), policies.reload);
