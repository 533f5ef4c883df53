/** What is answered where a body could not be read, or a request failed before an operation answered. */

import type { IncomingMessage } from 'node:http';
import { limits } from '../contract/fields.js';
import type { Reason } from '../domain/reasons.js';
import { Refusal } from '../domain/refusal.js';
import { findUnavailable } from '../domain/unavailable.js';
import { findJsonExcess, valuesIn } from '../platform/json-excess.js';
import type { Log } from '../platform/log.js';
import { envelope, failureMessage, tooLarge, unavailable } from './envelope.js';

/** The body is larger than its operation takes: 413, which no operation declares. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
  constructor(
    maxBytes: number,
    readonly wasRead: boolean,
  ) {
    super(tooLarge(maxBytes).error.message);
  }
}

const invalid = (message: string, reason: Reason, cause?: unknown): Refusal =>
  new Refusal('INVALID_REQUEST_BODY', message, { reason, cause });

/** For a body that is not JSON. spec-gap: an invalid request, not a 415, which the interface does not know. */
export const otherType = ({ headers }: IncomingMessage): Refusal =>
  invalid(
    `The body's Content-Type is ${headers['content-type']?.slice(0, 100) ?? 'none'}; send application/json.`,
    'body-type',
  );

const jsonPosition = (error: unknown): string => {
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  return position === undefined ? '' : ` (at position ${position})`;
};

/** What reading a body can find wrong; the parser's own text would repeat the body. */
const bodyFaults = {
  json: (cause) => `The body is not valid JSON${jsonPosition(cause)}.`,
  encoding: () => 'The Content-Encoding is not supported; send gzip, deflate, br or none.',
  packed: () => 'The body cannot be unpacked: it is not packed as its Content-Encoding says, or it is not whole.',
  charset: () => 'The charset is not supported; send UTF-8.',
  aborted: () => 'The request ended before its body did.',
  readBefore: () => 'The body was read before it came here: mount this in front of what reads it.',
} as const satisfies Readonly<Record<string, (cause: unknown) => string>>;

/** A body that could not be read. */
export class BodyFault extends Error {
  override readonly name = 'BodyFault';
  constructor(kind: keyof typeof bodyFaults, cause?: unknown) {
    super(bodyFaults[kind](cause), { cause });
  }
}

/** Throws INVALID_REQUEST_BODY for what nothing should have to parse; `root` names the whole. */
export const assertFewJson = (text: string, maxBytes: number, root = 'body'): void => {
  const excess = findJsonExcess(text, { levels: limits.depth, values: valuesIn(maxBytes) });
  if (excess !== undefined) throw invalid(`${root}: ${excess}.`, 'json-excess');
};

/** What reading a body throws, as a refusal; anything else as it is. */
export const toBodyFault = (error: unknown): unknown =>
  error instanceof BodyFault ? invalid(error.message, 'body-unreadable', error.cause) : error;

/** The answer to a failure of ours: the envelope outside, the cause in the log. */
export const answerOf = (
  error: unknown,
  requestId: string,
  log: Log,
): { readonly status: number; readonly body: ReturnType<typeof envelope> } => {
  log.error({ event: 'request.crashed', err: error, requestId }, 'a request failed outside of any operation');
  if (findUnavailable(error) !== undefined) return { status: 503, body: unavailable(requestId) };
  return { status: 500, body: envelope('INTERNAL_SERVER_ERROR', failureMessage(requestId), 500) };
};
