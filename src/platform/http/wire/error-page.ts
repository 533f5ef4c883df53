/** An error as its caller reads it: a page for browsers, and the envelope for programs. */
import type { ServerResponse } from 'node:http';
import { html } from '../../../model/html.js';
import type { FlatHeaders } from './constant-headers.js';
import type { envelope } from './envelope.js';
import { prose } from './html.js';
import { opensPage, plainPage, renderPlainPage } from './plain-page.js';
import { json, send } from './sending.js';

type Envelope = ReturnType<typeof envelope>;

const titleOf = (status: number): string => {
  if (status === 401) return 'This page needs a credential';
  if (status === 503) return 'Not available for the moment';
  return status >= 500 ? 'This page cannot be shown' : 'This cannot be answered';
};

const notFoundPage = renderPlainPage({
  title: 'Page not found',
  content: html`<p>Nothing is served at this address. Check the link that led here.</p><p><a href="/">Go to the front page</a></p>`,
});

/** A page of a path that is not there repeats nothing of the address. */
const pageOf = ({ error: { message, status } }: Envelope): string =>
  status === 404
    ? notFoundPage
    : renderPlainPage({
        title: titleOf(status),
        content: html`<p>${prose(message)}</p><p><a href="/">Go to the front page</a></p>`,
      });

/** Sends an error with its own status. A header that was set before stays. */
export const sendError = (
  response: ServerResponse,
  body: Envelope,
  headers: FlatHeaders = [],
): void | Promise<void> => {
  const { status } = body.error;
  const common = [...headers, 'Vary', 'Accept'];
  if (!opensPage(response.req)) return send(response, { status, headers: [...common, ...json], body });
  return send(response, {
    status,
    headers: [...common, ...plainPage, 'Cache-Control', 'no-store'],
    body: pageOf(body),
  });
};
