/** Reads the body of a request of Node's own: as JSON, or as a form where the binding takes one. */
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Multipart } from '../contract/operation.js';
import { assertFewJson, BodyFault, BodyTooLarge, otherType, toBodyFault } from './body-faults.js';
import { decodeForm } from './forms.js';

/** What the operation takes. */
export type BodyWanted = { readonly maxBytes: number; readonly multipart: Multipart | undefined };

/** Called once it is known who asks, and never before. Undefined where there is no body. */
export type ReadBody = (wanted: BodyWanted) => Promise<unknown>;

type ParsedMessage = IncomingMessage & { body?: unknown };

const isJson = ({ headers }: IncomingMessage): boolean =>
  /^application\/json *(;|$)/i.test(headers['content-type'] ?? '');

const isForm = ({ headers }: IncomingMessage): boolean =>
  /^multipart\/form-data *(;|$)/i.test(headers['content-type'] ?? '');

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Rejects as soon as more than `maxBytes` came. What follows is dropped as it comes: a request that is paused for good would hold up
 * the next one of its connection.
 */
const readBytes = (request: IncomingMessage, maxBytes: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
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
    const endedEarly = (): void => {
      if (!request.readableEnded) reject(new BodyFault('aborted'));
    };
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

/** The bytes as they were before they were packed, of which the same limit holds. */
const readUnpacked = async (request: IncomingMessage, maxBytes: number): Promise<Buffer> => {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined) return readBytes(request, maxBytes);
  const unpack = unpackers.get(encoding.toLowerCase());
  if (unpack === undefined) throw new BodyFault('encoding');
  const packed = await readBytes(request, maxBytes);
  return unpack(packed, { maxOutputLength: maxBytes }).catch((cause: unknown) => {
    throw isTooLarge(cause) ? new BodyTooLarge(maxBytes, true) : new BodyFault('packed', cause);
  });
};

const isUtf8 = (contentType: string): boolean => {
  const [, charset] = /; *charset *= *"?([^";]*)"? *(?:;|$)/i.exec(contentType) ?? [];
  return charset === undefined || /^utf-?8 *$/i.test(charset);
};

const decoder = new TextDecoder();

const readJson = async (request: IncomingMessage, maxBytes: number): Promise<unknown> => {
  if (!isUtf8(request.headers['content-type'] ?? '')) throw new BodyFault('charset');
  const text = decoder.decode(await readUnpacked(request, maxBytes));
  // As with a length of 0: an object without fields.
  if (text === '') return {};
  assertFewJson(text, maxBytes);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new BodyFault('json', cause);
  }
};

/** Rejects with INVALID_REQUEST_BODY or BodyTooLarge. A body whose length says that it is too large is not read at all. */
export const bodyOf =
  (request: ParsedMessage): ReadBody =>
  async ({ maxBytes, multipart }) => {
    // A host's own parser may have read it.
    if (request.body !== undefined) return request.body;
    // An empty text of JSON is an object without fields.
    if (!hasBody(request)) return request.headers['content-length'] === '0' && isJson(request) ? {} : undefined;
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw new BodyTooLarge(maxBytes, false);
    try {
      // Of a body that was read to its end no event comes any more, nor of a caller that hung up meanwhile.
      if (request.readableEnded) throw new BodyFault('readBefore');
      if (request.destroyed) throw new BodyFault('aborted');
      if (multipart !== undefined && isForm(request)) {
        const form = await readUnpacked(request, maxBytes);
        return await decodeForm(form, request.headers['content-type'] ?? '', multipart);
      }
      if (!isJson(request)) throw otherType(request);
      return await readJson(request, maxBytes);
    } catch (error) {
      throw toBodyFault(error);
    }
  };
