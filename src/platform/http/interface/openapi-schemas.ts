import { z } from 'zod';
import type { JsonSchema } from './openapi-types.js';

type Json = Readonly<Record<string, unknown>>;

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Writes a record with known names as an object with these properties. */
const withKnownNames = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withKnownNames);
  if (!isJson(value)) return value;
  const { propertyNames, ...schema } = value;
  const names = isJson(propertyNames) && Array.isArray(propertyNames.enum) ? propertyNames.enum.map(String) : undefined;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, withKnownNames(member)]));
  if (names === undefined || !isJson(inner.additionalProperties))
    return propertyNames === undefined ? inner : { ...inner, propertyNames };
  const properties = Object.fromEntries(names.map((name) => [name, inner.additionalProperties]));
  return { ...inner, properties, additionalProperties: false };
};

/** Collects the schemas that several operations share. */
export const createSchemas = () => {
  const shared = new Map<string, JsonSchema>();
  const repoint = (schema: JsonSchema): JsonSchema =>
    JSON.parse(JSON.stringify(withKnownNames(schema)).replaceAll('"#/$defs/', '"#/components/schemas/'));
  const add = (name: string, schema: JsonSchema) => {
    const known = shared.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas have the id ${name}. Give one of them another id.`);
    }
    shared.set(name, schema);
  };
  const write = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema => {
    const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' });
    for (const [name, definition] of Object.entries($defs)) {
      const { id: __, ...body } = repoint(definition as JsonSchema);
      add(name, body);
    }
    return repoint(rest);
  };
  return {
    write,
    all: () => Object.fromEntries([...shared].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
};
export type Schemas = ReturnType<typeof createSchemas>;
