/** Writes the API reference: the OpenAPI document as one static page without scripts. */
import { bytesOfValue } from '../../work/json-excess.js';
import { limits, namingRules } from '../interface/fields.js';
import type { JsonSchema, OpenApiContent, OpenApiDocument, OpenApiOperation } from '../interface/openapi.js';
import { type Html, html, type Piece, prose, slug } from '../wire/html.js';
import { formsOf, writeFields, writeType } from './docs-fields.js';

type Bound = { readonly method: string; readonly path: string; readonly operation: OpenApiOperation };
/** An operation with all its bindings. The first binding is the recommended one. */
type Entry = { readonly name: string; readonly main: Bound; readonly others: readonly Bound[] };

const credentialNames: Readonly<Record<string, { readonly label: string; readonly variable: string }>> = {
  apiKey: { label: 'API key', variable: '$API_KEY' },
  serviceToken: { label: 'Service token', variable: '$SERVICE_TOKEN' },
  guestToken: { label: 'Guest token', variable: '$GUEST_TOKEN' },
};

const entriesOf = (document: OpenApiDocument): readonly Entry[] => {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const names = [...new Set(all.map(({ operation }) => operation['x-operation']))];
  return names.flatMap((name) => {
    const bindings = all.filter(({ operation }) => operation['x-operation'] === name);
    const main = bindings.find(({ operation }) => operation.deprecated !== true) ?? bindings[0];
    return main === undefined ? [] : [{ name, main, others: bindings.filter((other) => other !== main) }];
  });
};

const writeMethod = (method: string): Html => html`<span class="method ${method.toLowerCase()}">${method}</span>`;

/** Writes a path that may break after each slash. */
const writePath = (path: string): Html =>
  html`<code class="path">${path.split('/').map((part, index) => (index === 0 ? part : html`/<wbr>${part}`))}</code>`;

const writeBindings = ({ main, others }: Entry): Html => html`
<p class="binding">${writeMethod(main.method)} ${writePath(main.path)}</p>
${others.map(({ method, path, operation }) => html`<p class="binding minor">${writeMethod(method)} ${writePath(path)}${operation.deprecated ? html` <span class="legacy">legacy</span>` : undefined}</p>`)}`;

const credentialsOf = ({ security }: OpenApiOperation): readonly string[] =>
  security.flatMap((requirement) => Object.keys(requirement));

const writeCredentials = (operation: OpenApiOperation): Html => html`
<p class="credentials">Credential: ${credentialsOf(operation).map((name, index) => [index === 0 ? '' : ' or ', html`<a href="#credentials">${credentialNames[name]?.label ?? name}</a>`])}</p>`;

const contentOf = (content: OpenApiContent | undefined) => {
  const [type, body] = Object.entries(content ?? {})[0] ?? [];
  return type === undefined || body === undefined ? undefined : { type, ...body };
};

/** Returns the title of a union's alternative: the value of its discriminating field. */
const formTitle = (form: JsonSchema): string => {
  const constants = Object.entries((form.properties ?? {}) as Record<string, JsonSchema>).flatMap(([name, field]) =>
    field.const === undefined ? [] : [`\`${name}\` is \`${JSON.stringify(field.const)}\``],
  );
  return constants.length === 0 ? 'Or' : `Where ${constants.join(' and ')}`;
};

const writeSchema = (schema: JsonSchema, use: 'request' | 'response'): Piece => {
  const forms = formsOf(schema);
  if (forms.length > 1) return forms.map((form) => html`<h5>${prose(formTitle(form))}</h5>${writeFields(form, use)}`);
  return writeFields(schema, use) ?? html`<p>${writeType(schema)}</p>`;
};

const writeParameters = ({ parameters = [] }: OpenApiOperation, place: 'path' | 'query'): Piece => {
  const these = parameters.filter((parameter) => parameter.in === place);
  if (these.length === 0) return undefined;
  const properties = these.map(({ name, schema, description = '' }) => [name, { ...schema, description }] as const);
  const required = these.filter((parameter) => parameter.required).map(({ name }) => name);
  const schema = { type: 'object', properties: Object.fromEntries(properties), required };
  return html`<h4>${place === 'path' ? 'Path' : 'Query'}</h4>${writeFields(schema, 'request')}`;
};

/** Describes the body as a form: the fields that contain JSON, and the file. */
const writeForm = (content: OpenApiContent | undefined): Piece => {
  const form = content?.['multipart/form-data'];
  if (form === undefined) return undefined;
  const fields = Object.entries((form.schema.properties ?? {}) as Record<string, JsonSchema>);
  const inJson = fields
    .filter(([, field]) => field.contentMediaType === 'application/json')
    .map(([name]) => `\`${name}\``);
  const files = fields.filter(([, field]) => field.format === 'binary');
  return html`<p>${prose(`Or as \`multipart/form-data\`, where ${inJson.join(', ')} are sent as JSON text, with one more field:`)}</p>${writeFields({ type: 'object', properties: Object.fromEntries(files) }, 'request')}`;
};

const writeRequest = ({ requestBody, ...operation }: OpenApiOperation): Html => {
  const body = contentOf(requestBody?.content);
  return html`${writeParameters(operation, 'path')}${writeParameters(operation, 'query')}${body === undefined ? undefined : html`<h4>Body</h4>${writeSchema(body.schema, 'request')}${writeForm(requestBody?.content)}`}`;
};

const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const addressOf = ({ path, operation: { parameters = [] } }: Bound): string => {
  const filled = parameters.reduce(
    (address, { name, example }) => address.replace(`{${name}}`, encodeURIComponent(String(example ?? name))),
    path,
  );
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.example !== undefined)
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`);
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
};

const writeCurl = (bound: Bound): Html => {
  const body = contentOf(bound.operation.requestBody?.content);
  const variable = credentialNames[credentialsOf(bound.operation)[0] ?? '']?.variable ?? '$TOKEN';
  const lines = [
    `curl${bound.method === 'GET' ? '' : ` -X ${bound.method}`} "$BASE_URL${addressOf(bound)}"`,
    `-H "Authorization: Bearer ${variable}"`,
    ...(body === undefined
      ? []
      : [`-H "Content-Type: application/json"`, `-d ${shellQuote(JSON.stringify(body.example ?? {}, null, 2))}`]),
  ];
  return html`<h4>Example</h4><pre tabindex="0"><code>${lines.join(' \\\n  ')}</code></pre>`;
};

const writeAnswer = ({ responses }: OpenApiOperation): Html => {
  const answer = contentOf(responses['200']?.content);
  if (answer === undefined) return html``;
  const example = answer.example;
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
  const isFile = typeof answer.schema === 'object' && answer.schema.type === 'string';
  return html`<h4>Answer <span class="media">200 · ${answer.type}</span></h4>${isFile ? undefined : writeSchema(answer.schema, 'response')}${example === undefined ? undefined : html`<pre tabindex="0"><code>${text}</code></pre>`}`;
};

const writeErrors = ({ responses }: OpenApiOperation): Html => {
  const rows = Object.entries(responses)
    .filter(([status]) => status !== '200')
    .map(
      ([status, { description }]) => html`<tr><td><strong>${status}</strong></td><td>${prose(description)}</td></tr>`,
    );
  return html`<h4>Errors</h4><div class="scroll"><table><tbody>${rows}</tbody></table></div>`;
};

const writeEntry = (entry: Entry): Html => {
  const { operation } = entry.main;
  return html`<article id="${slug(entry.name)}">
<h3><a href="#${slug(entry.name)}">${operation.summary}</a></h3>
${writeBindings(entry)}
${operation.description === undefined ? undefined : html`<p>${prose(operation.description)}</p>`}
${writeCredentials(operation)}
${writeRequest(operation)}
${writeCurl(entry.main)}
${writeAnswer(operation)}
${writeErrors(operation)}
</article>`;
};

const writeNavigation = (
  document: OpenApiDocument,
  entries: readonly Entry[],
): Html => html`<nav aria-label="Operations">
<a class="home" href="/docs">Guestlist</a>
<a href="#names">Names and ids</a>
<a href="#credentials">Credentials</a>
<a href="#errors">Errors</a>
${document.tags.map(({ name }) => html`<h2><a href="#tag-${slug(name)}">${name}</a></h2><ul>${entries.filter(({ main }) => main.operation.tags.includes(name)).map((entry) => html`<li><a href="#${slug(entry.name)}">${entry.main.operation.summary}</a></li>`)}</ul>`)}
<h2><a href="#schemas">Shared objects</a></h2>
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

const writeShared = ({ components }: OpenApiDocument): Html => html`<section><h2 id="schemas">Shared objects</h2>
${Object.entries(components.schemas).map(([name, schema]) => html`<article id="schema-${slug(name)}"><h3><a href="#schema-${slug(name)}">${name}</a></h3>${typeof schema.description === 'string' ? html`<p>${prose(schema.description)}</p>` : undefined}${writeShape(schema)}</article>`)}
</section>`;

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

/** Returns the page. All text from the document is escaped. */
export const renderDocs = (document: OpenApiDocument): string => {
  const entries = entriesOf(document);
  const sections = document.tags.map(
    ({ name, description }) => html`<section><h2 id="tag-${slug(name)}">${name}</h2><p class="lead">${description}</p>
${entries.filter(({ main }) => main.operation.tags.includes(name)).map(writeEntry)}</section>`,
  );
  return html`<!doctype html>
<html lang="en" id="top">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${document.info.title} API reference</title>
<link rel="icon" href="/docs/icon.svg">
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
${writeNavigation(document, entries)}
<main>
${writeIntroduction(document)}
${sections}
${writeShared(document)}
</main>
</body>
</html>
`.text;
};
