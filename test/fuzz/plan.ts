/** Generates requests with fast-check: from the operations' schemas, then made invalid in one way or left valid. */
import fc from 'fast-check';
import type { Binding, Credential, Operation } from '../../src/platform/http/interface/operation.js';
import { operations } from '../../src/service/operations.js';
import { inlined } from '../service/contract/json-fields.js';

type Node = Readonly<Record<string, unknown>>;
type AnyBinding = Binding<unknown, unknown>;

/** A request before names are put in: `§field:3` stands for the third thing of that kind that exists. */
export type Plan = {
  readonly operation: string;
  readonly binding: number;
  readonly way: string;
  readonly credential: Credential | 'none' | 'wrong' | 'odd';
  readonly method: string;
  readonly path: string;
  /** Query parameters before encoding, in order; a name may occur twice. */
  readonly query: readonly (readonly [string, string])[];
  readonly contentType: string | null;
  readonly body: { readonly json: unknown } | { readonly raw: string } | { readonly form: unknown } | null;
};

/** Whether a field holds a secret. Its values are unique, and no answer or log may show them. */
export const isSecretField = (field: string): boolean => /^(password|secret)$/i.test(field);

const placeholder = (field: string, pick: number): string => `§${field}:${pick}`;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
const nodesOf = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.filter(isNode) : []);

const nameText = fc.constantFrom('Ünïcode', '日本', 'a b', "it's", '%', '..', '😀', '-', 'x'.repeat(255));

/** Usually the name of an existing thing. */
const nameOf = (field: string): fc.Arbitrary<string> =>
  isSecretField(field) ? fc.nat(40).map((pick) => placeholder(field, pick)) : nameOrText(field);

const nameOrText = (field: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.nat(40).map((pick) => placeholder(field, pick)) },
    { weight: 1, arbitrary: fc.nat(30).map((number) => `fuzz${number}`) },
    { weight: 1, arbitrary: nameText },
  );

const numberIn = ({ type, minimum, maximum }: Node): fc.Arbitrary<number> => {
  const low = typeof minimum === 'number' ? Math.max(minimum, -1000) : -1000;
  const high = typeof maximum === 'number' ? Math.min(maximum, 100_000) : 100_000;
  return type === 'integer' ? fc.integer({ min: low, max: Math.max(low, high) }) : fc.integer({ min: low, max: high });
};

const objectOf = (node: Node): fc.Arbitrary<unknown> => {
  const properties = Object.entries(isNode(node.properties) ? node.properties : {});
  const required = new Set(Array.isArray(node.required) ? node.required.map(String) : []);
  const members = Object.fromEntries(
    properties.map(([name, inner]) => {
      const value = validFor(isNode(inner) ? inner : {}, name);
      // Most optional fields are left out, because a request with all fields is usually refused.
      const optional = fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
      return [name, required.has(name) ? value : optional];
    }),
  );
  const fixed = fc.record(members).map((value) => {
    const given = Object.entries(value).filter(([, inner]) => inner !== undefined);
    return Object.fromEntries(given);
  });
  if (!isNode(node.additionalProperties)) return fixed;
  return fc.dictionary(nameOf('filter'), validFor(node.additionalProperties, 'filterValue'), { maxKeys: 3 });
};

/** A value that the schema accepts; `field` says which names fit. */
export const validFor = (node: Node, field: string): fc.Arbitrary<unknown> => {
  const forms = nodesOf(node.anyOf ?? node.oneOf);
  if (forms.length > 0) return fc.oneof(...forms.map((form) => validFor(form, field)));
  if (node.const !== undefined) return fc.constant(node.const);
  if (Array.isArray(node.enum)) return fc.constantFrom(...node.enum);
  if (node.type === 'object') return objectOf(node);
  if (node.type === 'array') return fc.array(validFor(isNode(node.items) ? node.items : {}, field), { maxLength: 3 });
  if (node.type === 'string') return nameOf(field);
  if (node.type === 'boolean') return fc.boolean();
  if (node.type === 'null') return fc.constant(null);
  if (node.type === 'number' || node.type === 'integer') return numberIn(node);
  return fc.constantFrom<unknown>({ a: 1 }, 'text', 7, null);
};

const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    ' ',
    'a\0b',
    '\ud800',
    'x\udc00y',
    '__proto__',
    'constructor',
    'x'.repeat(256),
    'x'.repeat(5000),
    '\u202e\ufeff\u200b',
    "'; DROP TABLE guestlist.data_apps; --",
    '{{DATABASE_NAME}}',
    -1,
    1e308,
    -0,
    1.5,
    9_007_199_254_740_991,
    [],
    {},
    [[[[[[[[[[]]]]]]]]]],
  ),
  fc.constant(Array.from({ length: 1001 }, (_, index) => `v${index}`)),
  fc.constant(JSON.parse('{"__proto__":{"isAdmin":true}}')),
  fc.constant(JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)),
  fc.constant(JSON.parse(`${'['.repeat(300)}1${']'.repeat(300)}`)),
);

type Place = readonly (string | number)[];

const placesOf = (value: unknown, path: Place = []): readonly Place[] => {
  const inner = Array.isArray(value)
    ? value.flatMap((item, index) => placesOf(item, [...path, index]))
    : isNode(value)
      ? Object.entries(value).flatMap(([name, item]) => placesOf(item, [...path, name]))
      : [];
  return [path, ...inner];
};

const withMember = (object: Node, name: string, value: unknown): Node => {
  const copy = { ...object };
  if (value === undefined) delete copy[name];
  else Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true });
  return copy;
};

/** The value with a part replaced, or removed if undefined. */
const replaced = (value: unknown, [step, ...rest]: Place, by: unknown): unknown => {
  if (step === undefined) return by;
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? replaced(item, rest, by) : item));
  if (!isNode(value)) return by;
  return withMember(value, String(step), replaced(value[String(step)], rest, by));
};

type Spoiling = (valid: unknown) => fc.Arbitrary<unknown>;

const somewhere = (valid: unknown): fc.Arbitrary<Place> => fc.constantFrom(...placesOf(valid));

const spoilings: Readonly<Record<string, Spoiling>> = {
  missing: (valid) => somewhere(valid).map((place) => replaced(valid, place, undefined)),
  wrong: (valid) => fc.tuple(somewhere(valid), junk).map(([place, value]) => replaced(valid, place, value)),
  extra: (valid) =>
    fc
      .tuple(fc.constantFrom('extra', '__proto__', 'constructor', 'tenant_id', 'x'.repeat(300), '\ud800'), junk)
      .map(([name, value]) => (isNode(valid) ? withMember(valid, name, value) : valid)),
  several: (valid) =>
    fc
      .array(fc.tuple(somewhere(valid), junk), { minLength: 2, maxLength: 5 })
      .map((all) => all.reduce((value, [place, by]) => replaced(value, place, by), valid)),
  twice: (valid) =>
    fc.constant(
      JSON.parse(JSON.stringify(valid ?? null), (_, item) => (Array.isArray(item) ? [...item, ...item] : item)),
    ),
};

const rawBodies = [
  `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  `{"name":"${'x'.repeat(3_000_000)}"}`,
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '1e999',
  '{"a":1,"a":2}',
  '\ufeff{}',
  '{"\\ud800":1}',
  '\u00ff\u00fe',
  '{"a":01}',
];
const contentTypes = [
  null,
  'text/plain',
  'application/xml',
  'application/json; charset=latin1',
  'application/json; charset=nonsense',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'APPLICATION/JSON',
  'application/json;;;',
];
const oddQueries: readonly (readonly [string, string])[] = [
  ['a[]', '1'],
  ['a[b]', '1'],
  ['__proto__', 'x'],
  ['isPagination', 'true'],
  ['pageNumber', '-1'],
  ['', ''],
  ['x'.repeat(300), 'y'],
];

const parameters = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** The request for an input in the form of the binding, even if the input is invalid. */
const toPlan = (operation: Operation, index: number, binding: AnyBinding, input: unknown, way: string): Plan => {
  const names = parameters(binding.path);
  const fields = isNode(input) ? input : {};
  const path = names.reduce(
    (text, name) => text.replace(`{${name}}`, `{${asText(fields[name] ?? 'x')}}`),
    binding.path,
  );
  const rest = Object.entries(fields).filter(([name]) => !names.includes(name));
  const json = isNode(input) ? rest.reduce<Node>((all, [name, value]) => withMember(all, name, value), {}) : input;
  const isForm = binding.multipart !== undefined && way === 'form';
  return {
    operation: operation.name,
    binding: index,
    way,
    credential: operation.credentials[0] ?? 'none',
    method: binding.method,
    path,
    query: binding.from === 'query' ? rest.map(([name, value]) => [name, asText(value)] as const) : [],
    contentType: binding.from === 'body' && !isForm ? 'application/json' : null,
    body: binding.from !== 'body' ? null : isForm ? { form: json } : { json },
  };
};

const credentials = ['apiKey', 'serviceToken', 'guestToken', 'none', 'wrong', 'odd'] as const;

/** Faults outside a valid input: credential, content type, method, path, query. */
const aroundOf = (plan: Plan): fc.Arbitrary<Plan> =>
  fc.oneof(
    fc.constantFrom(...credentials).map((credential) => ({ ...plan, credential, way: 'credential' })),
    fc.constantFrom(...contentTypes).map((contentType) => ({ ...plan, contentType, way: 'content type' })),
    fc
      .constantFrom(...rawBodies)
      .map((raw) => ({ ...plan, body: { raw }, contentType: 'application/json', way: 'raw' })),
    fc
      .constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS')
      .map((method) => ({ ...plan, method, way: 'method' })),
    fc
      .constantFrom('/', '//', '/x', '%00', '%', '%2f', '/..')
      .map((tail) => ({ ...plan, path: plan.path + tail, way: 'path' })),
    fc.constantFrom(...oddQueries).map((pair) => ({ ...plan, query: [...plan.query, pair], way: 'query' })),
    fc.constant({ ...plan, query: plan.query.flatMap((pair) => [pair, pair]), way: 'query twice' }),
  );

export const planFor = (operation: Operation, index: number): fc.Arbitrary<Plan> => {
  const binding: AnyBinding | undefined = operation.bindings[index];
  if (binding === undefined) throw new Error(`${operation.name} has no binding ${index}`);
  const valid = validFor(inlined(binding.input ?? operation.input), 'input');
  const make = (way: string) => (input: unknown) => toPlan(operation, index, binding, input, way);
  const spoilt = fc
    .tuple(valid, fc.constantFrom(...Object.entries(spoilings)))
    .chain(([input, [way, spoil]]) => spoil(input).map(make(way)));
  return fc.oneof(
    { weight: 7, arbitrary: valid.map(make('valid')) },
    { weight: 5, arbitrary: spoilt },
    { weight: 2, arbitrary: valid.map(make('valid')).chain(aroundOf) },
    ...(binding.multipart === undefined ? [] : [{ weight: 3, arbitrary: valid.map(make('form')) }]),
  );
};

/** Any request of any operation. */
export const anyPlan: fc.Arbitrary<Plan> = fc.oneof(
  ...Object.values<Operation>(operations).flatMap((operation) =>
    operation.bindings.map((_, index) => planFor(operation, index)),
  ),
);
