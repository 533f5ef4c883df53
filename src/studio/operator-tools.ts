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
import { isChange } from './work.js';

export type OperatorTool = Described & {
  readonly roles: readonly StudioRole[];
  readonly tells: Reads;
  readonly does:
    | { readonly kind: 'operation'; readonly operation: Operation }
    | { readonly kind: 'command'; readonly command: AdminCommand };
};

const toolName = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_');

const operationTool = (operation: Operation, roles: readonly StudioRole[]): OperatorTool => ({
  ...{ name: toolName(operation.name), title: operation.summary, reads: true, roles, tells: operation.reads },
  description: operation.description ?? operation.summary,
  inputSchema: inputSchemaOf(operation.input),
  does: { kind: 'operation', operation },
});

/** A command without words for assistants is for people alone: erasing tenants and writing policies are. */
const commandTool = (command: AdminCommand): readonly OperatorTool[] => {
  const { name, input, studio, tool } = command;
  if (studio === null || tool === undefined) return [];
  const { title, description, isDestructive } = tool;
  return [
    {
      ...{ name: toolName(name), title, description },
      ...(isDestructive === undefined ? {} : { isDestructive }),
      ...{ reads: studio.isChange !== true, roles: studio.roles, tells: studio.reads },
      inputSchema: inputSchemaOf(input),
      does: { kind: 'command', command },
    },
  ];
};

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
  ...commands.flatMap(commandTool),
];

/** Those that the person's roles and access to data allow. The others do not exist for this person. */
export const toolsFor = (person: Person, tools: readonly OperatorTool[]): readonly OperatorTool[] =>
  tools.filter(({ roles, tells }) => hasRole(person, roles) && (person.seesData || !needsData(tells)));
