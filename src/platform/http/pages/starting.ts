import { html } from '../../../model/html.js';
import type { Handle } from '../wire/in-turn.js';
import { opensPage, plainPage, renderPlainPage } from '../wire/plain-page.js';
import { json, send } from '../wire/sending.js';

const page = renderPlainPage({
  title: 'Guestlist is starting',
  content: html`<p role="status">The server is starting. This page opens by itself in a moment.</p>`,
});

const starting = {
  error: { code: 'STARTING', message: 'Guestlist is starting; try again in a second.', status: 503 },
};

/** Answers while the product is still starting: alive, but not ready. A browser gets a page that tries again by itself. */
export const answerStarting: Handle = (request, response) => {
  if (request.url === '/healthz') return send(response, { status: 200, headers: json, body: { status: 'ok' } });
  const isPage = opensPage(request);
  const headers = ['Retry-After', '1', 'Vary', 'Accept', 'Cache-Control', 'no-store'];
  return send(response, {
    status: 503,
    // The browser loads the page that was asked for again, until the product is up.
    headers: [...headers, ...(isPage ? [...plainPage, 'Refresh', '1'] : json.slice(0, 2))],
    body: isPage ? page : starting,
  });
};
