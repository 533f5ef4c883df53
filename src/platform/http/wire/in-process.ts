import { parse, stringify } from 'node:querystring';
import type { Caller } from '../../../model/guest/caller.js';
import { handled } from '../../../model/handled.js';
import { isRecord } from '../../../model/is-record.js';
import { whole } from '../../../model/slices.js';
import type { Transport } from '../interface/client.js';
import { limits } from '../interface/fields.js';
import type { Dispatch } from './bind.js';
import { notFound, tooLarge } from './envelope.js';
import { holdsSlices, isPieces, mapSlices } from './json-text.js';

/** Whether JSON gives the value back as it is. */
const isPlain = (value: unknown): boolean =>
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  value === null ||
  (Number.isFinite(value) && !Object.is(value, -0));

/**
 * Copies the value as a reader of its JSON gets it, without the text: of an answer that is encoded, only fields without
 * a value differ. What JSON writes as something else, such as a moment, passes through JSON.
 */
const asRead = (value: unknown): unknown => {
  if (value === undefined || isPlain(value)) return value;
  if (Array.isArray(value)) return value.map((item) => asRead(item) ?? null);
  if (!isRecord(value) || 'toJSON' in value) {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : JSON.parse(text);
  }
  const members = Object.entries(value).map(([name, member]) => [name, asRead(member)] as const);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
};

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

const withWholeLists = async (body: unknown): Promise<unknown> => {
  if (!holdsSlices(body)) return body;
  const lists = mapSlices(body, whole);
  return Object.fromEntries(await Promise.all(Object.entries(lists).map(async ([name, list]) => [name, await list])));
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
 * Creates a transport that calls a dispatch in this process in the same way as HTTP: queries become text, bodies pass
 * through JSON with the same size limit, and answers are copied as their JSON would be read. `callerOf` returns the caller of each call. Left out:
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
    const { status, body: given } = answer;
    if (isPieces(given)) return { status, body: await untilAborted(wholeOf(given), signal) };
    return { status, body: asRead(await untilAborted(withWholeLists(given), signal)) };
  };
