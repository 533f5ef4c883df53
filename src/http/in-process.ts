import { parse, stringify } from 'node:querystring';
import type { Transport } from '../contract/client.js';
import { limits } from '../contract/fields.js';
import { type Dispatch, isPieces } from './bind.js';
import { notFound, tooLarge } from './envelope.js';

const throughJson = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/** Of whoever does not say when it gives up. */
const never = new AbortController().signal;

const wholeOf = async (pieces: AsyncIterable<string>): Promise<string> => {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
};

/** Rejects as soon as the caller gives up; the operation hears of it too, as it would behind a closed connection. */
const untilAborted = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return work;
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', stop));
};

/**
 * Carries calls to a dispatch of this process as HTTP would: queries become text, bodies pass through JSON and obey
 * the same size limit, both ways.
 */
export const inProcessTransport =
  (dispatch: Dispatch): Transport =>
  async ({ method, path, query, body, bearer }, signal) => {
    signal?.throwIfAborted();
    const text = body === undefined ? undefined : JSON.stringify(body);
    if (text !== undefined && Buffer.byteLength(text) > limits.bodyBytes) return { status: 413, body: tooLarge() };
    const work = dispatch({
      method,
      path,
      query: parse(stringify(query)),
      authorization: `Bearer ${bearer}`,
      body: text === undefined ? undefined : JSON.parse(text),
      signal: signal ?? never,
    });
    const answer = await untilAborted(work, signal);
    if (answer === undefined) return { status: 404, body: notFound(method, path) };
    const { status, body: given } = answer;
    return { status, body: isPieces(given) ? await untilAborted(wholeOf(given), signal) : throughJson(given) };
  };
