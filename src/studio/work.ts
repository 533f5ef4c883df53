/**
 * What a person has done for them: operations of the service and commands of the gateway. Each is checked against the
 * person's roles, and each change is in the audit before it is made. Pages and assistants both come here.
 */
import type { Operation } from '../contract/operation.js';
import type { ApiKeyCaller, Caller, ServiceCaller } from '../domain/guest/caller.js';
import { isRecord } from '../domain/is-record.js';
import { Refusal } from '../domain/refusal.js';
import { nameInRecords, type Person, type StudioSession } from '../domain/studio/person.js';
import type { Audit } from '../gateway/audit/audit.js';
import type { AdminCommand, CommandRule, StudioRule } from '../gateway/common/admin-command.js';
import type { Dispatch, DispatchRequest, DispatchResponse } from '../http/bind.js';
import { createRoutes, withoutCondition } from '../http/routes.js';
import { assertReads, assertRole, notOffered } from './access.js';

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
const noToken = '00000000-0000-0000-0000-000000000000';

export const isChange = ({ readsOnly, bindings }: Operation): boolean =>
  readsOnly !== true && bindings.some(({ method }) => method !== 'GET');

const noOperation = (path: string): Refusal =>
  new Refusal('NOT_FOUND', `There is no operation at ${path.slice(0, 200)}.`);

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
    for (const { operation } of found.matches) {
      assertRole(person, operation.name, operation.roles);
      assertReads(person, operation.reads);
    }
    const { operation } = withoutCondition(found);
    const detail = { command: operation.name, operator: nameInRecords(person) };
    const record = (code: string, step: string): Promise<void> =>
      audit.record({ kind: 'admin', code, requestId, detail: { ...detail, step } });
    // Before the change: what cannot be recorded must not happen.
    if (isChange(operation)) await record('OK', 'asked');
    const caller = await callerOf(operation, person);
    const answer = await dispatch({ ...request, authorization: undefined, caller });
    if (answer === undefined) throw noOperation(path);
    if (isChange(operation) && answer.refused !== undefined) await record(answer.refused.code, 'refused');
    return answer;
  };
};

/** Who may run a command with this input, and what the answer tells. */
const ruleFor = (rule: StudioRule, input: unknown): CommandRule => {
  const { narrower } = rule;
  return narrower !== undefined && isRecord(input) && Object.hasOwn(input, narrower.field) ? narrower : rule;
};

const createRunCommand = ({ commands, audit }: WorkDeps): Work['runCommand'] => {
  const byName = new Map(commands.map((command) => [command.name, command]));
  return async (session, { name, readInput, requestId, signal }) => {
    const { person } = session;
    const command = byName.get(name);
    const rule = command?.studio ?? null;
    if (command === undefined || rule === null) throw notOffered(name);
    const assertMay = ({ roles, reads }: CommandRule): void => {
      assertRole(person, name, roles);
      assertReads(person, reads);
    };
    assertMay(rule);
    const input = await readInput();
    assertMay(ruleFor(rule, input));
    const operator = nameInRecords(person);
    // Before the command: what cannot be recorded must not happen.
    if (rule.isChange === true) {
      const { success, data } = command.input.safeParse(input);
      const detail = { command: name, operator, ...(success ? rule.auditDetail?.(data) : {}) };
      await audit.record({ kind: 'admin', code: 'OK', requestId, detail });
    }
    const { seesData, roles } = person;
    return command.run(input, { name: operator, seesData, roles, studio: { session, requestId } }, signal);
  };
};

export const createWork = (deps: WorkDeps): Work => ({
  callOperation: createCallOperation(deps),
  runCommand: createRunCommand(deps),
});
