/**
 * The policy in force. It can change while the gateway runs. Each request reads it once and uses the same policy until
 * it ends.
 */
import { z } from 'zod';
import { type AdminCommand, adminCommand } from '../common/admin-command.js';
import type { Policy } from './policy.js';
import { closeTenantRule } from './tenant-rule.js';

/** The outcome of reading the policy's files again. */
export type Reload = { readonly outcome: 'unchanged' | 'changed' | 'refused'; readonly digest: string };

export type PolicyListener = {
  /** Checks the policy's other requirements. If it throws PolicyFaults, the policy is not used. */
  readonly prepare?: (next: Policy) => void;
  /** Called after the policy changed. The listener must handle its own failures. */
  readonly changed?: (next: Policy, previous: Policy) => Promise<void>;
};

export type Policies = {
  readonly current: () => Policy;
  /** Reads the files now. Resolves once every listener has handled the change. */
  readonly reload: () => Promise<Reload>;
  /** Adds a listener, and calls its `prepare` with the policy in force immediately. */
  readonly subscribe: (listener: PolicyListener) => void;
  /** Resolves once a running reload has ended. */
  readonly close: () => Promise<void>;
};

/** Returns a policy source that never changes. */
export const fixedPolicies = (policy: Policy): Policies => ({
  current: () => policy,
  reload: async () => ({ outcome: 'unchanged', digest: policy.digest }),
  subscribe: ({ prepare }) => prepare?.(policy),
  close: async () => closeTenantRule(policy.tenant),
});

/**
 * The command `policy-reload`: reads the policy's files now and returns the outcome, and which file the policy is.
 * Faults are in the log.
 */
export const policyReload = (policies: Policies): AdminCommand =>
  adminCommand('policy-reload', z.strictObject({}), async () => ({
    ...(await policies.reload()),
    file: policies.current().file,
  }));
