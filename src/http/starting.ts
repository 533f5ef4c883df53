import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers while the product is still starting: alive, but not ready. */
export const answerStarting = (request: IncomingMessage, response: ServerResponse): void => {
  const isAlive = request.url === '/healthz';
  const error = { code: 'STARTING', message: 'Guestlist is starting; try again in a second.', status: 503 };
  response.writeHead(isAlive ? 200 : 503, {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    ...(isAlive ? {} : { 'Retry-After': '1' }),
  });
  response.end(JSON.stringify(isAlive ? { status: 'ok' } : { error }));
};
