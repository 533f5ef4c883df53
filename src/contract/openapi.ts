/** The OpenAPI 3.1 document of a set of operations. The same operations always give the same text. */
import { type AnyBinding, writeRequest } from './openapi-request.js';
import { createSchemas, type Schemas } from './openapi-schemas.js';
import type { JsonSchema, OpenApiDocument, OpenApiOperation } from './openapi-types.js';
import type { Credential, Operation, Resource } from './operation.js';

export type * from './openapi-types.js';

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
  503: 'A database cannot serve now; `Retry-After` says when to ask again',
};

/** What any operation may answer while a database is away, and queries while that of their datasource is. */
const unavailableCodes = ({ errors }: Operation): readonly string[] =>
  'METRIC_QUERY_ERROR' in errors ? ['METRIC_QUERY_ERROR', 'SERVICE_UNAVAILABLE'] : ['SERVICE_UNAVAILABLE'];

const writeErrors = (operation: Operation) => {
  const codesOf = (status: number): readonly string[] =>
    status === 503
      ? unavailableCodes(operation)
      : Object.entries(operation.errors).flatMap(([code, given]) => (given === status ? [code] : []));
  const statuses = [...new Set([...Object.values(operation.errors), 503])].toSorted((a, b) => a - b);
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
