/** Writes the OpenAPI 3.1 document of a set of operations. The same operations always give the same text. */
import { type AnyBinding, writeRequest } from './openapi-request.js';
import { createSchemas, type Schemas } from './openapi-schemas.js';
import type { JsonSchema, OpenApiDocument, OpenApiOperation } from './openapi-types.js';
import type { Credential, Operation, Resource } from './operation.js';

export type * from './openapi-types.js';

const resources: Readonly<Record<Resource, string>> = {
  'Guest tokens': 'Created by the host’s backend for one end user.',
  Embeds: 'Dashboards and metrics that a data app may show.',
  'Data apps': 'Each data app has its own API keys, embeds and guest tokens.',
  'Running work': 'What runs now in all processes of the installation.',
  Keys: 'API keys of a data app, and service tokens of the organization.',
  Datasources: 'Databases that hold the customers’ rows.',
  Datamarts: 'Selections of tables and columns, with tenancy and relationships.',
  Rollups: 'Sums that are kept beside a datasource, as a datamart declares them.',
  'Semantic layer': 'Descriptions, synonyms and column types of a datamart.',
  Workspaces: 'Collections of dashboards and metrics.',
  Dashboards: 'Export, import and deletion of dashboards.',
  'Metric queries': 'Metric data for the host’s backend.',
  'Guest reads': 'Reads of a front end with a guest token.',
  'Guest writes': 'Changes of a front end with a guest token, if it has the permission.',
  'Guest reports': 'Reports by e-mail that a guest schedules to itself, if the embed allows it.',
  'Tenant reports': 'Reports that the host schedules for all tenants that have a copy of a template.',
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
  409: 'Changed by somebody else',
  500: 'An error inside the service',
  503: 'A database or a language model is unavailable; retry after the seconds in `Retry-After`',
};

/**
 * Codes that any operation may answer while the metadata database is unavailable, and queries while their datasource
 * is.
 */
const unavailableCodes = ({ errors }: Operation): readonly string[] =>
  'METRIC_QUERY_ERROR' in errors ? ['METRIC_QUERY_ERROR', 'SERVICE_UNAVAILABLE'] : ['SERVICE_UNAVAILABLE'];

const writeErrors = (operation: Operation) => {
  const codesOf = (status: number): readonly string[] => {
    const declared = Object.entries(operation.errors).flatMap(([code, given]) => (given === status ? [code] : []));
    return status === 503 ? [...new Set([...declared, ...unavailableCodes(operation)])] : declared;
  };
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
  const isBinary = operation.output.meta()?.format === 'binary';
  const example = operation.example && !isOwnShape && !isBinary ? { example: operation.example.output } : {};
  const good = { description: 'Success', content: { [operation.contentType]: { schema, ...example } } };
  if (operation.tagOf === undefined) return { '200': good, ...writeErrors(operation) };
  const headers = { ETag: { schema: { type: 'string' }, description: 'For `If-None-Match` of a later request.' } };
  const same = { description: 'The answer is the one that `If-None-Match` names', headers };
  return { '200': { ...good, headers }, '304': same, ...writeErrors(operation) };
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

/** If several bindings share a method and a path, the document contains the one without a condition. */
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

/** Returns the document. `version` is the version of the package. */
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
      description: 'Embedded analytics: guest tokens, embeds, dashboards and metric queries, isolated by tenant.',
    },
    servers: [{ url: '/', description: 'This server' }],
    tags,
    paths,
    components: { schemas: schemas.all(), securitySchemes },
  };
};
