/**
 * HTTP servers for untrusted callers: slow senders are disconnected, and unread rests of bodies are read only up to a
 * limit.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { send } from './wire/sending.js';

export type ServerSettings = {
  /** Seconds in which a caller must send the head of a request, and the complete request. */
  readonly headersTimeoutSeconds: number;
  readonly requestTimeoutSeconds: number;
  /** Seconds after which an idle connection is closed. Node counts `headersTimeoutSeconds` from a request's first byte. */
  readonly keepAliveSeconds: number;
};

const secondMs = 1000;
/** Maximum number of headers; further ones are dropped. Browsers and proxies send about thirty. */
const maxHeaders = 200;
/**
 * Maximum bytes and milliseconds for reading the rest of a body after the answer was sent. A caller that is still
 * sending can read the answer during this time.
 */
const unreadBytes = 1024 * 1024;
const unreadMs = 1000;

/** Whether the unread rest of the body may be larger than that. */
const mayBeLong = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > unreadBytes;

/**
 * Sends `Connection: close` if the body was not read completely: the connection will be cut, so the caller must not
 * send its next request on it.
 */
const sayClose = (request: IncomingMessage, response: ServerResponse): void => {
  const writeHead = response.writeHead.bind(response) as (...given: unknown[]) => ServerResponse;
  response.writeHead = (...given: unknown[]) => {
    if (!request.complete) response.shouldKeepAlive = false;
    return writeHead(...given);
  };
};

/**
 * Closes a connection on which data still arrives. Closing it at once would reset it, and the reset could destroy the
 * answer before the caller reads it. Node no longer parses what arrives here.
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

/**
 * Limits how much of an unread body is read. Node itself would read all of it, however long, to reuse the connection,
 * or would reset a connection that it does not reuse.
 */
const dropUnread = (request: IncomingMessage, response: ServerResponse): void => {
  if (mayBeLong(request)) sayClose(request, response);
  // Must run before Node's own listener, which closes or keeps the connection.
  response.prependOnceListener('finish', () => {
    if (request.complete || request.destroyed) return;
    const { socket } = request;
    // Cuts a kept connection if the rest of the body takes too long. No next request is lost: the caller is still
    // sending this one.
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

/** Answers an unknown `Expect` header as Node does, and drops the body like any other unread one. */
const refuseExpectation = (request: IncomingMessage, response: ServerResponse): void => {
  dropUnread(request, response);
  send(response, { status: 417, headers: [] });
};

/** Creates the server. Node checks its time limits only every 30 seconds by default, so the interval is set here. */
export const createHttpServer = ({
  headersTimeoutSeconds,
  requestTimeoutSeconds,
  keepAliveSeconds,
}: ServerSettings): Server => {
  const server = createServer({
    headersTimeout: headersTimeoutSeconds * secondMs,
    requestTimeout: requestTimeoutSeconds * secondMs,
    keepAliveTimeout: keepAliveSeconds * secondMs,
    connectionsCheckingInterval: secondMs,
  });
  server.maxHeadersCount = maxHeaders;
  server.on('request', dropUnread);
  server.on('checkExpectation', refuseExpectation);
  return server;
};
