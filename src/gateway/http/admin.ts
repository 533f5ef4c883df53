/**
 * Serves the admin commands of a running gateway, for operators and the command line: `POST /gateway/admin/<command>`
 * with the gateway token as Bearer and the command's input as JSON. Responds with `{data, error}`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from '../../model/refusal.js';
import { parseJson, readText } from '../../platform/http/wire/body-reader.js';
import { requestIdOf } from '../../platform/http/wire/request.js';
import { goneSignal, json, send, sendData } from '../../platform/http/wire/sending.js';
import { hashToken, isSameHash } from '../../platform/keys/keys.js';
import { severalSecrets } from '../../platform/keys/several-secrets.js';
import type { Log } from '../../platform/logs/log.js';
import { bearerOf } from '../authenticate/credential.js';
import type { RequestGuard } from '../authenticate/limits.js';
import { type AdminCommand, type RunBy, tokenRun } from '../common/admin-command.js';
import { answerError, explain } from './answer.js';

export type AdminOptions = {
  readonly commands: readonly AdminCommand[];
  /** If null, every call is refused. */
  readonly gatewayToken: string | null;
  readonly guard: RequestGuard;
  readonly log: Log;
};

const maxInputBytes = 1024 * 1024;
/** Levels of JSON. The inputs of some commands contain whole dashboards. */
const maxInputLevels = 100;

/**
 * Returns the gateway token that was given: one of several, while one replaces another. Compares it before counting
 * failures, so that the right token is never refused because of wrong ones.
 */
const assertOperator = async (
  request: IncomingMessage,
  { gatewayToken, guard }: Pick<AdminOptions, 'gatewayToken' | 'guard'>,
): Promise<string> => {
  const bearer = bearerOf(request.headers);
  const given = bearer === null ? null : hashToken(bearer);
  const accepted = gatewayToken === null ? [] : severalSecrets(gatewayToken).map(hashToken);
  if (bearer !== null && given !== null && accepted.some((one) => isSameHash(given, one))) return bearer;
  if (given !== null) await guard(request, given).failed();
  throw new Refusal(
    'AUTHENTICATION_ERROR',
    'Send the gateway token as "Authorization: Bearer <token>": GUESTLIST_GATEWAY_TOKEN, or gatewayToken of credentials.json.',
  );
};

const readInput = async (request: IncomingMessage): Promise<unknown> =>
  parseJson(await readText(request, maxInputBytes), { maxBytes: maxInputBytes, levels: maxInputLevels });

/**
 * The fields of a command's input that are logged. They are names and ids, and never contain claims, filters or
 * secrets.
 */
const targetFields = [
  'by',
  'clientId',
  'clientIds',
  'tenant',
  'issuer',
  'subject',
  'template',
  'templates',
  'canary',
  'id',
  'digest',
  'request',
  'requestId',
];
const maxNamed = 10;

const shorten = (value: unknown): unknown => {
  if (typeof value === 'string') return value.slice(0, 255);
  return Array.isArray(value) ? value.slice(0, maxNamed).map(shorten) : null;
};

const targetOf = (input: unknown): Readonly<Record<string, unknown>> => {
  if (typeof input !== 'object' || input === null) return {};
  const named = targetFields.filter((field) => Object.hasOwn(input, field));
  return Object.fromEntries(named.map((field) => [field, shorten(Reflect.get(input, field))]));
};

/** The header with the operator's name, for the log. The name is not verified; only the token is. */
export const operatorHeader = 'x-guestlist-operator';

/**
 * Returns the operator for the log: the given name, and the first digits of the token's hash, which distinguish tokens
 * without revealing them.
 */
const operatorOf = ({ headers }: IncomingMessage, gatewayToken: string) => {
  const name = headers[operatorHeader];
  const isPlain = typeof name === 'string' && /^[\w.@+-]{1,64}$/.test(name);
  const credential = `gateway-token ${hashToken(gatewayToken).slice(0, 8)}`;
  return isPlain ? { credential, name } : { credential, name: undefined };
};

/** As records name it: the name that was given, or the digits that tell tokens apart. */
const operatorRun = ({ credential, name }: ReturnType<typeof operatorOf>): RunBy => ({
  ...tokenRun,
  name: name === undefined ? credential : `gateway-token ${name}`,
});

/** The log fields of a call that are known so far. */
type Noted = { operator?: ReturnType<typeof operatorOf>; target?: Readonly<Record<string, unknown>> };

export type Admin = (request: IncomingMessage, response: ServerResponse, command: string) => Promise<void>;

/** Creates the handler of admin commands. Logs every call with its name, outcome, operator and target. */
export const createAdmin = ({ commands, gatewayToken, guard, log }: AdminOptions): Admin => {
  const byName = new Map(commands.map((command) => [command.name, command]));
  const answer = async (
    request: IncomingMessage,
    name: string,
    noted: Noted,
    signal: AbortSignal,
  ): Promise<unknown> => {
    noted.operator = operatorOf(request, await assertOperator(request, { gatewayToken, guard }));
    const command = byName.get(name);
    if (command === undefined) {
      throw new Refusal('NOT_FOUND', `There is no command "${name}". There are: ${[...byName.keys()].join(', ')}.`);
    }
    if (request.method !== 'POST') throw new Refusal('METHOD_NOT_ALLOWED', 'Send POST.');
    const input = await readInput(request);
    noted.target = targetOf(input);
    return command.run(input, operatorRun(noted.operator), signal);
  };
  return async (request, response, command) => {
    const requestId = requestIdOf(request);
    const noted: Noted = {};
    try {
      const data = await answer(request, command, noted, goneSignal(response, requestId));
      await sendData(response, data, [...json, 'X-Request-Id', requestId]);
      log.info({ event: 'command.completed', requestId, command, code: 'OK', ...noted }, 'admin command');
    } catch (error) {
      const refused = answerError(error);
      send(response, { ...refused, headers: [...json, 'X-Request-Id', requestId, ...refused.headers] });
      const line = { requestId, command, code: refused.code, ...noted, ...explain(error) };
      if (refused.status >= 500) log.error({ event: 'command.failed', ...line }, 'admin command');
      else log.warn({ event: 'command.refused', ...line }, 'admin command');
    }
  };
};
