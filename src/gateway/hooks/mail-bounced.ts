/** Takes word of a mail server that a message came back, signed as every hook. It can end what it names, and reads nothing. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import { parseJson, readText } from '../../http/body-reader.js';
import { requestIdOf } from '../../http/request-id.js';
import type { Attempt } from '../../platform/credential-guard.js';
import type { Log } from '../../platform/log.js';
import { answerError, explain } from '../http/answer.js';
import { maxHookBytes } from './hooks.js';
import { createSignatures, type Signatures } from './signature.js';

export const mailBouncedPath = '/hooks/mail-bounced';

/** `isHard`: the address will not take mail later either. */
export type Bounce = { readonly deliveryId: string; readonly isHard: boolean };
/** Returns false if no such message was sent, or its return is known. */
export type RecordBounce = (bounce: Bounce) => Promise<boolean>;

export type MailBouncedOptions = {
  /** If empty, hooks are off. */
  readonly secrets: readonly string[];
  readonly toleranceSeconds: number;
  readonly clock: Clock;
  readonly record: RecordBounce;
  /** Limits the number of wrong signatures from one address. */
  readonly guard: (request: IncomingMessage) => Attempt;
  readonly log: Log;
};

/** A message id is the id of its delivery, and the domain of the sender. */
const messageId = z
  .string()
  .max(300)
  .regex(/^<?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}@[^@<>\s]+>?$/, 'must be the Message-ID of a report');
const body = z.object({ messageId, kind: z.enum(['hard', 'soft'], 'must be hard or soft') });

const decode = (text: string): Bounce => {
  const result = body.safeParse(parseJson(text, { maxBytes: maxHookBytes, levels: 100 }));
  if (result.success) {
    const { messageId: id, kind } = result.data;
    return { deliveryId: id.replace(/^<|@.*$/g, ''), isHard: kind === 'hard' };
  }
  const faults = result.error.issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`);
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    `The body is not valid: ${faults.join('; ')}. Send {"messageId": string, "kind": "hard" | "soft"}; other fields are ignored.`,
    { reason: 'hook-body-invalid' },
  );
};

const write = (response: ServerResponse, status: number, text: string, [name, value]: readonly string[] = []): void => {
  if (name !== undefined && value !== undefined) response.setHeader(name, value);
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  response.end(text);
};

/** Returns the signed text. The whole body is read to check a signature, so wrong ones are counted. */
const readSigned = async (request: IncomingMessage, signatures: Signatures, attempt: Attempt): Promise<string> => {
  attempt.assertMayVerify();
  try {
    const signed = signatures.read(request.headers);
    const text = await readText(request, maxHookBytes);
    await signatures.verify(signed, text);
    return text;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'AUTHENTICATION_ERROR') await attempt.failed();
    throw error;
  }
};

/** Answers `{data: {isApplied}, error: null}`, or an error in the format of the interface. */
export const createMailBounced = ({ secrets, record, log, guard, ...options }: MailBouncedOptions) => {
  const signatures = createSignatures({ ...options, secrets });
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const line = { requestId: requestIdOf(request), hook: 'mail-bounced' };
    try {
      if (request.method !== 'POST') throw new Refusal('METHOD_NOT_ALLOWED', 'Send POST.');
      if (secrets.length === 0) throw new Refusal('NOT_FOUND', 'Hooks are off: set GUESTLIST_HOOK_SECRETS.');
      const isApplied = await record(decode(await readSigned(request, signatures, guard(request))));
      write(response, 200, JSON.stringify({ data: { isApplied }, error: null }));
      log.info({ event: 'hook.accepted', ...line, code: 'OK' }, 'hook');
    } catch (error) {
      const answer = answerError(error);
      write(response, answer.status, answer.body, answer.headers);
      const failed = { ...line, code: answer.code, ...explain(error) };
      if (answer.status >= 500) log.error({ event: 'hook.failed', ...failed }, 'hook');
      else log.warn({ event: 'hook.refused', ...failed }, 'hook');
    }
  };
};
