/**
 * The tools of an operator's assistant: operations of the service that read, commands of the gateway, and what is read of
 * the running process. Each is for the roles that may do the same in Studio, and none answers rows of a tenant or a credential.
 */
import type { Operation } from '../contract/operation.js';
import { hasRole, type Person, type StudioRole } from '../domain/studio/person.js';
import { needsData, type Reads } from '../domain/studio/reads.js';
import type { AdminCommand } from '../gateway/common/admin-command.js';
import type { Described } from '../mcp/described.js';
import { inputSchemaOf } from '../mcp/tools.js';
import { commandRoles } from './command-roles.js';
import { type ProcessRead, processReads } from './process-reads.js';
import { isChange } from './work.js';

export type OperatorTool = Described & {
  readonly roles: readonly StudioRole[];
  readonly tells: Reads;
  readonly does:
    | { readonly kind: 'operation'; readonly operation: Operation }
    | { readonly kind: 'command'; readonly command: AdminCommand }
    | { readonly kind: 'process'; readonly process: ProcessRead };
};

type Offered = { readonly title: string; readonly description: string; readonly isDestructive?: true };

/** The commands that are tools. A command that is not here is none: erasing tenants and writing policies are for people. */
const offered: Readonly<Record<string, Offered>> = {
  'tenants-list': { title: 'List tenants', description: 'Lists tenants with their state and their dashboards.' },
  'tenant-suspend': {
    ...{ title: 'Suspend a tenant', isDestructive: true },
    description: 'Refuses all users of a tenant from now on. Nothing is deleted.',
  },
  'tenant-resume': { title: 'Resume a tenant', description: 'Lets the users of a suspended tenant in again.' },
  'tenants-provision': {
    title: 'Create missing dashboards',
    description: 'Creates the dashboards that tenants should have and lack.',
  },
  'erasure-report': { title: 'Read an erasure', description: 'Reads what the erasure of a tenant deleted.' },
  revoke: {
    ...{ title: 'Revoke tokens', isDestructive: true },
    description: 'Ends the guest tokens of a user, a tenant or a policy, or all.',
  },
  unrevoke: { title: 'Accept sessions again', description: 'Accepts sessions again that a revocation refuses.' },
  'policy-check': { title: 'Check the policy', description: 'Says what is wrong with the policy files.' },
  'policy-explain': {
    title: 'Explain a decision',
    description: 'Says what a user of a tenant may see, and which rule of the policy says so.',
  },
  'policy-read': { title: 'Read the policy', description: 'Reads the policy in force: templates, roles and claims.' },
  'request-explanation': { title: 'Explain a request', description: 'Reads what was decided for an earlier request.' },
  'audit-verify': { title: 'Verify the audit', description: 'Verifies that the audit is complete and unmodified.' },
  'template-history': { title: 'List editions', description: 'Lists the editions of a template with their changes.' },
  'rollout-list': { title: 'List roll-outs', description: 'Lists the newest roll-outs with their state.' },
  'rollout-status': { title: 'Read a roll-out', description: 'Reads the progress of a roll-out, and what failed.' },
  'rollout-plan': {
    title: 'Plan a roll-out',
    description: 'Says what a roll-out would do to each tenant. Does nothing.',
  },
  'rollout-apply': {
    ...{ title: 'Roll out a template', isDestructive: true },
    description: 'Brings a changed template to tenants. What each tenant changed is kept. Plan it first.',
  },
  'rollout-resume': { title: 'Continue a roll-out', description: 'Continues a roll-out that waits or stopped.' },
  'rollout-rollback': {
    ...{ title: 'Take a roll-out back', isDestructive: true },
    description: 'Gives each copy back what it had before the roll-out.',
  },
};

const toolName = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_');

const operationTool = (operation: Operation, roles: readonly StudioRole[]): OperatorTool => ({
  ...{ name: toolName(operation.name), title: operation.summary, reads: true, roles, tells: operation.reads },
  description: operation.description ?? operation.summary,
  inputSchema: inputSchemaOf(operation.input),
  does: { kind: 'operation', operation },
});

const commandTool = (command: AdminCommand, { title, description, isDestructive }: Offered): OperatorTool => ({
  ...{ name: toolName(command.name), title, description },
  ...(isDestructive === undefined ? {} : { isDestructive }),
  reads: commandRoles[command.name]?.isChange !== true,
  roles: commandRoles[command.name]?.roles ?? [],
  tells: commandRoles[command.name]?.reads ?? 'rows',
  inputSchema: inputSchemaOf(command.input),
  does: { kind: 'command', command },
});

const processTool = (process: ProcessRead): OperatorTool => ({
  ...{ name: process.name, title: process.title, description: process.description, roles: process.roles },
  ...{ reads: true, tells: process.reads },
  inputSchema: inputSchemaOf(process.input),
  does: { kind: 'process', process },
});

/** Whether an assistant may call it: what reads, and answers JSON without rows of tenants. */
const isOffered = (operation: Operation): boolean =>
  !isChange(operation) && operation.reads !== 'rows' && operation.contentType === 'application/json';

/** Every tool, by name. */
export const operatorTools = (
  operations: Readonly<Record<string, Operation>>,
  commands: readonly AdminCommand[],
): readonly OperatorTool[] => [
  ...Object.values(operations).flatMap((operation) =>
    operation.roles !== undefined && isOffered(operation) ? [operationTool(operation, operation.roles)] : [],
  ),
  ...commands.flatMap((command) => {
    const entry = Object.hasOwn(offered, command.name) ? offered[command.name] : undefined;
    return entry === undefined ? [] : [commandTool(command, entry)];
  }),
  ...processReads.map(processTool),
];

/** Those that the person's roles and access to data allow. The others do not exist for this person. */
export const toolsFor = (person: Person, tools: readonly OperatorTool[]): readonly OperatorTool[] =>
  tools.filter(({ roles, tells }) => hasRole(person, roles) && (person.seesData || !needsData(tells)));
