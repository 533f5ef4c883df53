import type { Schemas } from './openapi-schemas.js';
import type { JsonSchema, OpenApiMedia, OpenApiParameter } from './openapi-types.js';
import type { Binding, Multipart, Operation } from './operation.js';

type Json = Record<string, unknown>;

const parameterNames = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');

const asRecord = (value: unknown): Json => (typeof value === 'object' && value !== null ? { ...value } : {});

const asNames = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

const withoutFields = (schema: JsonSchema, names: readonly string[]): JsonSchema => {
  const properties = Object.entries(asRecord(schema.properties)).filter(([name]) => !names.includes(name));
  const required = asNames(schema.required).filter((name) => !names.includes(name));
  const { required: _, ...rest } = schema;
  return { ...rest, properties: Object.fromEntries(properties), ...(required.length > 0 ? { required } : {}) };
};

const toParameter = (schema: JsonSchema, name: string, place: 'path' | 'query', example: unknown): OpenApiParameter => {
  const { description, ...rest } = asRecord(asRecord(schema.properties)[name]);
  if (rest.type === 'object') throw new TypeError(`parameter ${name} is text, and cannot hold an object`);
  const value = asRecord(example)[name];
  return {
    name,
    in: place,
    required: place === 'path' || asNames(schema.required).includes(name),
    ...(typeof description === 'string' ? { description } : {}),
    schema: rest,
    // Examples in a query string are text.
    ...(value === undefined ? {} : { example: String(value) }),
  };
};

export type AnyBinding = Binding<unknown, unknown>;

const withoutKeys = (value: unknown, names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(asRecord(value)).filter(([name]) => !names.includes(name)));

/** Describes the body as a form: JSON fields are strings of JSON, and the file replaces a field. */
const toForm = (schema: JsonSchema, { jsonFields, file }: Multipart): OpenApiMedia => {
  const given = Object.entries(asRecord(schema.properties));
  const properties = given.map(([name, contentSchema]) => {
    if (!jsonFields.includes(name)) return [name, contentSchema];
    const { description } = asRecord(contentSchema);
    const text = { type: 'string', contentMediaType: 'application/json', contentSchema };
    return [name, typeof description === 'string' ? { description, ...text } : text];
  });
  const upload = {
    type: 'string',
    format: 'binary',
    description: `A JSON file. Its \`${file.member}\` becomes the value of \`${file.field}\`, and replaces that field if it is sent too.`,
  };
  return {
    schema: { ...schema, properties: { ...Object.fromEntries(properties), [file.part]: upload } },
    encoding: { [file.part]: { contentType: file.contentType } },
  };
};

const writeBody = (operation: Operation, { multipart }: AnyBinding, schema: JsonSchema, inPath: readonly string[]) => {
  const body = inPath.length > 0 ? withoutFields(schema, inPath) : schema;
  const example = operation.example ? { example: withoutKeys(operation.example.input, inPath) } : {};
  const form = multipart === undefined ? {} : { 'multipart/form-data': toForm(body, multipart) };
  return { required: true as const, content: { 'application/json': { schema: body, ...example }, ...form } };
};

/** Returns the parameters and the body of a binding. */
export const writeRequest = (operation: Operation, binding: AnyBinding, schemas: Schemas) => {
  const schema = schemas.write(binding.input ?? operation.input, 'input');
  const inPath = parameterNames(binding.path);
  const inQuery =
    binding.from === 'query' ? Object.keys(asRecord(schema.properties)).filter((name) => !inPath.includes(name)) : [];
  const parameters = [
    ...inPath.map((name) => toParameter(schema, name, 'path', operation.example?.input)),
    ...inQuery.map((name) => toParameter(schema, name, 'query', operation.example?.input)),
  ];
  return {
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(binding.from === 'body' ? { requestBody: writeBody(operation, binding, schema, inPath) } : {}),
  };
};
