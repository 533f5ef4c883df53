import { z } from 'zod';

type Node = Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
const nodes = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.filter(isNode) : []);

/** Returns a schema as JSON Schema with its references resolved. */
export const inlined = (schema: z.ZodType, io: 'input' | 'output' = 'input'): Node => {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io });
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace);
    if (!isNode(value)) return value;
    const name = typeof value.$ref === 'string' ? value.$ref.split('/').at(-1) : undefined;
    if (name !== undefined) return replace(Reflect.get($defs, name));
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replace(inner)]));
  };
  const result = replace(root);
  if (!isNode(result)) throw new Error('not a schema');
  return result;
};

const members = (node: Node, prefix: string): readonly string[] => {
  const required = Array.isArray(node.required) ? node.required : [];
  return Object.entries(isNode(node.properties) ? node.properties : {}).flatMap(([name, inner]) =>
    isNode(inner)
      ? [`${prefix}${name}${required.includes(name) ? '!' : ''}`, ...fieldsOf(inner, `${prefix}${name}.`)]
      : [],
  );
};

/**
 * Returns paths such as `params.allowedEmbeds` and `list.inner!` (required). Arrays add nothing to a path; the
 * alternatives of a union are merged.
 */
const fieldsOf = (node: Node, prefix = ''): readonly string[] => {
  if (isNode(node.items)) return fieldsOf(node.items, prefix);
  const forms = nodes(node.anyOf ?? node.oneOf);
  return [...new Set([...members(node, prefix), ...forms.flatMap((form) => fieldsOf(form, prefix))])];
};

/** Returns the fields of an input. Fields inside filter values are left out, since their type is always the same. */
export const inputFields = (schema: z.ZodType): readonly string[] => fieldsOf(inlined(schema)).toSorted();

/** Returns every path in a schema with its JSON Schema. */
export const places = (node: Node, path = ''): readonly { readonly path: string; readonly node: Node }[] => [
  { path, node },
  ...Object.entries(isNode(node.properties) ? node.properties : {}).flatMap(([name, inner]) =>
    isNode(inner) ? places(inner, `${path}.${name}`) : [],
  ),
  ...(isNode(node.items) ? places(node.items, `${path}[]`) : []),
  ...(isNode(node.additionalProperties) ? places(node.additionalProperties, `${path}{}`) : []),
  ...(isNode(node.propertyNames) ? places(node.propertyNames, `${path}<name>`) : []),
  ...nodes(node.anyOf ?? node.oneOf).flatMap((form) => places(form, path)),
];
