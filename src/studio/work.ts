/**
 * What a person has done for them: operations of the service and commands of the gateway. Each is checked against the
 * person's roles, and each change is in the audit before it is made. Pages and assistants both come here.
 */
import type { Audit } from '../gateway/audit/audit.js';
import type { AdminCommand } from '../gateway/common/admin-command.js';
import type { ApiKeyCaller, Caller, ServiceCaller } from '../model/guest/caller.js';
import { nameInRecords, type Person, type StudioSession } from '../model/person.js';
import { Refusal } from '../model/refusal.js';
import { type Callable, ruleFor } from '../platform/http/interface/callable.js';
import type { Operation } from '../platform/http/interface/operation.js';
import type { Dispatch, DispatchRequest, DispatchResponse } from '../platform/http/wire/bind.js';
import { createRoutes, withoutCondition } from '../platform/http/wire/routes.js';
import { inSpan } from '../platform/traces/trace.js';
import { assertMay, notOffered } from './access.js';

export type WorkDeps = {
  readonly operations: Readonly<Record<string, Operation>>;
  readonly dispatch: Dispatch;
  /** The data app of the policy, in whose name operations that need one are called. */
  readonly dataApp: () => Promise<ApiKeyCaller>;
  readonly commands: readonly AdminCommand[];
  readonly audit: Audit;
};

export type AskedOperation = Omit<DispatchRequest, 'authorization' | 'caller' | 'requestId'> & {
  readonly requestId: string;
};

export type Work = {
  /** Calls the operation at a path. Throws NOT_FOUND, METHOD_NOT_ALLOWED, or UNAUTHORIZED if a role is missing. */
  readonly callOperation: (person: Person, request: AskedOperation) => Promise<DispatchResponse>;
  /** Runs a command. `readInput` is called only if the person may run the command with some input. */
  readonly runCommand: (
    session: StudioSession,
    asked: {
      readonly name: string;
      readonly readInput: () => Promise<unknown>;
      readonly requestId: string;
      readonly signal?: AbortSignal;
    },
  ) => Promise<unknown>;
};

/** An id that no stored service token has: a person is no service token. */
export const noToken = '00000000-0000-0000-0000-000000000000';

const noOperation = (path: string): Refusal =>
  new Refusal('NOT_FOUND', `There is no operation at ${path.slice(0, 200)}.`);

type Asking = { readonly person: Person; readonly requestId: string; readonly input: unknown };

/**
 * Writes a change to the audit before it is made: what cannot be recorded must not happen. The returned function adds
 * that it was refused.
 */
const announce = async (
  audit: Audit,
  { name, isChange, input: schema, auditDetail }: Callable,
  { person, requestId, input }: Asking,
): Promise<(code: string) => Promise<void>> => {
  if (!isChange) return async () => {};
  const { success, data } = schema.safeParse(input);
  const detail = { command: name, operator: nameInRecords(person), ...(success ? auditDetail?.(data) : {}) };
  const record = (code: string, step: string): Promise<void> =>
    audit.record({ kind: 'admin', code, requestId, detail: { ...detail, step } });
  await record('OK', 'asked');
  return (code) => record(code, 'refused');
};

/** Calls operations in the name of the organization or of the policy's data app. */
const createCallOperation = ({ operations, dispatch, dataApp, audit }: WorkDeps): Work['callOperation'] => {
  const find = createRoutes(Object.values(operations));
  const callerOf = async ({ credentials }: Operation, person: Person): Promise<Caller> => {
    if (!credentials.includes('serviceToken')) return { ...(await dataApp()), person };
    return { kind: 'serviceToken', tokenId: noToken, person } satisfies ServiceCaller;
  };
  return async (person, request) => {
    const { method, path, requestId } = request;
    const found = find(method, path);
    if (found === undefined) throw noOperation(path);
    if ('allowed' in found) throw new Refusal('METHOD_NOT_ALLOWED', `Send ${found.allowed.join(' or ')}.`);
    // The body decides between operations of one path, so all of them must be allowed.
    for (const { operation } of found.matches) assertMay(person, operation.name, operation);
    const { operation } = withoutCondition(found);
    const refused = await announce(audit, operation, { person, requestId, input: undefined });
    const caller = await callerOf(operation, person);
    const answer = await dispatch({ ...request, authorization: undefined, caller });
    if (answer === undefined) throw noOperation(path);
    if (answer.refused !== undefined) await refused(answer.refused.code);
    return answer;
  };
};

const createRunCommand = ({ commands, audit }: WorkDeps): Work['runCommand'] => {
  const byName = new Map(commands.map((command) => [command.name, command]));
  return async (session, { name, readInput, requestId, signal }) => {
    const { person } = session;
    const command = byName.get(name);
    if (command === undefined) throw notOffered(name);
    assertMay(person, name, command);
    const input = await readInput();
    assertMay(person, name, ruleFor(command, input));
    const refused = await announce(audit, command, { person, requestId, input });
    const { seesData, roles } = person;
    const by = { name: nameInRecords(person), seesData, roles, studio: { session, requestId } };
    const run = () => command.run(input, by, signal);
    const span = { name: 'command', attributes: () => ({ 'guestlist.command': command.name }) };
    return inSpan(span, run).catch(async (error: unknown) => {
      if (error instanceof Refusal) await refused(error.code);
      throw error;
    });
  };
};

export const createWork = (deps: WorkDeps): Work => ({
  callOperation: createCallOperation(deps),
  runCommand: createRunCommand(deps),
});
