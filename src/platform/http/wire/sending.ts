/** Sends answers: every one of this process leaves through `send`, on Node's own response. */
import { setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RequestSignal } from '../../../model/query/engine.js';
import type { FlatHeaders } from './constant-headers.js';
import { holdsSlices, isPieces, jsonPieces, jsonText } from './json-text.js';

/** An answer as it is sent. */
export type Answer = {
  readonly status: number;
  readonly headers: FlatHeaders;
  /** Text and bytes are sent as they are, pieces and lists in slices as they come, and any other value as JSON. Left out: no body. */
  readonly body?: unknown;
};

/** The headers of JSON that nobody may keep. */
export const json: FlatHeaders = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];

export const flat = (headers: Readonly<Record<string, string>>): FlatHeaders => Object.entries(headers).flat();

/** Returns a signal that aborts when the client disconnects before it has the answer. */
export const goneSignal = (response: ServerResponse, requestId: string): RequestSignal => {
  const gone = new AbortController();
  // All queries of a dashboard wait on this one signal. From eleven on, Node would warn of a leak.
  setMaxListeners(0, gone.signal);
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return Object.assign(gone.signal, { requestId });
};

/**
 * Sends the pieces as fast as the client reads them. If they fail midway, the connection is destroyed, so that the
 * client cannot take the answer for complete.
 */
const sendPieces = async (response: ServerResponse, pieces: AsyncIterable<string | Uint8Array>): Promise<void> => {
  // The pipeline adds its own listeners to those of the log, the meters and the signal. From eleven on, Node would warn.
  setMaxListeners(0, response);
  await pipeline(Readable.from(pieces, { objectMode: false }), response).catch(() => {
    // The source of the pieces has logged the cause, or the client disconnected.
    response.destroy();
  });
};

/**
 * Sends the answer. A header that was set before stays, unless the answer names it. Throws, or rejects, before anything is
 * sent if the body cannot be written as JSON. Text and bytes are sent before it returns.
 */
export const send = (response: ServerResponse, answer: Answer): void | Promise<void> => {
  const { status, headers, body } = answer;
  if (body === undefined) {
    response.writeHead(status, [...headers]).end();
  } else if (typeof body === 'string' || body instanceof Uint8Array) {
    response.writeHead(status, [...headers, 'Content-Length', String(Buffer.byteLength(body))]).end(body);
  } else if (isPieces(body) || holdsSlices(body)) {
    response.writeHead(status, [...headers]);
    return sendPieces(response, isPieces(body) ? body : jsonPieces(body));
  } else {
    const text = jsonText(body);
    if (typeof text === 'string') return send(response, { status, headers, body: text });
    return text.then((written) => send(response, { status, headers, body: written }));
  }
};

/** Sends `{data, error: null}`. */
export const sendData = (response: ServerResponse, data: unknown, headers: FlatHeaders = json): void | Promise<void> =>
  send(response, { status: 200, headers, body: { data: data ?? null, error: null } });

export const redirect = (response: ServerResponse, to: string): void | Promise<void> =>
  send(response, { status: 302, headers: ['Location', to] });
