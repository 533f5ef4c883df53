import { type Html, html, type Piece } from '../../../model/html.js';
import { limits } from '../interface/fields.js';
import type { JsonSchema } from '../interface/openapi.js';
import { prose } from '../wire/html.js';
import { objectPath } from './docs-addresses.js';

type Field = {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  readonly depth: number;
};

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const schemasIn = (value: unknown): readonly JsonSchema[] => (Array.isArray(value) ? value.filter(isSchema) : []);

const refName = (schema: JsonSchema): string | undefined =>
  typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;

/** Returns the alternatives of a union. */
export const formsOf = (schema: JsonSchema): readonly JsonSchema[] => schemasIn(schema.oneOf ?? schema.anyOf);

const or = (pieces: readonly Html[]): Html =>
  html`${pieces.map((piece, index) => (index === 0 ? piece : [' or ', piece]))}`;

const writeObjectType = (schema: JsonSchema): Html => {
  const values = schema.additionalProperties;
  if (!isSchema(values)) return html`object`;
  return Object.keys(values).length === 0 ? html`object of any values` : html`object of ${writeType(values)}`;
};

const writeForms = (forms: readonly JsonSchema[]): Html => {
  const written = forms.map((form) => writeType(form));
  const seen = new Set<string>();
  return or(written.filter(({ text }) => !seen.has(text) && seen.add(text)));
};

/** Describes a type in words: `array of string`, `"a" or "b"`, or a link to a shared object. */
export const writeType = (schema: JsonSchema): Html => {
  const ref = refName(schema);
  if (ref !== undefined) return html`<a href="${objectPath(ref)}">${ref}</a>`;
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (Array.isArray(schema.enum)) return or(schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`));
  const forms = formsOf(schema);
  if (forms.length > 0) return writeForms(forms);
  if (schema.type === 'array') {
    return isSchema(schema.items) ? html`array of ${writeType(schema.items)}` : html`array`;
  }
  if (schema.type === 'object') return writeObjectType(schema);
  if (Array.isArray(schema.type)) return or(schema.type.map((type) => html`${String(type)}`));
  // A schema that says nothing, such as that of a value in a list of changes.
  return html`${typeof schema.type === 'string' ? schema.type : 'any JSON value'}`;
};

const isSafeBound = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER;

/** Formats a number in the same way in every locale. */
const format = (value: number): string => value.toLocaleString('en-US');

const writeLimits = (schema: JsonSchema): string => {
  const { minimum, maximum, exclusiveMinimum, maxItems, maxLength } = schema;
  const parts = [
    isSafeBound(exclusiveMinimum) ? `more than ${format(exclusiveMinimum)}` : '',
    isSafeBound(minimum) ? `from ${format(minimum)}` : '',
    isSafeBound(maximum) ? `up to ${format(maximum)}` : '',
    typeof maxItems === 'number' && maxItems !== limits.items ? `at most ${format(maxItems)} items` : '',
    // The limits that all fields share are at the top of the page.
    typeof maxLength === 'number' && maxLength !== limits.nameLength ? `at most ${format(maxLength)} characters` : '',
    schema.default === undefined ? '' : `default \`${JSON.stringify(schema.default)}\``,
  ];
  const text = parts.filter((part) => part !== '').join(', ');
  return text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
};

/**
 * Returns the fields of an object in a field: its own fields, those of its items, or those of the union's only
 * alternative with fields.
 */
const membersOf = (schema: JsonSchema): { readonly schema: JsonSchema; readonly suffix: string } | undefined => {
  if (isSchema(schema.properties)) return { schema, suffix: '' };
  if (isSchema(schema.items)) {
    const inner = membersOf(schema.items);
    return inner && { schema: inner.schema, suffix: `[]${inner.suffix}` };
  }
  const withMembers = formsOf(schema).flatMap((form) => membersOf(form) ?? []);
  return withMembers.length === 1 ? withMembers[0] : undefined;
};

const fieldsOf = (schema: JsonSchema, prefix = '', depth = 0): readonly Field[] => {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).flatMap(([name, field]) => {
    if (!isSchema(field)) return [];
    const inner = membersOf(field);
    const path = `${prefix}${name}`;
    const own = { name: path, schema: field, isRequired: required.includes(name), depth };
    return inner === undefined ? [own] : [own, ...fieldsOf(inner.schema, `${path}${inner.suffix}.`, depth + 1)];
  });
};

const writeName = (name: string): Html => {
  const cut = name.lastIndexOf('.') + 1;
  return html`<code>${cut === 0 ? undefined : html`<i>${name.slice(0, cut)}</i>`}${name.slice(cut)}</code>`;
};

const writeRow = ({ name, schema, isRequired, depth }: Field, isRequest: boolean): Html => {
  const description = typeof schema.description === 'string' ? schema.description : '';
  const bounds = isRequest ? writeLimits(schema) : '';
  const mark = isRequest && isRequired ? html` <span class="required">required</span>` : undefined;
  const nested = depth === 0 ? undefined : html` class="d${Math.min(depth, 5)}"`;
  const meaning = prose([description, bounds].filter(Boolean).join(' '));
  // HTML needs no end tags here. They were a tenth of the largest page.
  return html`<tr${nested}><td>${writeName(name)}${mark}<td>${writeType(schema)}<td>${meaning}`;
};

/** Writes a table of an object's fields; nested fields follow their parent. Writes nothing if there are no fields. */
export const writeFields = (schema: JsonSchema, use: 'request' | 'response'): Piece => {
  const rows = fieldsOf(schema).map((field) => writeRow(field, use === 'request'));
  return rows.length === 0
    ? undefined
    : html`<div class="scroll"><table class="fields"><thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows}</tbody></table></div>`;
};
