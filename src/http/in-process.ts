import { parse, stringify } from 'node:querystring';
import type { Transport } from '../contract/client.js';
import { limits } from '../contract/fields.js';
import type { Caller } from '../domain/guest/caller.js';
import { handled } from '../domain/handled.js';
import type { Dispatch } from './bind.js';
import { notFound, tooLarge } from './envelope.js';
import { isPieces } from './json-text.js';

const throughJson = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

const isJson = (contentType: string): boolean => contentType.startsWith('application/json');

/** For callers without a signal of their own. */
const never = new AbortController().signal;

/** The pieces as one text, or as one array if they are bytes. */
export const wholeOf = async (pieces: AsyncIterable<string | Uint8Array>): Promise<string | Uint8Array> => {
  const texts: string[] = [];
  const bytes: Uint8Array[] = [];
  for await (const piece of pieces) {
    if (typeof piece === 'string') texts.push(piece);
    else bytes.push(piece);
  }
  return bytes.length === 0 ? texts.join('') : Buffer.concat(bytes);
};

/** Rejects as soon as the caller aborts. The operation gets the same signal, as it would after a closed connection. */
const untilAborted = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return work;
  let stop = () => {};
  const aborted = handled(
    new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
    }),
  );
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', stop));
};

/**
 * Creates a transport that calls a dispatch in this process in the same way as HTTP: queries become text, and bodies
 * pass through JSON with the same size limit in both directions. `callerOf` returns the caller of each call. Left out:
 * the bearer is authenticated.
 */
export const inProcessTransport =
  (dispatch: Dispatch, callerOf?: () => Promise<Caller>): Transport =>
  async ({ method, path, query, body, bearer, language, gateway }, signal) => {
    signal?.throwIfAborted();
    const text = body === undefined ? undefined : JSON.stringify(body);
    if (text !== undefined && Buffer.byteLength(text) > limits.bodyBytes) return { status: 413, body: tooLarge() };
    const asking =
      callerOf === undefined
        ? { authorization: `Bearer ${bearer}` }
        : { authorization: undefined, caller: await callerOf() };
    const work = dispatch({
      ...asking,
      method,
      path,
      query: parse(stringify(query)),
      body: text === undefined ? undefined : JSON.parse(text),
      acceptLanguage: language,
      gateway,
      signal: signal ?? never,
    });
    const answer = await untilAborted(work, signal);
    if (answer === undefined) return { status: 404, body: notFound(method, path) };
    const { status, body: given, contentType } = answer;
    if (!isPieces(given)) return { status, body: throughJson(given) };
    const whole = await untilAborted(wholeOf(given), signal);
    return { status, body: isJson(contentType) ? JSON.parse(String(whole)) : whole };
  };
