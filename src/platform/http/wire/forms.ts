/** Decodes forms (multipart/form-data), for bindings that accept one, to the same body object as JSON. */
import { Refusal } from '../../../model/refusal.js';
import { limits } from '../interface/fields.js';
import type { Multipart } from '../interface/operation.js';
import { assertFewJson } from './body-faults.js';
import { writeFaults } from './faults.js';

type Part = readonly [name: string, value: string | File];
type Parts = Iterable<Part>;

const refuse = (faults: readonly string[]): never => {
  throw new Refusal('INVALID_REQUEST_BODY', writeFaults(faults), { reason: 'form' });
};

/** Refuses forms with too many parts before parsing them. */
const assertFewParts = (body: Buffer, contentType: string): void => {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1]?.trim();
  if (boundary === undefined) return;
  const mark = Buffer.from(`--${boundary}`);
  let count = 0;
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length)) count += 1;
  // The last boundary closes the form and starts no part.
  if (count > limits.formParts + 1) refuse([`got ${count - 1} parts, expected at most ${limits.formParts}`]);
};

/** Parses the form with Node's own parser. It throws if the form is cut short, lacks names or has a wrong boundary. */
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
  if (parts.length > limits.formParts) refuse([`got ${parts.length} parts, expected at most ${limits.formParts}`]);
  const names = parts.map(([name]) => name);
  const twice = names.filter((name, index) => names.indexOf(name) < index);
  if (twice.length > 0) {
    refuse([...new Set(twice)].map((name) => `${JSON.stringify(name.slice(0, 40))}: the part was sent more than once`));
  }
};

const parseJson = (text: string, part: string): { readonly value: unknown } | undefined => {
  assertFewJson(text, { maxBytes: limits.bodyBytes, root: part });
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

/** Returns the file's complete JSON, since the version beside the data decides how to read it. */
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
    `${part}: got ${parsed === undefined ? 'text that is not JSON' : 'JSON without it'}, expected an object \`${member}\` at its top.`,
  );
};

type Field = { readonly entry: readonly [string, unknown] } | { readonly fault: string };

const readField = ({ jsonFields, file }: Multipart, [name, value]: Part): Field => {
  if (typeof value !== 'string') return { fault: `${name}: got a file, expected text` };
  if (name === file.part) return { fault: `${name}: got text, expected a file` };
  if (!jsonFields.includes(name)) return { entry: [name, value] };
  const parsed = parseJson(value, name);
  return parsed === undefined
    ? { fault: `${name}: got text that is not JSON, expected its value as JSON` }
    : { entry: [name, parsed.value] };
};

/**
 * Returns the body that the form stands for. Throws INVALID_REQUEST_BODY, or the declared code for a fault in the file.
 */
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
    // The file replaces the field, whatever the field contains.
    .filter(([name, value]) => value !== file && (file === undefined || name !== field))
    .map((one) => readField(multipart, one));
  const faults = read.flatMap((one) => ('fault' in one ? [one.fault] : []));
  if (faults.length > 0) refuse(faults);
  const entries = read.flatMap((one) => ('entry' in one ? [one.entry] : []));
  return Object.fromEntries(file === undefined ? entries : [...entries, [field, await readFile(file, multipart.file)]]);
};
