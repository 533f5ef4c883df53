/**
 * Reads the body of a request, for the service and the gateway: as text, as JSON, or as a form if the binding accepts
 * one. A body that cannot be read is INVALID_REQUEST_BODY; a body that is too large is answered with 413.
 */
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Multipart } from '../interface/operation.js';
import { assertFewJson, BodyTooLarge, bodyFault, type JsonBounds, otherType } from './body-faults.js';
import { decodeForm } from './forms.js';

/** The bodies that an operation accepts. */
export type BodyWanted = { readonly maxBytes: number; readonly multipart?: Multipart | undefined };

/** Called only after the caller is authenticated. Returns undefined if there is no body. */
export type ReadBody = (wanted: BodyWanted) => Promise<unknown>;

type ParsedMessage = IncomingMessage & { body?: unknown };

const isJson = ({ headers }: IncomingMessage): boolean =>
  /^application\/json *(;|$)/i.test(headers['content-type'] ?? '');

const isForm = ({ headers }: IncomingMessage): boolean =>
  /^multipart\/form-data *(;|$)/i.test(headers['content-type'] ?? '');

/** Whether the request announces a body of at least one byte. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Rejects as soon as more than `maxBytes` arrived. It then drops the rest instead of pausing the request, since a
 * paused request would block the next one on its connection.
 */
const readBytes = (request: IncomingMessage, maxBytes: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const endedEarly = (): void => {
      if (!request.readableEnded) reject(bodyFault('aborted'));
    };
    // The stream has already ended, or its caller disconnected before. No event would ever arrive, and the request
    // would hang.
    if (request.readableEnded) reject(bodyFault('readBefore'));
    else if (request.destroyed) endedEarly();
    let chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      chunks = [];
      reject(new BodyTooLarge(maxBytes, true));
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', endedEarly);
    request.on('close', endedEarly);
  });

type Unpack = (packed: Buffer, limit: { readonly maxOutputLength: number }) => Promise<Buffer>;

const unpackers: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ['identity', async (bytes) => bytes],
  ['gzip', promisify(gunzip) as Unpack],
  ['deflate', promisify(inflate) as Unpack],
  ['br', promisify(brotliDecompress) as Unpack],
]);

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';

/**
 * Returns the unpacked bytes. The limit applies to packed and unpacked size. A body whose Content-Length is too large
 * is not read.
 */
const readUnpacked = async (request: IncomingMessage, maxBytes: number): Promise<Buffer> => {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw new BodyTooLarge(maxBytes, false);
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined) return readBytes(request, maxBytes);
  const unpack = unpackers.get(encoding.toLowerCase());
  if (unpack === undefined) throw bodyFault('encoding');
  const packed = await readBytes(request, maxBytes);
  return unpack(packed, { maxOutputLength: maxBytes }).catch((cause: unknown) => {
    throw isTooLarge(cause) ? new BodyTooLarge(maxBytes, true) : bodyFault('packed', cause);
  });
};

const isUtf8 = (contentType: string): boolean => {
  const [, charset] = /; *charset *= *"?([^";]*)"? *(?:;|$)/i.exec(contentType) ?? [];
  return charset === undefined || /^utf-?8 *$/i.test(charset);
};

/**
 * Returns the body as text, not parsed, so that its signature can be checked. Throws INVALID_REQUEST_BODY or
 * BodyTooLarge.
 */
export const readText = async (request: IncomingMessage, maxBytes: number): Promise<string> =>
  (await readUnpacked(request, maxBytes)).toString('utf8');

// TextDecoder removes a byte order mark, which JSON.parse refuses.
const decoder = new TextDecoder();

/** Parses the text of a body. Empty text is an object without fields. Throws INVALID_REQUEST_BODY. */
export const parseJson = (text: string, bounds: JsonBounds): unknown => {
  if (text === '') return {};
  assertFewJson(text, bounds);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw bodyFault('json', cause);
  }
};

/** Returns the body that a parser of the host's app has already read: as a value, a text or bytes. */
const parsedBefore = (parsed: unknown, bounds: JsonBounds): unknown =>
  typeof parsed === 'string' || Buffer.isBuffer(parsed) ? parseJson(parsed.toString('utf8'), bounds) : parsed;

/**
 * Reads a JSON body, or returns the one that the host's own parser has read. Throws INVALID_REQUEST_BODY or
 * BodyTooLarge. Call it only if the request has a body.
 */
export const readJson = async (request: ParsedMessage, maxBytes: number): Promise<unknown> => {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw new BodyTooLarge(maxBytes, false);
  if (!isJson(request)) throw otherType(request);
  if (request.body !== undefined) return parsedBefore(request.body, { maxBytes });
  if (!isUtf8(request.headers['content-type'] ?? '')) throw bodyFault('charset');
  return parseJson(decoder.decode(await readUnpacked(request, maxBytes)), { maxBytes });
};

/** Returns a reader of the request's body. It rejects with INVALID_REQUEST_BODY or BodyTooLarge. */
export const bodyOf =
  (request: ParsedMessage): ReadBody =>
  async ({ maxBytes, multipart }) => {
    if (!hasBody(request)) {
      // An empty JSON body is an object without fields.
      return request.body ?? (request.headers['content-length'] === '0' && isJson(request) ? {} : undefined);
    }
    if (multipart === undefined || !isForm(request)) return readJson(request, maxBytes);
    // A parser of the host's app may have already read the form.
    if (request.body !== undefined) return request.body;
    const form = await readUnpacked(request, maxBytes);
    return decodeForm(form, request.headers['content-type'] ?? '', multipart);
  };
