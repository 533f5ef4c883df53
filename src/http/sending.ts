/** Sends answers, through Express's response or Node's own. */
import { setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RequestSignal } from '../domain/query/engine.js';

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
export const sendPieces = async (
  response: ServerResponse,
  pieces: AsyncIterable<string | Uint8Array>,
): Promise<void> => {
  // The pipeline adds its own listeners to those of the log, the metrics and the signal. From eleven on, Node would warn.
  setMaxListeners(0, response);
  await pipeline(Readable.from(pieces, { objectMode: false }), response).catch(() => {
    // The source of the pieces has logged the cause, or the client disconnected.
    response.destroy();
  });
};
