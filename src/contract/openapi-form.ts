import type { JsonSchema, OpenApiContent } from './openapi.js';
import type { Multipart } from './operation.js';

/** The fields of `schema` as a form: what is not text comes as JSON in a text, and beside them the file. */
export const writeForm = (multipart: Multipart | undefined, schema: JsonSchema): OpenApiContent => {
  if (multipart === undefined) return {};
  const { jsonFields, file } = multipart;
  const fields = Object.entries((schema.properties ?? {}) as Readonly<Record<string, unknown>>).map(([name, field]) => [
    name,
    jsonFields.includes(name)
      ? { type: 'string', contentMediaType: 'application/json', description: `The field \`${name}\` as JSON.` }
      : field,
  ]);
  const upload = {
    type: 'string',
    format: 'binary',
    description: `A .json file of type ${file.contentType} with an object \`${file.member}\`; takes precedence over \`${file.field}\`.`,
  };
  const properties = Object.fromEntries([...fields, [file.part, upload]]);
  return { 'multipart/form-data': { schema: { ...schema, properties } } };
};
