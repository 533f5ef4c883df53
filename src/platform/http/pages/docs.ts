/**
 * Writes the reference of the interface: the OpenAPI document as static pages without scripts, one for each resource and
 * one for each shared object. The overview has an anchor for each operation and object, since all of them were on that
 * page before.
 */

import { type Html, html, type Piece } from '../../../model/html.js';
import { bytesOfValue } from '../../work/json-excess.js';
import { limits, namingRules } from '../interface/fields.js';
import type { JsonSchema, OpenApiDocument } from '../interface/openapi.js';
import { prose, slug } from '../wire/html.js';
import { objectPath, operationAddress, overviewPath, resourcePath } from './docs-addresses.js';
import { formsOf, writeFields, writeType } from './docs-fields.js';
import { credentialNames, type Entry, entriesOf, writeEntry } from './docs-operation.js';

type Tag = OpenApiDocument['tags'][number];
type Parts = { readonly document: OpenApiDocument; readonly entries: readonly Entry[] };

const entriesIn = ({ entries }: Parts, { name }: Tag): readonly Entry[] =>
  entries.filter(({ main }) => main.operation.tags.includes(name));

const writeLink = (path: string, current: string, text: string): Html =>
  path === current ? html`<a href="${path}" aria-current="page">${text}</a>` : html`<a href="${path}">${text}</a>`;

/** All resources, and the operations of the one that the page shows. */
const writeNavigation = (parts: Parts, current: string): Html => html`<nav aria-label="Reference">
<a class="home" href="/docs">Guestlist</a>
${writeLink(overviewPath, current, 'Overview')}
<ul>${parts.document.tags.map((tag) => {
  const path = resourcePath(tag.name);
  const own = entriesIn(parts, tag).map(
    ({ name, main }) => html`<li><a href="#${slug(name)}">${main.operation.summary}</a></li>`,
  );
  return html`<li>${writeLink(path, current, tag.name)}${path === current ? html`<ul>${own}</ul>` : undefined}</li>`;
})}</ul>
<a href="${overviewPath}#schemas">Shared objects</a>
</nav>`;

const writeIntroduction = ({ info, components }: OpenApiDocument): Html => html`<header>
<h1>${info.title} <small>${info.version}</small></h1>
<p class="lead">${info.description}</p>
<p>Bodies are JSON where nothing else is said, at most ${limits.usualBodyBytes / 1024} kB, and ${limits.bodyBytes / 1024 / 1024} MB for whole datamarts, dashboards and lists of filter values. Fields that an operation does not name are refused. A body has at most ${limits.depth} levels, and one value for every ${bytesOfValue} bytes of its largest size. Of a large body only the first fault is named. Lists have at most ${limits.items.toLocaleString('en-US')} items where nothing else is said. The same, for machines: <a href="/openapi.json">/openapi.json</a>.</p>
<h2 id="names">Names and ids</h2>
<ul>${namingRules.map((rule) => html`<li>${prose(rule)}</li>`)}</ul>
<h2 id="credentials">Credentials</h2>
<p>Every request carries <code>Authorization: Bearer …</code> with one of these:</p>
<dl>${Object.entries(components.securitySchemes).map(([name, scheme]) => html`<dt>${credentialNames[name]?.label ?? name}</dt><dd>${prose(String(scheme.description))}</dd>`)}</dl>
<h2 id="errors">Errors</h2>
<p>Every error has the same shape. <code>code</code> is for programs and does not change; <code>message</code> says what is wrong, where, and how to mend it.</p>
<pre tabindex="0"><code>${JSON.stringify({ error: { code: 'INVALID_REQUEST_BODY', message: 'clientId: missing, expected a string.', status: 400 } }, null, 2)}</code></pre>
<p>Legacy paths still work; they answer with a <code>Deprecation</code> header.</p>
</header>`;

/** A list of all operations and objects, each with the anchor that it had when all were on this page. */
const writeOverview = (parts: Parts): Html => html`${writeIntroduction(parts.document)}
${parts.document.tags.map(
  (tag) => html`<section><h2 id="tag-${slug(tag.name)}"><a href="${resourcePath(tag.name)}">${tag.name}</a></h2>
<p class="lead">${tag.description}</p>
<ul>${entriesIn(parts, tag).map(
    ({ name, main }) =>
      html`<li id="${slug(name)}"><a href="${operationAddress({ resource: tag.name, name })}">${main.operation.summary}</a></li>`,
  )}</ul></section>`,
)}
<section><h2 id="schemas">Shared objects</h2>
<ul class="columns">${Object.keys(parts.document.components.schemas).map((name) => html`<li id="schema-${slug(name)}"><a href="${objectPath(name)}">${name}</a></li>`)}</ul></section>`;

/** Writes a union of plain values as its types, and a union of objects as its alternatives. */
const writeShape = (schema: JsonSchema): Piece =>
  formsOf(schema).length > 1
    ? html`<ul>${formsOf(schema).map((form) => html`<li>${writeMembers(form)}</li>`)}</ul>`
    : writeFields(schema, 'request');

const writeMembers = (form: JsonSchema): Html => {
  const members = Object.entries((form.properties ?? {}) as Record<string, JsonSchema>);
  return members.length === 0
    ? writeType(form)
    : html`<code>{${members.map(([name], index) => `${index === 0 ? '' : ', '}${name}`)}}</code>`;
};

const writeObject = (name: string, schema: JsonSchema): Html =>
  html`<h1>${name}</h1>${typeof schema.description === 'string' ? html`<p>${prose(schema.description)}</p>` : undefined}${writeShape(schema)}`;

const writePage = (parts: Parts, path: string, name: string | undefined, content: Piece): string =>
  html`<!doctype html>
<html lang="en" id="top">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${name === undefined ? '' : `${name} · `}${parts.document.info.title} API reference</title>
<link rel="icon" href="/docs/icon.svg">
<link rel="stylesheet" href="/fonts/inter.css">
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
${writeNavigation(parts, path)}
<main>
${content}
<footer>This page is generated from the interface of the running server. <a href="/openapi.json">/openapi.json</a> has the same for machines.</footer>
</main>
</body>
</html>
`.text;

/** Returns the pages by their paths. All text from the document is escaped. */
export const renderReference = (document: OpenApiDocument): ReadonlyMap<string, string> => {
  const parts = { document, entries: entriesOf(document) };
  const pageOf = (path: string, name: string | undefined, content: Piece): [string, string] => [
    path,
    writePage(parts, path, name, content),
  ];
  return new Map([
    pageOf(overviewPath, undefined, writeOverview(parts)),
    ...document.tags.map((tag) => {
      const head = html`<h1>${tag.name}</h1><p class="lead">${tag.description}</p>`;
      return pageOf(resourcePath(tag.name), tag.name, [head, ...entriesIn(parts, tag).map(writeEntry)]);
    }),
    ...Object.entries(document.components.schemas).map(([name, schema]) =>
      pageOf(objectPath(name), name, writeObject(name, schema)),
    ),
  ]);
};
