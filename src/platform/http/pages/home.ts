/** The pages without a script: `/` says where to go. They hold nothing of this installation. */
import { hash } from 'node:crypto';
import type { FlatHeaders } from '../wire/constant-headers.js';
import { Html, html } from '../wire/html.js';
import type { Step } from '../wire/in-turn.js';
import { pathOf, readsOnly } from '../wire/request.js';
import { send } from '../wire/sending.js';

export type HomeLink = { readonly path: string; readonly title: string; readonly text: string };

const style = `
:root { color-scheme: light dark; --ink: #1b2230; --soft: #5a6475; --line: #dfe3ea; --paper: #ffffff; --accent: #1f5fd0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --soft: #9aa4b5; --line: #2b3240; --paper: #12151b; --accent: #86b2ff; }
}
body {
  margin: 0 auto; max-width: 40rem; padding: 4rem 1.25rem; background: var(--paper); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif;
}
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 1.5rem; letter-spacing: -0.02em; }
ul { list-style: none; margin: 0; padding: 0; }
li { border-top: 1px solid var(--line); }
a { display: block; padding: 0.75rem 0; color: var(--accent); text-decoration: none; font-weight: 600; }
a:hover { text-decoration: underline; }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
small { display: block; color: var(--soft); font-size: 0.875rem; font-weight: 400; }
`;

/** The page runs nothing and loads nothing: its own style is all that it may use. */
export const plainPagePolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** A page with the product's style. `head` may add to the page's head. */
export const renderPlainPage = (content: Html, head?: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${head}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Guestlist</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
<h1>Guestlist</h1>
${content}
</main>
</body>
</html>
`.text;

const render = (links: readonly HomeLink[]): string =>
  renderPlainPage(html`<ul>
${links.map(({ path, title, text }) => html`<li><a href="${path}">${title}<small>${text}</small></a></li>\n`)}</ul>`);

/** The headers of a page with the product's style. */
export const plainPage: FlatHeaders = [
  ...['Content-Type', 'text/html; charset=utf-8'],
  ...['Content-Security-Policy', plainPagePolicy],
];

/** Answers `GET /` with the links. */
export const serveHome = (links: readonly HomeLink[]): Step => {
  const page = { status: 200, headers: [...plainPage, 'Cache-Control', 'no-cache'], body: render(links) };
  return (request, response, next) => (readsOnly(request) && pathOf(request) === '/' ? send(response, page) : next());
};
