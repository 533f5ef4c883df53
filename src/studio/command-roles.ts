/** The operators' commands that Studio may run, and the roles that may run each. A command that is not here is refused. */
import { isRecord } from '../domain/is-record.js';
import type { StudioRole } from '../domain/studio/person.js';

type Rule = {
  readonly roles: readonly StudioRole[];
  /** Whether it changes something, and so has an entry in the audit. */
  readonly isChange: boolean;
  /** Whether it needs a person who sees data: who decides what others see may see it. */
  readonly needsData?: true;
  /** A field of the input that needs one of these roles instead. */
  readonly narrower?: { readonly field: string; readonly roles: readonly StudioRole[] };
};

const read = (...roles: readonly StudioRole[]): Rule => ({ roles, isChange: false });
const change = (...roles: readonly StudioRole[]): Rule => ({ roles, isChange: true });

export const commandRoles: Readonly<Record<string, Rule>> = {
  'audit-export': read('auditor'),
  'audit-search': read('auditor'),
  'audit-verify': read('auditor'),
  'embed-facts': read('author', 'publisher', 'support', 'auditor'),
  'erasure-report': read('support', 'auditor'),
  'policy-check': read('author', 'publisher', 'policyAdmin', 'auditor'),
  'policy-explain': {
    ...read('author', 'publisher', 'policyAdmin', 'support', 'auditor'),
    // The explanation of an earlier request has the claims of its user.
    narrower: { field: 'request', roles: ['support', 'auditor'] },
  },
  'policy-names': read('author', 'publisher', 'policyAdmin', 'auditor'),
  'policy-read': read('author', 'publisher', 'policyAdmin', 'support', 'auditor'),
  'policy-reload': change('publisher', 'policyAdmin'),
  'policy-save': { ...change('policyAdmin'), needsData: true },
  'policy-words': read('author', 'publisher', 'policyAdmin'),
  'request-explanation': read('support', 'auditor'),
  revoke: change('support'),
  unrevoke: change('support'),
  'rollout-apply': change('publisher'),
  'rollout-list': read('author', 'publisher', 'support', 'auditor'),
  'rollout-plan': {
    ...read('author', 'publisher', 'support', 'auditor'),
    // Values of conflicts are parts of dashboards, which these roles may read.
    narrower: { field: 'showsValues', roles: ['author', 'publisher', 'auditor'] },
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

/** The roles that may run a command with this input. Undefined: Studio does not offer it. */
export const rolesFor = (name: string, input: unknown): readonly StudioRole[] | undefined => {
  const rule = Object.hasOwn(commandRoles, name) ? commandRoles[name] : undefined;
  const { narrower } = rule ?? {};
  const isNarrow = narrower !== undefined && isRecord(input) && Object.hasOwn(input, narrower.field);
  return isNarrow ? narrower.roles : rule?.roles;
};
