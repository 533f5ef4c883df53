/**
 * Making and rotating keys, by owners who see data, because a key can read rows of tenants. The new key is in one answer
 * and nowhere else: neither in the audit nor in a log line. No key that exists reaches a browser. Assistants have no such tool.
 */
import type { Request, Response } from 'express';
import { z } from 'zod';
import { identifier, limits, text } from '../contract/fields.js';
import type { ApiKeyCaller, Caller, ServiceCaller } from '../domain/guest/caller.js';
import { Refusal } from '../domain/refusal.js';
import { nameInRecords, type Person } from '../domain/studio/person.js';
import type { Audit } from '../gateway/audit/audit.js';
import type { Origins } from '../gateway/authenticate/credential.js';
import type { Dispatch } from '../http/bind.js';
import { sendAnswer } from '../http/operations.js';
import { goneSignal } from '../http/sending.js';
import { assertReads, assertRole } from './access.js';
import { loggedInOf, readInput, requestIdOf } from './requests.js';
import type { StudioSessions } from './sessions.js';

/** `dataApp` null: a service token of the organization. */
type Named = { readonly dataApp: string | null; readonly name: string };

/** The caller that the current key of this name is. Undefined: there is no such key. */
export type FindKey = (named: Named) => Promise<ApiKeyCaller | ServiceCaller | undefined>;

type Options = {
  readonly sessions: StudioSessions;
  readonly origins: Origins;
  readonly dispatch: Dispatch;
  readonly audit: Audit;
  readonly findKey: FindKey;
};

const named = { dataApp: identifier.nullable(), name: identifier };
const createInput = z.strictObject({ ...named, description: text.optional() });
const rotateInput = z.strictObject({ ...named, graceSeconds: z.int().min(0).max(limits.graceSeconds) });

/** An id that no stored service token has: a person is no service token. */
const noToken = '00000000-0000-0000-0000-000000000000';

type Asked = { readonly command: string; readonly caller: Caller; readonly path: string; readonly body: object };

/** Records the change, has it made, and answers what the service answers. */
const createRun =
  ({ dispatch, audit }: Options) =>
  async (response: Response, person: Person, { dataApp, name }: Named, asked: Asked): Promise<void> => {
    const { command, caller, path, body } = asked;
    const requestId = requestIdOf(response);
    const detail = { command, operator: nameInRecords(person), key: name, ...(dataApp === null ? {} : { dataApp }) };
    const record = (code: string, step: string): Promise<void> =>
      audit.record({ kind: 'admin', code, requestId, detail: { ...detail, step } });
    // Before the change: what cannot be recorded must not happen.
    await record('OK', 'asked');
    const signal = goneSignal(response, requestId);
    const answer = await dispatch({
      ...{ method: 'POST', path, query: {}, authorization: undefined, caller, requestId, signal },
      readBody: async () => body,
    });
    if (answer === undefined) throw new Refusal('NOT_FOUND', 'There is no such path.');
    if (answer.refused !== undefined) await record(answer.refused.code, 'refused');
    response.set('Cache-Control', 'no-store');
    await sendAnswer(response, answer);
  };

export const createKeyPaths = (options: Options) => {
  const { findKey } = options;
  const loggedIn = loggedInOf(options);
  const run = createRun(options);
  const owner = async (request: Request): Promise<Person> => {
    const { person } = (await loggedIn(request)).session;
    assertRole(person, 'making and rotating keys', []);
    // With a key, its holder can read rows of every tenant.
    assertReads(person, 'rows');
    return person;
  };
  return {
    create: async (request: Request, response: Response): Promise<void> => {
      const person = await owner(request);
      const { dataApp, name, description } = await readInput(request, createInput);
      const own = { name, ...(dataApp === null ? {} : { dataAppName: dataApp }) };
      await run(
        response,
        person,
        { dataApp, name },
        {
          ...{ command: 'key-create', caller: { kind: 'serviceToken', tokenId: noToken, person } },
          path: dataApp === null ? '/api/v2/service-token' : '/api/v2/data-app/api-tokens',
          body: { ...own, ...(description === undefined || dataApp === null ? {} : { description }) },
        },
      );
    },
    rotate: async (request: Request, response: Response): Promise<void> => {
      const person = await owner(request);
      const { dataApp, name, graceSeconds } = await readInput(request, rotateInput);
      const caller = await findKey({ dataApp, name });
      if (caller === undefined)
        throw new Refusal('NOT_FOUND', `There is no key named ${JSON.stringify(name)}: read the list again.`);
      await run(
        response,
        person,
        { dataApp, name },
        {
          ...{ command: 'key-rotate', caller, body: { expireAt: graceSeconds } },
          path: dataApp === null ? '/api/v2/service-token/rotate' : '/api/v2/data-app/rotate-api',
        },
      );
    },
  };
};
