/** Datasources: the databases that hold the customers' rows. Their credentials go in and never come out. */
import { z } from 'zod';
import { readHost } from '../domain/host.js';
import type { Datasource, DatasourceSummary } from '../domain/organization.js';
import { decodePagination, identifier, limits, pagination, queryPagination, text } from './fields.js';
import { operation } from './operation.js';

const host = z
  .string()
  .min(1)
  .max(limits.nameLength)
  .refine((value) => readHost(value) !== undefined, 'a host name or an address, without scheme, port, path or socket')
  .describe('One that the operator allows: `datasources.allowedHosts` of the configuration.');

const serverFields = {
  name: identifier.describe('Unique; identifies the datasource.'),
  host,
  username: identifier,
  password: text.describe('May be empty. Encrypted at rest, and in no answer.'),
  database: identifier,
  isSsl: z.boolean().default(false),
};
const portOf = (usual: number) => z.number().int().min(1).max(65_535).default(usual);

const duckDb = z.strictObject({
  datasourceType: z.literal('DUCKDB'),
  credentials: z.strictObject({
    name: serverFields.name,
    path: text
      .min(1)
      .describe(
        'Absolute path of a file in one of the folders that the operator allows: `datasources.duckdbFolders` of the configuration.',
      ),
  }),
});

const postgres = z.strictObject({
  datasourceType: z.literal('POSTGRES'),
  credentials: z.strictObject({
    ...serverFields,
    port: portOf(5432),
    schema: identifier.optional().describe('Of tables that name none; the server’s default where left out.'),
  }),
});

const mysql = z.strictObject({
  datasourceType: z.literal('MYSQL').describe('`MARIADB` is another name of it.'),
  credentials: z
    .strictObject({ ...serverFields, port: portOf(3306), schema: identifier.optional() })
    .refine(({ schema, database }) => schema === undefined || schema === database, {
      path: ['schema'],
      message: 'nothing, or the name of the database: in MySQL the two are one',
    }),
});

/** ClickHouse speaks HTTP on one port and HTTPS on another. */
const clickhouse = z.strictObject({
  datasourceType: z.literal('CLICKHOUSE'),
  credentials: z
    .strictObject({
      ...serverFields,
      port: z
        .number()
        .int()
        .min(1)
        .max(65_535)
        .optional()
        .describe('Of its HTTP interface: 8123 where left out, and 8443 with isSsl.'),
      schema: identifier.optional(),
    })
    .refine(({ schema, database }) => schema === undefined || schema === database, {
      path: ['schema'],
      message: 'nothing, or the name of the database: in ClickHouse the two are one',
    })
    .transform(({ port, ...rest }) => ({ ...rest, port: port ?? (rest.isSsl ? 8443 : 8123) })),
});

const datasource = z.discriminatedUnion('datasourceType', [duckDb, postgres, mysql, clickhouse]);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const spellType = (type: unknown): unknown => {
  if (typeof type !== 'string' || type.length > limits.nameLength) return type;
  const known = type.toUpperCase();
  return known === 'MARIADB' ? 'MYSQL' : known;
};

/** Types are read without regard to case. */
const spelled = z.preprocess(
  (body) =>
    isObject(body) && Object.hasOwn(body, 'datasourceType')
      ? { ...body, datasourceType: spellType(body.datasourceType) }
      : body,
  datasource,
);

const savedDatasource = z.object({ name: z.string() });
const encodeName = ({ name }: Datasource) => ({ name });
const exampleFields = {
  datasourceType: 'POSTGRES' as const,
  credentials: {
    name: 'warehouse',
    host: 'db.example.com',
    port: 5432,
    username: 'guestlist_reader',
    password: 'a password',
    database: 'warehouse',
  },
};

export const createDatasource = operation({
  name: 'createDatasource',
  section: 'facts',
  resource: 'Datasources',
  summary: 'Create a datasource',
  description: 'It is looked at first: one that cannot be reached is refused, and nothing of it is stored.',
  credentials: ['serviceToken'],
  input: datasource,
  output: savedDatasource,
  encode: encodeName,
  errors: { AUTHENTICATION_ERROR: 401, DATASOURCE_ALREADY_EXISTS: 400, DATASOURCE_CONNECTION_ERROR: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/datasource', from: 'body', input: spelled }],
  example: { input: exampleFields, output: { name: 'warehouse' } },
});

export const updateDatasource = operation({
  name: 'updateDatasource',
  section: 'facts',
  resource: 'Datasources',
  summary: 'Replace the credentials of a datasource, identified by credentials.name',
  description:
    'All credentials are given, also those that stay. Its type stays. What cannot be reached is refused, and the datasource left as it was.',
  credentials: ['serviceToken'],
  input: datasource,
  output: savedDatasource,
  encode: encodeName,
  errors: { AUTHENTICATION_ERROR: 401, DATASOURCE_ID_ERROR: 400, DATASOURCE_CONNECTION_ERROR: 400 },
  bindings: [{ method: 'PUT', path: '/api/v2/datasource', from: 'body', input: spelled }],
  example: { input: exampleFields, output: { name: 'warehouse' } },
});

export const listDatasources = operation({
  name: 'listDatasources',
  section: 'facts',
  resource: 'Datasources',
  summary: 'List the datasources, without their credentials',
  credentials: ['serviceToken'],
  input: z.strictObject(pagination),
  output: z.object({
    data: z.array(
      z.object({
        name: z.string(),
        datasourceType: z.enum(['DUCKDB', 'POSTGRES', 'MYSQL', 'CLICKHOUSE']),
        syncedAt: z.string().nullable().describe('When its tables were last looked at.'),
      }),
    ),
  }),
  encode: (datasources: readonly DatasourceSummary[]) => ({
    data: datasources.map(({ name, datasourceType, syncedAt }) => ({
      name,
      datasourceType,
      syncedAt: syncedAt?.toISOString() ?? null,
    })),
  }),
  errors: { AUTHENTICATION_ERROR: 401 },
  bindings: [
    {
      method: 'GET',
      path: '/api/v2/datasource',
      from: 'query',
      input: z.strictObject(queryPagination).transform(decodePagination),
    },
  ],
  example: {
    input: { isPagination: true, pageNumber: 1 },
    output: { data: [{ name: 'warehouse', datasourceType: 'POSTGRES', syncedAt: '2026-01-02T03:04:05.000Z' }] },
  },
});

const synced = z.strictObject({ name: identifier.describe('Its name.') });

/** spec-gap: clients in use send an id, where they know no other than the name. Both are taken for either. */
const syncBody = z.union([
  synced,
  z
    .strictObject({ input: z.strictObject({ datasourceId: identifier.describe('Its id, or its name.') }) })
    .transform(({ input }) => ({ name: input.datasourceId })),
]);

export const syncDatasource = operation({
  name: 'syncDatasource',
  section: 'facts',
  resource: 'Datasources',
  summary: 'Look at the tables of a datasource again',
  description:
    'Questions asked afterwards see the tables as they are now, and the databases of the server that may be a client’s (tenancyLevel DATABASE and MULTI_DATABASE): one that a sync did not find is nobody’s.',
  credentials: ['serviceToken'],
  input: synced,
  output: z.object({ data: z.object({ message: z.string() }) }),
  encode: ({ name, tableCount }: { readonly name: string; readonly tableCount: number }) => ({
    data: { message: `Datasource ${JSON.stringify(name)} is synced: ${tableCount} tables.` },
  }),
  errors: { AUTHENTICATION_ERROR: 401, DATASOURCE_ID_ERROR: 400, DATASOURCE_CONNECTION_ERROR: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/datasource/sync', from: 'body', input: syncBody }],
  example: {
    input: { name: 'warehouse' },
    output: { data: { message: 'Datasource "warehouse" is synced: 12 tables.' } },
  },
});
