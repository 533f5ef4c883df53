/** HTTP servers for callers that nobody knows yet: slow senders are cut, and what follows an answer is not read for long. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type ServerSettings = {
  /** How long a caller may take to send the head of a request, and a whole one. */
  readonly headersTimeoutSeconds: number;
  readonly requestTimeoutSeconds: number;
};

const secondMs = 1000;
/** Headers of one request beyond this are not kept. Browsers and proxies send about thirty. */
const maxHeaders = 200;
/** Of a body that was not needed for its answer: a caller that is still sending sees the answer meanwhile. */
const unreadBytes = 1024 * 1024;
const unreadMs = 1000;

/** Whether more of the body may follow an answer than is read. */
const mayBeLong = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > unreadBytes;

/** A caller must not send its next request on a connection that will be cut. */
const sayClose = (request: IncomingMessage, response: ServerResponse): void => {
  const writeHead = response.writeHead.bind(response) as (...given: unknown[]) => ServerResponse;
  response.writeHead = (...given: unknown[]) => {
    if (!request.complete) response.shouldKeepAlive = false;
    return writeHead(...given);
  };
};

/**
 * Ends a connection on which bytes still come. Closed at once, it would be reset, and the reset may take the answer from its caller.
 * What comes after the answer is no request any more: Node's parser does not see it.
 */
const linger = (socket: Socket): void => {
  const cut = (): void => void socket.destroy();
  const timer = setTimeout(cut, unreadMs).unref();
  let read = 0;
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > unreadBytes) socket.pause();
  });
  socket.once('end', cut).once('close', () => clearTimeout(timer));
  socket.end();
  socket.resume();
};

/** Node would read the rest of the body, however long, to use the connection again; or reset a connection that is not used again. */
const dropUnread = (request: IncomingMessage, response: ServerResponse): void => {
  if (mayBeLong(request)) sayClose(request, response);
  // Before Node's own listener, which ends the connection or keeps it.
  response.prependOnceListener('finish', () => {
    if (request.complete || request.destroyed) return;
    const { socket } = request;
    // A connection that is kept is cut if the rest takes too long. Its caller has not sent its next request: it is still sending this one.
    const timer = setTimeout(() => void socket.destroy(), unreadMs).unref();
    request.once('close', () => clearTimeout(timer));
    request.once('end', () => clearTimeout(timer));
    request.resume();
    const { destroySoon } = socket;
    socket.destroySoon = () => {
      clearTimeout(timer);
      linger(socket);
    };
    response.once('close', () => {
      socket.destroySoon = destroySoon;
    });
  });
};

/** Node's own answer to an expectation that it does not know, whose body is dropped as any other. */
const refuseExpectation = (request: IncomingMessage, response: ServerResponse): void => {
  dropUnread(request, response);
  response.writeHead(417).end();
};

/** Node checks its time limits every half a minute, unless it is told to look more often. */
export const createHttpServer = ({ headersTimeoutSeconds, requestTimeoutSeconds }: ServerSettings): Server => {
  const server = createServer({
    headersTimeout: headersTimeoutSeconds * secondMs,
    requestTimeout: requestTimeoutSeconds * secondMs,
    connectionsCheckingInterval: secondMs,
  });
  server.maxHeadersCount = maxHeaders;
  server.on('request', dropUnread);
  server.on('checkExpectation', refuseExpectation);
  return server;
};
