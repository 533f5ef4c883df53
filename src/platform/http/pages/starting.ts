import type { IncomingMessage } from 'node:http';
import { html } from '../wire/html.js';
import type { Handle } from '../wire/in-turn.js';
import { json, send } from '../wire/sending.js';
import { plainPage, renderPlainPage } from './home.js';

/** Loads the page that was asked for again, each second, until the product is up. */
const page = renderPlainPage(
  html`<p role="status">Guestlist is starting. This page opens by itself in a moment.</p>`,
  html`<meta http-equiv="refresh" content="1">`,
);

const starting = {
  error: { code: 'STARTING', message: 'Guestlist is starting; try again in a second.', status: 503 },
};

const isPageVisit = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && (headers.accept ?? '').includes('text/html');

/** Answers while the product is still starting: alive, but not ready. A browser gets a page that tries again by itself. */
export const answerStarting: Handle = (request, response) => {
  if (request.url === '/healthz') return send(response, { status: 200, headers: json, body: { status: 'ok' } });
  const isPage = isPageVisit(request);
  const headers = ['Retry-After', '1', 'Vary', 'Accept', 'Cache-Control', 'no-store'];
  return send(response, {
    status: 503,
    headers: [...headers, ...(isPage ? plainPage : json.slice(0, 2))],
    body: isPage ? page : starting,
  });
};
