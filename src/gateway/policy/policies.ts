/** The policy in force. It may change while the gateway runs: a request takes it once, and goes by that to its end. */
import { z } from 'zod';
import { type AdminCommand, adminCommand } from '../common/admin-command.js';
import type { Policy } from './policy.js';
import { closeTenantRule } from './tenant-rule.js';

/** What became of a look at the policy's files. */
export type Reload = { readonly outcome: 'unchanged' | 'changed' | 'refused'; readonly digest: string };

export type PolicyListener = {
  /** What else the policy needs. It throws PolicyFaults, and then the policy is not taken. */
  readonly prepare?: (next: Policy) => void;
  /** After the policy changed. Its failure is the listener's own to deal with. */
  readonly changed?: (next: Policy, previous: Policy) => Promise<void>;
};

export type Policies = {
  readonly current: () => Policy;
  /** Looks at the files now. Resolves once every listener is done with the change. */
  readonly reload: () => Promise<Reload>;
  /** `prepare` is asked of the policy in force at once. */
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

/** Looks at the policy's files now, and says what came of it; the log says what is wrong with them. */
export const policyReload = (policies: Policies): AdminCommand =>
  adminCommand('policy-reload', z.strictObject({}), policies.reload);
