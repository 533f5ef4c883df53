import type { IncomingMessage } from 'node:http';
import { Refusal } from '../../domain/refusal.js';
import { findJsonExcess, valuesIn } from '../../platform/json-excess.js';
import type { Reason } from '../common/reasons.js';
import { decodeBody, type EmbedTokenBody, maxBodyBytes, parseBody } from '../common/wire.js';

const refuse = (message: string, reason: Reason<'INVALID_REQUEST_BODY'>): Refusal =>
  new Refusal('INVALID_REQUEST_BODY', message, { reason });

/**
 * The reason code of a body that exceeds the limit and was not read completely. Its connection cannot be used again.
 */
export const bodyTooLarge = 'body-too-large';

const jsonType = /^application\/json *(;|$)/i;

const tooLarge = (maxBytes: number): Refusal => refuse(`The body is larger than ${maxBytes} bytes.`, bodyTooLarge);

/**
 * Maximum nesting of JSON. Senders of hooks add fields of their own, and the inputs of some commands contain whole
 * dashboards.
 */
const levels = 100;

/** Returns the text. Throws INVALID_REQUEST_BODY if it has too many values or levels to parse safely. */
export const assertFewJson = (text: string, maxBytes: number): string => {
  const excess = findJsonExcess(text, { levels, values: valuesIn(maxBytes) });
  if (excess !== undefined) throw refuse(`The body has too much in it: ${excess}.`, 'json-excess');
  return text;
};

/**
 * Returns the unparsed body, whose signature can then be checked. Throws INVALID_REQUEST_BODY, also if another parser
 * has read the body already.
 */
export const readText = (request: IncomingMessage, maxBytes: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // A disconnected caller is a fault of the caller, not of the gateway. Only this function handles it.
    const refuseDisconnected = (): void => reject(refuse('The body ended early.', 'body-ended-early'));
    if (request.readableEnded) reject(readBefore());
    // The caller disconnected while its credential was checked, so no further events of the body will occur.
    else if (request.destroyed) refuseDisconnected();
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      request.removeAllListeners('data');
      request.pause();
      reject(tooLarge(maxBytes));
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.on('error', refuseDisconnected);
    request.on('close', refuseDisconnected);
  });

const readBefore = (): Refusal =>
  refuse('Another parser read the body before the gateway. Mount the gateway before body parsers.', 'body-read-before');

const hasBody = ({ headers }: IncomingMessage): boolean => {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
};

const parseFew = (text: string): EmbedTokenBody => parseBody(assertFewJson(text, maxBodyBytes));

/** Returns the body that the host application has already parsed, if the gateway is mounted behind a parser. */
const parsedBefore = (request: IncomingMessage): EmbedTokenBody => {
  const parsed: unknown = 'body' in request ? request.body : undefined;
  if (typeof parsed === 'string' || Buffer.isBuffer(parsed)) return parseFew(parsed.toString('utf8'));
  if (parsed !== undefined) return decodeBody(parsed);
  throw readBefore();
};

/** Reads and decodes the body. Returns {} for a request without a body. Throws INVALID_REQUEST_BODY. */
export const readBody = (request: IncomingMessage): EmbedTokenBody | Promise<EmbedTokenBody> => {
  if (!hasBody(request)) return {};
  const { 'content-type': type = '', 'content-length': length } = request.headers;
  if (Number(length ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes);
  if (!jsonType.test(type)) {
    throw refuse('The body must be sent as Content-Type: application/json, or left out.', 'body-not-json');
  }
  return request.readableEnded ? parsedBefore(request) : readText(request, maxBodyBytes).then(parseFew);
};
