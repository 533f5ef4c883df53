/** What is common to all answers, with Express's response or Node's own. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Aborts when the caller hangs up before it has its answer. */
export const goneSignal = (response: ServerResponse): AbortSignal => {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
};

/** As fast as the caller reads; what breaks off on its way ends the connection, so that it cannot be taken for whole. */
export const sendPieces = async (response: ServerResponse, pieces: AsyncIterable<string>): Promise<void> => {
  await pipeline(Readable.from(pieces, { objectMode: false }), response).catch(() => {
    // The cause was logged where the pieces are made, or it is the caller who left.
    response.destroy();
  });
};
