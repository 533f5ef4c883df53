/** What is answered where a body could not be read, or a request failed before an operation answered. */
import type { IncomingMessage } from 'node:http';
import { limits } from '../contract/fields.js';
import { findUnavailable } from '../domain/unavailable.js';
import type { Log } from '../platform/log.js';
import { envelope, failureMessage, tooLarge, unavailable } from './envelope.js';

type Envelope = ReturnType<typeof envelope>;

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const invalid = (message: string): Envelope => envelope('INVALID_REQUEST_BODY', message, 400);

/** For a body that is not JSON. */
export const otherType = ({ headers }: IncomingMessage): Envelope =>
  invalid(`The body's Content-Type is ${headers['content-type']?.slice(0, 100) ?? 'none'}; send application/json.`);

const typeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : '';

const limitOf = (error: unknown): number =>
  typeof error === 'object' && error !== null && 'limit' in error ? Number(error.limit) : limits.bodyBytes;

const jsonPosition = (error: unknown): string => {
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  return position === undefined ? '' : ` (at position ${position})`;
};

/** What reading a body can find wrong; the parser's own text would repeat the body. */
const bodyFaults: Readonly<Record<string, (error: unknown) => string>> = {
  'entity.parse.failed': (error) => `The body is not valid JSON${jsonPosition(error)}.`,
  'encoding.unsupported': () => 'The Content-Encoding is not supported; send gzip, deflate, br or none.',
  'charset.unsupported': () => 'The charset is not supported; send UTF-8.',
  'request.size.invalid': () => 'The body is not as long as its Content-Length says.',
  'request.aborted': () => 'The request ended before its body did.',
};

/** The envelope outside, the cause in the log. */
export const answerOf = (
  error: unknown,
  requestId: string,
  log: Log,
): { readonly status: number; readonly body: Envelope } => {
  const type = typeOf(error);
  const fault = bodyFaults[type];
  if (type === 'entity.too.large') return { status: 413, body: tooLarge(limitOf(error)) };
  if (fault !== undefined) return { status: 400, body: invalid(fault(error)) };
  log.error({ err: error, requestId }, 'a request failed');
  if (findUnavailable(error) !== undefined) return { status: 503, body: unavailable(requestId) };
  return { status: 500, body: envelope('INTERNAL_SERVER_ERROR', failureMessage(requestId), 500) };
};
