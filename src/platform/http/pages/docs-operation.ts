/** Writes one operation of the reference: its paths, credentials, request, example, answer and errors. */

import { type Html, html, type Piece } from '../../../model/html.js';
import type { JsonSchema, OpenApiContent, OpenApiDocument, OpenApiOperation } from '../interface/openapi.js';
import { prose, slug } from '../wire/html.js';
import { overviewPath } from './docs-addresses.js';
import { formsOf, writeFields, writeType } from './docs-fields.js';

type Bound = { readonly method: string; readonly path: string; readonly operation: OpenApiOperation };
/** An operation with all its bindings. The first binding is the recommended one. */
export type Entry = { readonly name: string; readonly main: Bound; readonly others: readonly Bound[] };

export const credentialNames: Readonly<Record<string, { readonly label: string; readonly variable: string }>> = {
  apiKey: { label: 'API key', variable: '$API_KEY' },
  serviceToken: { label: 'Service token', variable: '$SERVICE_TOKEN' },
  guestToken: { label: 'Guest token', variable: '$GUEST_TOKEN' },
};

/** Returns the operations of the document, each once. */
export const entriesOf = (document: OpenApiDocument): readonly Entry[] => {
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
<p class="credentials">Credential: ${credentialsOf(operation).map((name, index) => [index === 0 ? '' : ' or ', html`<a href="${overviewPath}#credentials">${credentialNames[name]?.label ?? name}</a>`])}</p>`;

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
  if (forms.length > 1) return forms.map((form) => html`<h4>${prose(formTitle(form))}</h4>${writeFields(form, use)}`);
  return writeFields(schema, use) ?? html`<p>${writeType(schema)}</p>`;
};

const writeParameters = ({ parameters = [] }: OpenApiOperation, place: 'path' | 'query'): Piece => {
  const these = parameters.filter((parameter) => parameter.in === place);
  if (these.length === 0) return undefined;
  const properties = these.map(({ name, schema, description = '' }) => [name, { ...schema, description }] as const);
  const required = these.filter((parameter) => parameter.required).map(({ name }) => name);
  const schema = { type: 'object', properties: Object.fromEntries(properties), required };
  return html`<h3>${place === 'path' ? 'Path' : 'Query'}</h3>${writeFields(schema, 'request')}`;
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
  return html`${writeParameters(operation, 'path')}${writeParameters(operation, 'query')}${body === undefined ? undefined : html`<h3>Body</h3>${writeSchema(body.schema, 'request')}${writeForm(requestBody?.content)}`}`;
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
  return html`<h3>Example</h3><pre tabindex="0"><code>${lines.join(' \\\n  ')}</code></pre>`;
};

const writeAnswer = ({ responses }: OpenApiOperation): Html => {
  const answer = contentOf(responses['200']?.content);
  if (answer === undefined) return html``;
  const example = answer.example;
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
  const isFile = typeof answer.schema === 'object' && answer.schema.type === 'string';
  return html`<h3>Answer <span class="media">200 · ${answer.type}</span></h3>${isFile ? undefined : writeSchema(answer.schema, 'response')}${example === undefined ? undefined : html`<pre tabindex="0"><code>${text}</code></pre>`}`;
};

const writeErrors = ({ responses }: OpenApiOperation): Html => {
  const rows = Object.entries(responses)
    .filter(([status]) => status !== '200')
    .map(
      ([status, { description }]) => html`<tr><td><strong>${status}</strong></td><td>${prose(description)}</td></tr>`,
    );
  return html`<h3>Errors</h3><div class="scroll"><table><tbody>${rows}</tbody></table></div>`;
};

/** Writes what a caller needs to know of one operation. */
export const writeEntry = (entry: Entry): Html => {
  const { operation } = entry.main;
  return html`<article id="${slug(entry.name)}">
<h2><a href="#${slug(entry.name)}">${operation.summary}</a></h2>
${writeBindings(entry)}
${operation.description === undefined ? undefined : html`<p>${prose(operation.description)}</p>`}
${writeCredentials(operation)}
${writeRequest(operation)}
${writeCurl(entry.main)}
${writeAnswer(operation)}
${writeErrors(operation)}
</article>`;
};
