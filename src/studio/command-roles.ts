/** The operators' commands that Studio may run, and the roles that may run each. A command that is not here is refused. */
import { isRecord } from '../domain/is-record.js';
import type { StudioRole } from '../domain/studio/person.js';
import type { Reads } from '../domain/studio/reads.js';

type Rule = {
  readonly roles: readonly StudioRole[];
  /** Whether it changes something, and so has an entry in the audit. */
  readonly isChange: boolean;
  /** What its answer tells. A command of `definitions` leaves out what it tells only people who see data. */
  readonly reads: Reads;
  /** A field of the input that needs one of these roles instead, and whose answer tells this. */
  readonly narrower?: { readonly field: string; readonly roles: readonly StudioRole[]; readonly reads: Reads };
};

const read = (...roles: readonly StudioRole[]): Rule => ({ roles, isChange: false, reads: 'definitions' });
const change = (...roles: readonly StudioRole[]): Rule => ({ roles, isChange: true, reads: 'nothing' });

export const commandRoles: Readonly<Record<string, Rule>> = {
  // Names of users, and what they asked.
  'audit-export': { ...read('auditor'), reads: 'rows' },
  'audit-search': { ...read('auditor'), reads: 'rows' },
  'audit-verify': read('auditor'),
  'embed-facts': read('author', 'publisher', 'support', 'auditor'),
  'erasure-report': read('support', 'auditor'),
  'policy-check': read('author', 'publisher', 'policyAdmin', 'auditor'),
  'policy-explain': {
    ...read('author', 'publisher', 'policyAdmin', 'support', 'auditor'),
    // The explanation of an earlier request has the claims of its user.
    narrower: { field: 'request', roles: ['support', 'auditor'], reads: 'rows' },
  },
  'policy-names': read('author', 'publisher', 'policyAdmin', 'auditor'),
  'policy-read': read('author', 'publisher', 'policyAdmin', 'support', 'auditor'),
  'policy-reload': change('publisher', 'policyAdmin'),
  // Who decides what others see may see it.
  'policy-save': { ...change('policyAdmin'), reads: 'rows' },
  'policy-words': read('author', 'publisher', 'policyAdmin'),
  'request-explanation': { ...read('support', 'auditor'), reads: 'rows' },
  revoke: change('support'),
  unrevoke: change('support'),
  'rollout-apply': change('publisher'),
  'rollout-list': read('author', 'publisher', 'support', 'auditor'),
  'rollout-plan': {
    ...read('author', 'publisher', 'support', 'auditor'),
    // A tenant's side of a conflict may be what its users wrote into a metric, such as a value of a row.
    narrower: { field: 'showsValues', roles: ['author', 'publisher', 'auditor'], reads: 'rows' },
  },
  'rollout-resume': change('publisher'),
  'rollout-rollback': change('publisher'),
  'rollout-status': read('author', 'publisher', 'support', 'auditor'),
  'template-check': read('author', 'publisher'),
  'template-history': read('author', 'publisher', 'auditor'),
  // The save that it names is in the audit.
  'template-record': read('author', 'publisher'),
  'template-version': read('author', 'publisher', 'auditor'),
  'tenant-delete': change('owner'),
  'tenant-resume': change('support'),
  'tenant-suspend': change('support'),
  'tenants-list': read('author', 'publisher', 'support', 'auditor'),
  'tenants-provision': change('publisher', 'support'),
};

/** Who may run a command with this input, and what the answer tells. Undefined: Studio does not offer it. */
export const ruleFor = (name: string, input: unknown): Pick<Rule, 'roles' | 'reads'> | undefined => {
  const rule = Object.hasOwn(commandRoles, name) ? commandRoles[name] : undefined;
  const { narrower } = rule ?? {};
  const isNarrow = narrower !== undefined && isRecord(input) && Object.hasOwn(input, narrower.field);
  return isNarrow ? narrower : rule;
};
