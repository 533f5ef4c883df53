import type { IncomingMessage, ServerResponse } from 'node:http';
import { plainPagePolicy, renderPlainPage } from './home.js';
import { html } from './html.js';

/** Loads the page that was asked for again, each second, until the product is up. */
const page = renderPlainPage(
  html`<p role="status">Guestlist is starting. This page opens by itself in a moment.</p>`,
  html`<meta http-equiv="refresh" content="1">`,
);

const json = JSON.stringify({
  error: { code: 'STARTING', message: 'Guestlist is starting; try again in a second.', status: 503 },
});

const isPageVisit = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && (headers.accept ?? '').includes('text/html');

/** Answers while the product is still starting: alive, but not ready. A browser gets a page that tries again by itself. */
export const answerStarting = (request: IncomingMessage, response: ServerResponse): void => {
  if (request.url === '/healthz') {
    response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' });
    response.end(JSON.stringify({ status: 'ok' }));
    return;
  }
  const isPage = isPageVisit(request);
  response.writeHead(503, {
    'Content-Type': isPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'Retry-After': '1',
    Vary: 'Accept',
    ...(isPage ? { 'Content-Security-Policy': plainPagePolicy } : {}),
  });
  response.end(isPage ? page : json);
};
