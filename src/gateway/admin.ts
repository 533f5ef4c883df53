/**
 * The operators' way to a running gateway, and the command line's: `POST /gateway/admin/<command>` with the gateway token as
 * Bearer and the command's input as JSON. Answers `{data, error}` as the interface does.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { Refusal } from '../domain/refusal.js';
import { hashToken, isSameHash } from '../platform/keys.js';
import type { Log } from '../platform/log.js';
import { type Answer, answerError, explain, noHeaders } from './http/answer.js';
import { readText } from './http/body.js';
import { bearerOf } from './sessions/credential.js';

/** What an operator can have done. */
export type AdminCommand = {
  /** Kebab-case: the last part of its path. */
  readonly name: string;
  /** Decodes the input and runs. Throws INVALID_REQUEST_BODY, and what the command refuses. */
  readonly run: (input: unknown) => Promise<unknown>;
};

const decodeInput = <Input extends z.ZodType>(name: string, schema: Input, input: unknown): z.output<Input> => {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => `${path.join('.') || 'the input'}: ${message}`);
  throw new Refusal('INVALID_REQUEST_BODY', `The input of ${name} is not valid: ${faults.join('; ')}.`);
};

/** Declares a command: what it takes is checked before it runs. */
export const adminCommand = <Input extends z.ZodType>(
  name: string,
  input: Input,
  run: (input: z.output<Input>) => Promise<unknown>,
): AdminCommand => ({ name, run: async (given) => run(decodeInput(name, input, given)) });

export type AdminOptions = {
  readonly commands: readonly AdminCommand[];
  /** Null: nobody is let in. */
  readonly gatewayToken: string | null;
  readonly log: Log;
};

const maxInputBytes = 1024 * 1024;

const assertOperator = (request: IncomingMessage, gatewayToken: string | null): void => {
  const bearer = bearerOf(request.headers);
  if (gatewayToken !== null && bearer !== null && isSameHash(hashToken(bearer), hashToken(gatewayToken))) return;
  throw new Refusal(
    'AUTHENTICATION_ERROR',
    'Send the gateway token as "Authorization: Bearer <token>": GUESTLIST_GATEWAY_TOKEN, or gatewayToken of credentials.json.',
  );
};

/** U+0000 and halves of characters: no database keeps them in a text, and not every encoding can write them. */
const isKept = (text: string): boolean => !text.includes('\0') && !/\p{Cs}/u.test(text);

const parseInput = (text: string): unknown => {
  if (text.trim() === '') return {};
  let isKeepable = true;
  let input: unknown;
  try {
    input = JSON.parse(text, (key, value: unknown) => {
      isKeepable &&= isKept(key) && (typeof value !== 'string' || isKept(value));
      return value;
    });
  } catch (cause) {
    throw new Refusal('INVALID_REQUEST_BODY', 'The body is not valid JSON.', { cause });
  }
  if (isKeepable) return input;
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    'The body holds U+0000 or half a character (a lone surrogate): leave it out.',
  );
};

export type Admin = (request: IncomingMessage, response: ServerResponse, command: string) => Promise<void>;

/** Answers one command. Every call is logged by its name and outcome. */
export const createAdmin = ({ commands, gatewayToken, log }: AdminOptions): Admin => {
  const byName = new Map(commands.map((command) => [command.name, command]));
  const answer = async (request: IncomingMessage, name: string): Promise<unknown> => {
    assertOperator(request, gatewayToken);
    const command = byName.get(name);
    if (command === undefined) {
      throw new Refusal('NOT_FOUND', `There is no command "${name}". There are: ${[...byName.keys()].join(', ')}.`);
    }
    if (request.method !== 'POST') throw new Refusal('METHOD_NOT_ALLOWED', 'Send POST.');
    return command.run(parseInput(await readText(request, maxInputBytes)));
  };
  const send = (response: ServerResponse, { status, body, headers }: Answer): void => {
    const constant = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];
    response.writeHead(status, [...constant, ...headers]);
    response.end(body);
  };
  return async (request, response, command) => {
    try {
      const data = await answer(request, command);
      send(response, { status: 200, body: JSON.stringify({ data: data ?? null, error: null }), headers: noHeaders });
      log.info({ command, code: 'OK' }, 'admin');
    } catch (error) {
      const refused = answerError(error);
      send(response, refused);
      log[refused.status >= 500 ? 'error' : 'warn']({ command, code: refused.code, ...explain(error) }, 'admin');
    }
  };
};
