/** The lines that a page of the host needs, by how the page is made and how it proves who its user is. */

import type { Answer } from './api.js';

/** What the configuration says about pages and sessions. */
export type EmbedFacts = Answer<'embed-facts'>;

export const pageKinds = ['HTML', 'React', 'Next', 'Vue'] as const;
export type PageKind = (typeof pageKinds)[number];

export type Lines = {
  readonly kind: PageKind;
  readonly dashboard: string;
  /** The gateway's origin. */
  readonly origin: string;
  readonly serviceUrl: string;
  /** The origin of the host's page. */
  readonly page: string;
  /** Null: its name is not checked, or there is none. */
  readonly issuer: string | null;
  /** The cookie with the session. Null: the page sends the session itself. */
  readonly cookieName: string | null;
};

/** Text of the configuration in a comment of HTML or JavaScript, which it must not end. */
const inComment = (text: string): string => text.replaceAll(/[<>*\r\n\u2028\u2029]|--+/g, ' ');

const noteOf = ({ page, issuer, cookieName }: Lines): string => {
  const signed = issuer === null ? 'a session of your product' : `a session signed by ${issuer}`;
  return inComment(
    cookieName === null
      ? `A page of ${page}. yourSession(): the token of ${signed}.`
      : `A page of ${page}. The cookie ${cookieName} is ${signed}.`,
  );
};

/** How a page that holds the session itself asks for tokens. */
const asking = ({ origin }: Lines): string =>
  `async () => {
  const headers = { authorization: \`Bearer \${await yourSession()}\` };
  return (await fetch('${origin}/embed-token', { method: 'POST', headers })).json();
}`;

const html = (lines: Lines): string => {
  const { origin, dashboard, cookieName } = lines;
  const script = `<!-- ${noteOf(lines)} -->\n<script type="module" src="${origin}/elements.js"></script>\n`;
  if (cookieName !== null)
    return `${script}<guestlist-dashboard dashboard-id="${dashboard}" token-url="${origin}/embed-token"></guestlist-dashboard>`;
  return `${script}<guestlist-dashboard dashboard-id="${dashboard}"></guestlist-dashboard>\n<script type="module">\n  document.querySelector('guestlist-dashboard').getToken = ${asking(lines).replaceAll('\n', '\n  ')};\n</script>`;
};

const react = (lines: Lines): string => {
  const { kind, origin, serviceUrl, dashboard, cookieName } = lines;
  const head = kind === 'Next' ? `'use client';\n\n` : '';
  const own = cookieName === null ? `\nconst getToken = ${asking(lines)};\n` : '';
  const token = cookieName === null ? 'getToken={getToken}' : `tokenUrl="${origin}/embed-token"`;
  const element = `<GuestlistDashboard dashboardId="${dashboard}" ${token} serviceUrl="${serviceUrl}" />`;
  const shown =
    kind === 'Next'
      ? `export default function Numbers() {\n  return ${element};\n}`
      : `export const Numbers = () => (\n  ${element}\n);`;
  return `${head}// ${noteOf(lines)}\nimport { GuestlistDashboard } from '@guestlist/elements/react';\n${own}\n${shown}`;
};

const vue = (lines: Lines): string => {
  const { origin, serviceUrl, dashboard, cookieName } = lines;
  const own = cookieName === null ? `\n\nconst getToken = ${asking(lines)};` : '';
  const token = cookieName === null ? ':get-token.prop="getToken"' : `token-url="${origin}/embed-token"`;
  return `<script setup>\n// ${noteOf(lines)}\nimport '@guestlist/elements';${own}\n</script>\n\n<template>\n  <guestlist-dashboard dashboard-id="${dashboard}" ${token} service-url="${serviceUrl}" />\n</template>`;
};

export const linesOf = (lines: Lines): string => {
  if (lines.kind === 'HTML') return html(lines);
  return lines.kind === 'Vue' ? vue(lines) : react(lines);
};
