/**
 * The policy in force. It can change while the gateway runs. Each request reads it once and uses the same policy until
 * it ends.
 */
import { basename } from 'node:path';
import { z } from 'zod';
import {
  type AdminCommand,
  adminCommand,
  changedBy,
  declareCommand,
  noInput,
  readBy,
} from '../common/admin-command.js';
import { columnUses } from './column-uses.js';
import type { Policy } from './policy.js';

/** The outcome of reading the policy's files again. */
export const reloaded = z.object({ outcome: z.enum(['unchanged', 'changed', 'refused']), digest: z.string() });
export type Reload = Readonly<z.output<typeof reloaded>>;

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

export const reloadPolicy = declareCommand(
  'policy-reload',
  noInput,
  reloaded.extend({ file: z.string() }),
  changedBy('publisher', 'policyAdmin'),
);

const namedColumn = z.object({ schemaName: z.string(), tableName: z.string(), columnName: z.string() });

const policyFacts = z.object({
  digest: z.string(),
  dataApp: z.string(),
  workspace: z.string(),
  datamart: z.string(),
  /** The type of each. */
  claims: z.record(z.string(), z.string()),
  files: z.array(z.object({ file: z.string(), text: z.string() })),
  /** Null where the tenant is not simply a claim. */
  tenantClaim: z.string().nullable(),
  roles: z.string(),
  templates: z.array(z.object({ template: z.string(), name: z.string() })),
  /** What names columns of the model, with its place. */
  columnUses: z.array(z.object({ name: z.string(), where: z.string(), columns: z.array(namedColumn) })),
});

export const readPolicy = declareCommand(
  'policy-read',
  noInput,
  policyFacts,
  readBy('author', 'publisher', 'policyAdmin', 'support', 'auditor'),
  { title: 'Read the policy', description: 'Reads the policy in force: templates, roles and claims.' },
);

/**
 * The command `policy-reload`: reads the policy's files now and returns the outcome, and which file the policy is.
 * Faults are in the log.
 */
export const policyReload = (policies: Policies): AdminCommand =>
  adminCommand(reloadPolicy, async () => ({
    ...(await policies.reload()),
    file: policies.current().file,
  }));

/** The command `policy-read`: the policy in force, with its texts, and which claims a session of it has. */
export const policyRead = (policies: Policies): AdminCommand =>
  adminCommand(readPolicy, async () => {
    const policy = policies.current();
    const { digest, files, dataApp, workspace, datamart, claims, tenant, roles, templates } = policy;
    const isPlain = tenant.by === 'expression';
    return {
      ...{ digest, dataApp, workspace, datamart, claims },
      files: files.map(({ file, text }) => ({ file: basename(file), text })),
      tenantClaim: (isPlain ? /^claims\.(\w+)$/.exec(tenant.key.source)?.[1] : undefined) ?? null,
      roles: roles.source,
      templates: [...templates.values()].map(({ template, name }) => ({ template, name })),
      columnUses: columnUses(policy),
    };
  });
