import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** Names and values in turn, as `writeHead` takes them. */
export type FlatHeaders = readonly string[];

type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

/** What a middleware such as helmet sets. It is the same for each request, so it is made once and sent as a constant. */
export const constantHeaders = (middleware: Middleware): FlatHeaders => {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  middleware(request, response, (error?: unknown) => {
    if (error !== undefined) throw error;
  });
  return Object.entries(response.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
};
