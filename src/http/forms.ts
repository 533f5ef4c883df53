/** Forms (multipart/form-data) beside JSON, on the bindings that declare one: the parts become the same body object. */
import { limits } from '../contract/fields.js';
import type { Multipart } from '../contract/operation.js';
import { Refusal } from '../domain/refusal.js';
import { assertFewJson } from './body-faults.js';
import { writeFaults } from './faults.js';

type Part = readonly [name: string, value: string | File];
type Parts = Iterable<Part>;

const refuse = (faults: readonly string[]): never => {
  throw new Refusal('INVALID_REQUEST_BODY', writeFaults(faults), { reason: 'form' });
};

/** Counted before anything is made of them: thousands of parts are work for nothing. */
const assertFewParts = (body: Buffer, contentType: string): void => {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1]?.trim();
  if (boundary === undefined) return;
  const mark = Buffer.from(`--${boundary}`);
  let count = 0;
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length)) count += 1;
  // The last one closes the form.
  if (count > limits.formParts + 1) refuse([`${count - 1} parts came, expected at most ${limits.formParts}`]);
};

/** Node's own parser takes the whole form or none of it: cut short, without names or with a wrong boundary, it throws. */
const readParts = async (body: Buffer, contentType: string): Promise<readonly Part[]> => {
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
    return [...(form as unknown as Parts)];
  } catch (cause) {
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      'The form cannot be read: send multipart/form-data with the boundary of its Content-Type, a name for each part, and the closing boundary.',
      { reason: 'form', cause },
    );
  }
};

const assertParts = (parts: readonly Part[]): void => {
  if (parts.length > limits.formParts) refuse([`${parts.length} parts came, expected at most ${limits.formParts}`]);
  const names = parts.map(([name]) => name);
  const twice = names.filter((name, index) => names.indexOf(name) < index);
  if (twice.length > 0) {
    refuse([...new Set(twice)].map((name) => `${JSON.stringify(name.slice(0, 40))}: the part came more than once`));
  }
};

const parseJson = (text: string, part: string): { readonly value: unknown } | undefined => {
  assertFewJson(text, limits.bodyBytes, part);
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
};

const mediaType = ({ type }: File): string => (type.split(';', 1)[0] ?? '').trim().toLowerCase();

const hasOwnObject = (value: unknown, name: string): boolean => {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
  const member: unknown = Reflect.get(value, name);
  return typeof member === 'object' && member !== null && !Array.isArray(member);
};

/** The file's whole JSON: what stands beside its data says how to read it. */
const readFile = async (file: File, declared: Multipart['file']): Promise<unknown> => {
  const { part, contentType, member } = declared;
  if (!file.name.toLowerCase().endsWith('.json') || mediaType(file) !== contentType) {
    refuse([`${part}: expected a file named *.json of type ${contentType}`]);
  }
  const text = new TextDecoder('utf-8').decode(await file.arrayBuffer());
  const parsed = parseJson(text, part);
  if (parsed !== undefined && hasOwnObject(parsed.value, member)) return parsed.value;
  throw new Refusal(
    declared.code,
    `${part}: ${parsed === undefined ? 'text that is not JSON' : 'JSON without it'} came, expected an object \`${member}\` at its top.`,
  );
};

type Field = { readonly entry: readonly [string, unknown] } | { readonly fault: string };

const readField = ({ jsonFields, file }: Multipart, [name, value]: Part): Field => {
  if (typeof value !== 'string') return { fault: `${name}: a file came, expected text` };
  if (name === file.part) return { fault: `${name}: text came, expected a file` };
  if (!jsonFields.includes(name)) return { entry: [name, value] };
  const parsed = parseJson(value, name);
  return parsed === undefined
    ? { fault: `${name}: text that is not JSON came, expected its value as JSON` }
    : { entry: [name, parsed.value] };
};

/** The form as the body that JSON would have brought. Throws INVALID_REQUEST_BODY, or the file's own code for its content. */
export const decodeForm = async (
  body: Buffer,
  contentType: string,
  multipart: Multipart,
): Promise<Readonly<Record<string, unknown>>> => {
  const { part, field } = multipart.file;
  assertFewParts(body, contentType);
  const parts = await readParts(body, contentType);
  assertParts(parts);
  const file = parts.flatMap(([name, value]) => (name === part && typeof value !== 'string' ? [value] : []))[0];
  const read = parts
    // The file takes precedence, whatever stands in the field.
    .filter(([name, value]) => value !== file && (file === undefined || name !== field))
    .map((one) => readField(multipart, one));
  const faults = read.flatMap((one) => ('fault' in one ? [one.fault] : []));
  if (faults.length > 0) refuse(faults);
  const entries = read.flatMap((one) => ('entry' in one ? [one.entry] : []));
  return Object.fromEntries(file === undefined ? entries : [...entries, [field, await readFile(file, multipart.file)]]);
};
