/** The OpenAPI 3.1 document of a set of operations. The same operations always give the same text. */
import { z } from 'zod';
import { writeForm } from './openapi-form.js';
import type { Binding, Credential, Operation, Resource } from './operation.js';

export type JsonSchema = { readonly [keyword: string]: unknown };
type Json = Record<string, unknown>;

export type OpenApiParameter = {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
};
export type OpenApiContent = Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>;
export type OpenApiOperation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: true;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: { readonly required: true; readonly content: OpenApiContent };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content: OpenApiContent }>>;
  /** The operation's name, which its bindings share. */
  readonly 'x-operation': string;
};
export type OpenApiDocument = {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: Readonly<Record<Credential, JsonSchema>>;
  };
};

const resources: Readonly<Record<Resource, string>> = {
  'Guest tokens': 'Made by the host’s backend for one end user.',
  Embeds: 'Dashboards and metrics as a data app shows them.',
  'Data apps': 'What API keys, embeds and guest tokens belong to.',
  Keys: 'API keys of a data app, and service tokens of the organization.',
  Datasources: 'Databases that hold the customers’ rows.',
  Datamarts: 'Selections of tables and columns, with tenancy and relationships.',
  'Semantic layer': 'Descriptions, synonyms and column types of a datamart.',
  Workspaces: 'Where dashboards and metrics are kept.',
  Dashboards: 'Dashboards as files, and what becomes of them.',
  'Metric queries': 'Data for the host’s backend.',
  'Guest reads': 'What a front end reads with a guest token.',
  'Guest writes': 'What a front end changes with a guest token, by permission.',
};

const securitySchemes: Readonly<Record<Credential, JsonSchema>> = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'API key of a data app. Never put it in front-end code.',
  },
  serviceToken: { type: 'http', scheme: 'bearer', description: 'Service token of the organization.' },
  guestToken: { type: 'http', scheme: 'bearer', description: 'Guest token of one end user.' },
};

/** Collects the schemas that several operations share. */
const createSchemas = () => {
  const shared = new Map<string, JsonSchema>();
  const repoint = (schema: JsonSchema): JsonSchema =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
  const add = (name: string, schema: JsonSchema) => {
    const known = shared.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas are called ${name}; give one of them another id.`);
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
type Schemas = ReturnType<typeof createSchemas>;

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
  const value = asRecord(example)[name];
  return {
    name,
    in: place,
    required: place === 'path' || asNames(schema.required).includes(name),
    ...(typeof description === 'string' ? { description } : {}),
    schema: rest,
    // In a query everything is text.
    ...(value === undefined ? {} : { example: String(value) }),
  };
};

type AnyBinding = Binding<unknown, unknown>;

const writeRequest = (operation: Operation, binding: AnyBinding, schemas: Schemas) => {
  const schema = schemas.write(binding.input ?? operation.input, 'input');
  const pathNames = parameterNames(binding.path);
  const queryNames =
    binding.from === 'query'
      ? Object.keys(asRecord(schema.properties)).filter((name) => !pathNames.includes(name))
      : [];
  const parameters = [
    ...pathNames.map((name) => toParameter(schema, name, 'path', operation.example?.input)),
    ...queryNames.map((name) => toParameter(schema, name, 'query', operation.example?.input)),
  ];
  const body = {
    schema: pathNames.length > 0 ? withoutFields(schema, pathNames) : schema,
    ...(operation.example ? { example: withoutKeys(operation.example.input, pathNames) } : {}),
  };
  return {
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(binding.from === 'body'
      ? {
          requestBody: {
            required: true as const,
            content: { 'application/json': body, ...writeForm(binding.multipart, body.schema) },
          },
        }
      : {}),
  };
};

const withoutKeys = (value: unknown, names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(asRecord(value)).filter(([name]) => !names.includes(name)));

const errorSchema = (codes: readonly string[]): JsonSchema => ({
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'string', enum: codes },
        message: { type: 'string' },
        status: { type: 'integer' },
      },
      required: ['code', 'message'],
    },
  },
  required: ['error'],
});

const statusTexts: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  401: 'Missing, wrong or expired credential',
  403: 'Not allowed',
  404: 'Not found',
  500: 'Failure of the service',
};

const writeErrors = (operation: Operation) => {
  const codesOf = (status: number): readonly string[] =>
    Object.entries(operation.errors).flatMap(([code, given]) => (given === status ? [code] : []));
  const statuses = [...new Set(Object.values(operation.errors))].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = codesOf(status).toSorted();
      const description = `${statusTexts[status] ?? 'Error'}: ${codes.map((code) => `\`${code}\``).join(', ')}`;
      return [String(status), { description, content: { 'application/json': { schema: errorSchema(codes) } } }];
    }),
  );
};

const writeResponses = (operation: Operation, binding: AnyBinding, schemas: Schemas) => {
  const isOwnShape = binding.encode !== undefined;
  const schema = schemas.write(binding.output ?? operation.output, 'output');
  const example = operation.example && !isOwnShape ? { example: operation.example.output } : {};
  const good = { description: 'Success', content: { [operation.contentType]: { schema, ...example } } };
  return { '200': good, ...writeErrors(operation) };
};

const writeOperation = (operation: Operation, index: number, schemas: Schemas): OpenApiOperation => {
  const binding: AnyBinding | undefined = operation.bindings[index];
  if (binding === undefined) throw new Error(`${operation.name} has no binding ${index}`);
  return {
    operationId: index === 0 ? operation.name : `${operation.name}${index + 1}`,
    tags: [operation.resource],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(binding.isLegacy === true ? { deprecated: true as const } : {}),
    security: operation.credentials.map((credential) => ({ [credential]: [] })),
    ...writeRequest(operation, binding, schemas),
    responses: writeResponses(operation, binding, schemas),
    'x-operation': operation.name,
  };
};

/** Of bindings that share method and path, the document shows the one without a condition. */
const isDocumented = (binding: AnyBinding, all: readonly AnyBinding[]): boolean =>
  binding.when === undefined ||
  !all.some((other) => other.when === undefined && other.method === binding.method && other.path === binding.path);

const writePaths = (operations: readonly Operation[], schemas: Schemas) => {
  const all = operations.flatMap(({ bindings }): readonly AnyBinding[] => bindings);
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const operation of operations) {
    for (const [index, binding] of operation.bindings.entries()) {
      if (!isDocumented(binding, all)) continue;
      const methods = paths[binding.path] ?? {};
      paths[binding.path] = { ...methods, [binding.method.toLowerCase()]: writeOperation(operation, index, schemas) };
    }
  }
  return paths;
};

/** Writes the document; `version` is the package's. */
export const createOpenApi = (
  operations: Readonly<Record<string, Operation>>,
  { version }: { readonly version: string },
): OpenApiDocument => {
  const list = Object.values(operations);
  const schemas = createSchemas();
  const paths = writePaths(list, schemas);
  const used = new Set(list.map(({ resource }) => resource));
  const tags = Object.entries(resources)
    .filter(([name]) => [...used].some((resource) => resource === name))
    .map(([name, description]) => ({ name, description }));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Guestlist',
      version,
      description: 'Embedded analytics: guest tokens, embeds, dashboards and metric queries, each tenant apart.',
    },
    servers: [{ url: '/', description: 'This server' }],
    tags,
    paths,
    components: { schemas: schemas.all(), securitySchemes },
  };
};
