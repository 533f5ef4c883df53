/** The front door: `/` says what this server is, and where to go. It holds nothing of this installation. */
import { html } from '../../../model/html.js';
import type { Step } from '../wire/in-turn.js';
import { plainPage, renderPlainPage } from '../wire/plain-page.js';
import { pathOf, readsOnly } from '../wire/request.js';
import { send } from '../wire/sending.js';

export type HomeLink = { readonly path: string; readonly title: string; readonly text: string };

const render = (links: readonly HomeLink[]): string =>
  renderPlainPage({
    title: 'Dashboards inside your product',
    content: html`<p>This is a Guestlist server. It shows each of your customers the dashboards of their own data, and nobody else’s.</p>
<ul>
${links.map(({ path, title, text }) => html`<li><a href="${path}">${title}<small>${text}</small></a></li>\n`)}</ul>`,
  });

/** Answers `GET /` with the links. */
export const serveHome = (links: readonly HomeLink[]): Step => {
  const page = { status: 200, headers: [...plainPage, 'Cache-Control', 'no-cache'], body: render(links) };
  return (request, response, next) => (readsOnly(request) && pathOf(request) === '/' ? send(response, page) : next());
};
