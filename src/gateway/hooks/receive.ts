/** What all hooks share: the signed body, its faults, the answer and the line in the log. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { Refusal } from '../../model/refusal.js';
import { BodyTooLarge } from '../../platform/http/wire/body-faults.js';
import { parseJson, readText } from '../../platform/http/wire/body-reader.js';
import type { FlatHeaders } from '../../platform/http/wire/constant-headers.js';
import { requestIdOf } from '../../platform/http/wire/request.js';
import type { Attempt } from '../../platform/limits/credential-guard.js';
import type { Log } from '../../platform/logs/log.js';
import { answerError, explain, type TextAnswer } from '../http/answer.js';
import { createSignatures, type SignatureOptions } from './signature.js';

/** Maximum size of a body in bytes. */
const maxHookBytes = 64 * 1024;
/** Maximum nesting of its JSON. Senders add fields of their own. */
const maxHookLevels = 100;

/** Limits the number of wrong signatures from one address, since the whole body is read to check one. */
export type HookGuard = (request: IncomingMessage) => Attempt;

export type SignedOptions = SignatureOptions & { readonly guard: HookGuard };

/** Runs `verify`, and counts its AUTHENTICATION_ERROR as a wrong signature. Throws RATE_LIMITED after too many. */
export const whileGuarded = async <T>(
  guard: HookGuard,
  request: IncomingMessage,
  verify: () => Promise<T>,
): Promise<T> => {
  const attempt = guard(request);
  attempt.assertMayVerify();
  try {
    return await verify();
  } catch (error) {
    if (error instanceof Refusal && error.code === 'AUTHENTICATION_ERROR') await attempt.failed();
    throw error;
  }
};

/**
 * Returns a reader of the text of a hook, and its id. Throws NOT_FOUND without secrets, AUTHENTICATION_ERROR for a wrong
 * signature and RATE_LIMITED after too many of them.
 */
export const signedReader = ({ guard, ...options }: SignedOptions) => {
  const signatures = createSignatures(options);
  return async (request: IncomingMessage): Promise<{ readonly id: string; readonly text: string }> => {
    if (options.secrets.length === 0) {
      throw new Refusal(
        'NOT_FOUND',
        'Hooks are off: set GUESTLIST_HOOK_SECRETS to the secrets that the host signs with.',
      );
    }
    return whileGuarded(guard, request, async () => {
      const signed = signatures.read(request.headers);
      const text = await readText(request, maxHookBytes);
      await signatures.verify(signed, text);
      return { id: signed.id, text };
    });
  };
};

/** Decodes the body of a hook. Throws INVALID_REQUEST_BODY. `form` shows the fields; others are ignored. */
export const decodeSigned = <T extends z.ZodType>(schema: T, form: string, text: string): z.output<T> => {
  const result = schema.safeParse(parseJson(text, { maxBytes: maxHookBytes, levels: maxHookLevels }));
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`);
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    `The body is not valid: ${faults.join('; ')}. Send ${form}; other fields are ignored.`,
    { reason: 'hook-body-invalid' },
  );
};

/** The log fields of a hook that are known so far. */
export type HookTrace = { readonly requestId: string; tenant?: string; isReplay?: boolean };

export type SendAnswer = (
  request: IncomingMessage,
  response: ServerResponse,
  answer: TextAnswer,
  requestId: string,
) => unknown;

/** No later attempt could fit: Svix stops to repeat a message then (https://docs.svix.com/receiving/delivery-control). */
const abortMessage: FlatHeaders = ['Webhook-Delivery', 'abort-message'];

const shown = (data: object, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(data).filter(([name]) => names.includes(name)));

const logAccepted = (log: Log, line: HookTrace & { readonly hook: string }, data: object): void => {
  if ('ignored' in data) {
    const { ignored: reason, ...more } = data;
    log.info({ event: 'hook.ignored', ...line, code: 'OK', reason, ...shown(more, ['type']) }, 'hook');
  } else log.info({ event: 'hook.accepted', ...line, code: 'OK', ...shown(data, ['state', 'hint']) }, 'hook');
};

/** Sends the responses to hooks in the format of the interface, `{data, error}`, and logs the outcome of each hook. */
export const createReceiver =
  (send: SendAnswer, log: Log) =>
  async (
    hook: string,
    answer: (request: IncomingMessage, trace: HookTrace) => Promise<object>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const trace: HookTrace = { requestId: requestIdOf(request) };
    try {
      if (request.method !== 'POST') throw new Refusal('METHOD_NOT_ALLOWED', 'Send POST.');
      const data = await answer(request, trace);
      const body = JSON.stringify({ data, error: null });
      send(request, response, { status: 200, body, headers: [] }, trace.requestId);
      logAccepted(log, { ...trace, hook }, data);
    } catch (error) {
      const refused = answerError(error);
      const headers = error instanceof BodyTooLarge ? [...refused.headers, ...abortMessage] : refused.headers;
      send(request, response, { ...refused, headers }, trace.requestId);
      const line = { ...trace, hook, code: refused.code, ...explain(error) };
      if (refused.status >= 500) log.error({ event: 'hook.failed', ...line }, 'hook');
      else log.warn({ event: 'hook.refused', ...line }, 'hook');
    }
  };
