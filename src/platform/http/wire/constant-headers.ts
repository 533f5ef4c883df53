import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** Names and values alternate, as `writeHead` accepts them. */
export type FlatHeaders = readonly string[];

type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * Returns the headers that a middleware such as helmet sets. They are the same for every request, so they are computed
 * once.
 */
export const constantHeaders = (middleware: Middleware): FlatHeaders => {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  middleware(request, response, (error?: unknown) => {
    if (error !== undefined) throw error;
  });
  return Object.entries(response.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
};
