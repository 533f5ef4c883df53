/** Datasources: the databases that hold the customers' rows. No answer contains their credentials. */

import { z } from 'zod';
import { readHost } from '../../../model/host.js';
import { isRecord } from '../../../model/is-record.js';
import {
  type Datasource,
  type DatasourceSummary,
  datasourceTypes,
  isUntested,
  type VariantNames,
  variants,
} from '../../../model/organization.js';
import { mapItems, type Slices } from '../../../model/slices.js';
import {
  decodePagination,
  identifier,
  limits,
  pagination,
  queryPagination,
  text,
} from '../../../platform/http/interface/fields.js';
import { operation } from '../../../platform/http/interface/operation.js';

const host = z
  .string()
  .min(1)
  .max(limits.nameLength)
  .refine((value) => readHost(value) !== undefined, 'a host name or an address, without scheme, port, path or socket')
  .describe('Must be allowed by the operator, in `datasources.allowedHosts` of the configuration.');

const serverFields = {
  name: identifier.describe('Unique; identifies the datasource.'),
  host,
  username: identifier,
  password: text.describe('May be empty. It is encrypted at rest, and no answer contains it.'),
  database: identifier,
  isSsl: z.boolean().default(false),
};
const portOf = (usual: number) => z.number().int().min(1).max(65_535).default(usual);

const fileCredentials = (setting: string) =>
  z.strictObject({
    name: serverFields.name,
    path: text
      .min(1)
      .describe(
        `Absolute path of a file in a folder that the operator allows, in \`datasources.${setting}\` of the configuration.`,
      ),
  });

const duckDb = z.strictObject({
  datasourceType: z.literal('DUCKDB'),
  credentials: fileCredentials('duckdbFolders'),
});

const sqlite = z.strictObject({
  datasourceType: z.literal('SQLITE'),
  credentials: fileCredentials('sqliteFolders'),
});

const schema = identifier
  .optional()
  .describe('Schema of tables that name none. Defaults to the server’s default schema.');

const postgres = z.strictObject({
  datasourceType: z.literal('POSTGRES'),
  credentials: z.strictObject({
    ...serverFields,
    port: portOf(5432),
    schema,
    replicas: z
      .array(z.strictObject({ host, port: portOf(5432) }))
      .max(8)
      .optional()
      .describe(
        'Streaming replicas of the server, which are read with the same user and database. Each host must be allowed too.',
      ),
    maxLagSeconds: z
      .number()
      .int()
      .min(2)
      .max(3600)
      .optional()
      .describe('How far behind a replica may be to be read. Beyond it, the server itself is read. Defaults to 10.'),
  }),
});

const mysqlCredentials = (port: number) =>
  z
    .strictObject({ ...serverFields, port: portOf(port), schema: identifier.optional() })
    .refine(({ schema, database }) => schema === undefined || schema === database, {
      path: ['schema'],
      message: 'nothing, or the name of the database: in MySQL the two are one',
    });

const mysql = z.strictObject({
  datasourceType: z.literal('MYSQL').describe('`MARIADB` is accepted as another name.'),
  credentials: mysqlCredentials(3306),
});

const variantType = <Name extends keyof typeof variants>(name: Name) => {
  const { title, protocol } = variants[name];
  const untested = isUntested(name) ? ' Not run here: refused unless the operator sets `datasources.untested`.' : '';
  return z.literal(name).describe(`${title}, over the protocol of \`${protocol}\`.${untested}`);
};

/** A variant has no replicas: no test shows how far behind one of them is. */
const variantOfPostgres = <Name extends VariantNames<'POSTGRES'>>(name: Name) =>
  z.strictObject({
    datasourceType: variantType(name),
    credentials: z.strictObject({ ...serverFields, port: portOf(variants[name].port), schema }),
  });

const variantOfMysql = <Name extends VariantNames<'MYSQL'>>(name: Name) =>
  z.strictObject({ datasourceType: variantType(name), credentials: mysqlCredentials(variants[name].port) });

/** ClickHouse uses different ports for HTTP and HTTPS. */
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
        .describe('Port of the HTTP interface. Defaults to 8123, and to 8443 with `isSsl`.'),
      schema: identifier.optional(),
    })
    .refine(({ schema, database }) => schema === undefined || schema === database, {
      path: ['schema'],
      message: 'nothing, or the name of the database: in ClickHouse the two are one',
    })
    .transform(({ port, ...rest }) => ({ ...rest, port: port ?? (rest.isSsl ? 8443 : 8123) })),
});

const datasource = z.discriminatedUnion('datasourceType', [
  duckDb,
  sqlite,
  postgres,
  mysql,
  clickhouse,
  variantOfPostgres('AURORA_POSTGRES'),
  variantOfMysql('AURORA_MYSQL'),
  variantOfPostgres('TIMESCALE'),
  variantOfPostgres('CITUS'),
  variantOfPostgres('COCKROACHDB'),
  variantOfPostgres('REDSHIFT'),
]);

const spellType = (type: unknown): unknown => {
  if (typeof type !== 'string' || type.length > limits.nameLength) return type;
  const known = type.toUpperCase();
  return known === 'MARIADB' ? 'MYSQL' : known;
};

/** Database types are matched without regard to case. */
const spelled = z.preprocess(
  (body) =>
    isRecord(body) && Object.hasOwn(body, 'datasourceType')
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
  description:
    'The service connects first. If the database cannot be reached, the request is refused and nothing is stored.',
  credentials: ['serviceToken'],
  reads: 'nothing',
  roles: ['author'],
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
    'The request must contain all connection settings, including unchanged ones. The type cannot change. If the database cannot be reached, the request is refused and the stored settings stay.',
  credentials: ['serviceToken'],
  reads: 'nothing',
  roles: ['author'],
  input: datasource,
  output: savedDatasource,
  encode: encodeName,
  errors: { AUTHENTICATION_ERROR: 401, DATASOURCE_ID_ERROR: 400, DATASOURCE_CONNECTION_ERROR: 400 },
  bindings: [{ method: 'PUT', path: '/api/v2/datasource', from: 'body', input: spelled }],
  example: { input: exampleFields, output: { name: 'warehouse' } },
});

export const updateDatasourceLogin = operation({
  name: 'updateDatasourceLogin',
  section: 'facts',
  resource: 'Datasources',
  summary: 'Change the password of a datasource, and its user',
  description:
    'For a password that was rotated: the other connection settings stay, so nobody has to know them. The stored password is never used for another user or host. If the database refuses the login, the request is refused and the stored one stays.',
  credentials: ['serviceToken'],
  reads: 'nothing',
  roles: ['author'],
  input: z.strictObject({
    name: identifier.describe('Identifies the datasource. It cannot be a file, which has no login.'),
    username: identifier.optional().describe('Left out: the user stays.'),
    password: serverFields.password,
  }),
  output: savedDatasource,
  encode: encodeName,
  errors: { AUTHENTICATION_ERROR: 401, DATASOURCE_ID_ERROR: 400, DATASOURCE_CONNECTION_ERROR: 400 },
  bindings: [{ method: 'PUT', path: '/api/v2/datasource/login', from: 'body' }],
  example: { input: { name: 'warehouse', password: 'the new password' }, output: { name: 'warehouse' } },
});

export const listDatasources = operation({
  name: 'listDatasources',
  section: 'facts',
  resource: 'Datasources',
  summary: 'List the datasources, without their credentials',
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['author', 'publisher', 'support', 'auditor'],
  input: z.strictObject(pagination),
  output: z.object({
    data: z.array(
      z.object({
        name: z.string(),
        datasourceType: z.enum(datasourceTypes),
        syncedAt: z.string().nullable().describe('When its tables were last read.'),
      }),
    ),
  }),
  encode: (datasources: Slices<DatasourceSummary>) => ({
    data: mapItems(datasources, ({ name, datasourceType, syncedAt }) => ({
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

export const deleteDatasource = operation({
  name: 'deleteDatasource',
  section: 'facts',
  resource: 'Datasources',
  summary: 'Delete a datasource',
  description:
    'Refused while a datamart or a workspace stands on it; the message names them. Its connections are closed. The database itself is not touched. Cannot be undone.',
  credentials: ['serviceToken'],
  reads: 'nothing',
  roles: ['author'],
  input: z.strictObject({ name: identifier }),
  output: savedDatasource,
  encode: ({ name }: DatasourceSummary) => ({ name }),
  errors: { AUTHENTICATION_ERROR: 401, DATASOURCE_ID_ERROR: 400, STILL_IN_USE: 409 },
  bindings: [{ method: 'DELETE', path: '/api/v2/datasource', from: 'query' }],
  example: { input: { name: 'warehouse' }, output: { name: 'warehouse' } },
});

const synced = z.strictObject({ name: identifier.describe('Its name.') });

/**
 * spec-gap: older clients send `datasourceId`, although they know only the name. Both fields accept the id or the name.
 */
const syncBody = z.union([
  synced,
  z
    .strictObject({
      input: z.strictObject({ datasourceId: identifier.describe('The id or the name of the datasource.') }),
    })
    .transform(({ input }) => ({ name: input.datasourceId })),
]);

export const syncDatasource = operation({
  name: 'syncDatasource',
  section: 'facts',
  resource: 'Datasources',
  summary: 'Read the tables of a datasource again',
  description:
    'Also reads the databases of the server that may belong to a client (tenancyLevel DATABASE and MULTI_DATABASE); a database that the latest sync did not find cannot be read by any client. Later queries use the new tables.',
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['author'],
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
