/** Policies for tests. YAML is a superset of JSON, so a policy file can be written from an object. */

import { loadPolicy } from '../../src/gateway/policy/load.js';
import type { Policies, PolicyListener } from '../../src/gateway/policy/policies.js';
import type { Policy } from '../../src/gateway/policy/policy.js';

export const basePolicy = {
  version: 1,
  dataApp: 'flights',
  workspace: 'flights',
  datamart: 'flights',
  session: {
    claims: {
      org_id: 'string',
      orgs: 'list<string>',
      roles: 'list<string>',
      region: 'string',
      states: 'list<string>',
      level: 'int',
      zoneinfo: 'string',
    },
    tenant: 'claims.org_id',
    roles: 'has(claims.roles) ? claims.roles : []',
  },
  templates: { delays: { name: 'Delays' }, routes: { name: 'Routes' }, 'third-one': { name: 'Third' } },
  rules: [{ name: 'all', when: 'true', grant: { templates: ['delays', 'routes'] } }],
};

/** Loads the base policy with some of its fields replaced. */
export const policyOf = (overrides: object = {}) =>
  loadPolicy(JSON.stringify({ ...basePolicy, ...overrides }, null, 2), 'test.yaml');

/** Policies that a test replaces. `change` resolves when all listeners are done. */
export const changeablePolicies = (first: Policy): Policies & { readonly change: (next: Policy) => Promise<void> } => {
  const listeners: PolicyListener[] = [];
  let current = first;
  return {
    current: () => current,
    reload: async () => ({ outcome: 'unchanged', digest: current.digest }),
    subscribe: (listener) => void listeners.push(listener),
    close: async () => {},
    change: async (next) => {
      const previous = current;
      current = next;
      for (const { changed } of listeners) await changed?.(next, previous);
    },
  };
};
