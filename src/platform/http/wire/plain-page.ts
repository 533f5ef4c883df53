/**
 * The pages without a script: the front door, errors, the start, and the links of messages. They load nothing and hold
 * nothing of this installation. Imports no other step of the front, so that every step can answer with a page.
 */
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Html, html } from '../../../model/html.js';
import type { FlatHeaders } from './constant-headers.js';

const style = `
:root {
  color-scheme: light dark;
  --ink: #1b2230; --soft: #5a6475; --line: #dfe3ea; --paper: #ffffff; --panel: #f6f7f9; --accent: #1f5fd0;
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --soft: #9aa4b5; --line: #2b3240; --paper: #12151b; --panel: #1a1f28; --accent: #86b2ff; }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 46rem; padding: 4rem 1.25rem; background: var(--paper); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif;
}
.brand { display: flex; gap: 0.625rem; align-items: center; margin: 0 0 2.5rem; font-weight: 700; }
.brand svg { width: 1.75rem; height: 1.75rem; flex: none; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 0.75rem; letter-spacing: -0.02em; text-wrap: balance; }
p { margin: 0 0 1rem; max-width: 38rem; color: var(--soft); overflow-wrap: anywhere; }
code { font: 0.875em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
ul { list-style: none; margin: 2rem 0 0; padding: 0; display: grid; gap: 0.75rem; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); }
li a { display: block; height: 100%; padding: 1rem 1.125rem; border: 1px solid var(--line); border-radius: 10px; background: var(--panel); }
a { color: var(--accent); text-decoration: none; font-weight: 600; }
a:hover { text-decoration: underline; }
li a:hover { border-color: var(--accent); text-decoration: none; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
li a:focus-visible { border-radius: 10px; }
small { display: block; color: var(--soft); font-size: 0.875rem; line-height: 1.45; font-weight: 400; }
button {
  min-height: 2.75rem; padding: 0 1.25rem; border: 0; border-radius: 8px; background: var(--accent); color: var(--paper);
  font: inherit; font-weight: 600; cursor: pointer;
}
@media (max-width: 30rem) { body { padding: 2rem 1.25rem; } .brand { margin-bottom: 1.75rem; } h1 { font-size: 1.625rem; } }
`;

const mark = new Html(
  '<svg viewBox="0 0 26 26" aria-hidden="true"><rect width="26" height="26" rx="7" fill="#1f5fd0"/><path d="M7 18V11M13 18V7M19 18v-4" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/></svg>',
);

/** The page runs nothing and loads nothing: its own style is all that it may use. */
export const plainPagePolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** The headers of a page with the product's style. */
export const plainPage: FlatHeaders = [
  ...['Content-Type', 'text/html; charset=utf-8'],
  ...['Content-Security-Policy', plainPagePolicy],
];

/** A page with the product's style. */
export const renderPlainPage = ({ title, content }: { readonly title: string; readonly content: Html }): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Guestlist</title>
<style>${new Html(style)}</style>
</head>
<body>
<header class="brand">${mark}Guestlist</header>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`.text;

/** Whether a browser opens the address as a page. Programs that name no type, or any type, get JSON. */
export const opensPage = ({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean =>
  (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html');
