/** Operations 8, 9 and 10: datamarts. */
import { z } from 'zod';
import type { Datamart } from '../domain/datamart.js';
import { decodePagination, identifier, limits, list, pagination, queryPagination, text } from './fields.js';
import { asIs, noError, operation } from './operation.js';

const cardinality = z.enum(['ManyToMany', 'ManyToOne', 'OneToMany', 'OneToOne']);
const join = z.enum(['INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN']);

const listedColumn = z.object({
  columnName: z.string(),
  datatype: z.string(),
  alias: z.string(),
  label: z.string(),
  isHide: z.boolean(),
  isCustomColumn: z.boolean(),
  sql: z.string(),
  isApplyTimezone: z.boolean(),
});

const listedTable = z.object({
  schemaName: z.string(),
  tableName: z.string(),
  label: z.string(),
  clientColumn: z.string().nullable(),
  isHide: z.boolean(),
  datamartTableColumns: z.array(listedColumn),
});

const listedRelationship = z.object({
  parentTableName: z.string(),
  parentColumnName: z.string(),
  childTableName: z.string(),
  childColumnName: z.string(),
  relationshipName: z.string(),
  cardinality: cardinality.nullable(),
  join: join.nullable(),
});

const listedDatamart = z.object({
  name: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  datamartOrganization: z
    .object({
      tenancyLevel: z.string(),
      schemaName: z.string().nullable(),
      tableName: z.string().nullable(),
      clientColumnType: z.string().nullable(),
      tableClientNameColumn: z.string().nullable(),
      tablePrimaryKeyColumn: z.string().nullable(),
    })
    .nullable(),
  companyIntegration: z.object({ name: z.string() }),
  datamartTables: z.array(listedTable).optional(),
  datamartRelationships: z.array(listedRelationship).optional(),
});

const listInput = z.strictObject({
  ...pagination,
  expandDetails: z.boolean().default(true).describe('False leaves out tables and relationships.'),
});

const listQuery = z
  .strictObject({
    ...queryPagination,
    expandDetails: z
      .enum(['true', 'false'])
      .default('true')
      .describe('The string `false` leaves out tables and relationships.'),
  })
  .transform((query, context) => ({
    ...decodePagination(query, context),
    expandDetails: query.expandDetails === 'true',
  }));

const listOutput = z.object({ data: z.array(listedDatamart), error: noError });

export const listDatamarts = operation({
  name: 'listDatamarts',
  section: '8',
  resource: 'Datamarts',
  summary: 'List datamarts',
  credentials: ['serviceToken'],
  authenticationCode: 'INVALID_DATA_APP_API_KEY',
  input: listInput,
  output: listOutput,
  encode: asIs<z.input<typeof listOutput>>,
  errors: { INVALID_DATA_APP_API_KEY: 400 },
  bindings: [
    { method: 'GET', path: '/api/v2/data-app/datamarts', from: 'query', input: listQuery },
    { method: 'GET', path: '/api/v2/dataApp/datamarts', from: 'query', input: listQuery, isLegacy: true },
    { method: 'POST', path: '/api/v2/dataApp/datamart/list', from: 'body', isLegacy: true },
  ],
});

const column = z
  .strictObject({
    name: identifier,
    alias: identifier.optional(),
    label: text.optional(),
    isHide: z.boolean().default(false),
    isCustomColumn: z.boolean().optional().describe('True: `sql` is required.'),
    sql: z.string().max(limits.sqlLength).optional().describe('An expression over columns of the same table.'),
    isAggregate: z.boolean().optional(),
    allowAggregate: z.boolean().optional(),
    defaultAggregation: identifier.optional().describe('Such as `SUM` or `COUNT_DISTINCT`.'),
    isApplyTimezone: z.boolean().optional().describe('Convert by the timezone of the guest token.'),
    defaultSort: z.enum(['ASC', 'DESC', '']).nullish().describe('Empty, null or left out clears it.'),
  })
  .refine(({ isCustomColumn, sql }) => isCustomColumn !== true || (sql !== undefined && sql !== ''), {
    path: ['sql'],
    message: 'an expression, since isCustomColumn is true',
  });

const table = z.strictObject({
  name: identifier,
  schemaName: identifier.optional(),
  clientColumn: identifier.optional().describe('The column that holds the client, for TABLE tenancy.'),
  isHide: z.boolean().optional(),
  label: text.optional(),
  wildcard: identifier.optional().describe('Index pattern; OpenSearch only.'),
  columns: list(column, limits.columns).min(1),
});

const tableTenancyFields = [
  'clientColumnType',
  'schemaName',
  'tableName',
  'tableClientNameColumn',
  'tablePrimaryKeyColumn',
] as const;

const tenancySettings = z
  .strictObject({
    tenancyLevel: z.enum(['TABLE', 'DATABASE', 'MULTI_DATABASE']).optional().describe('Kept if left out.'),
    clientColumnType: z.enum(['NUMBER', 'STRING']).optional().describe('Required for TABLE, as the next four.'),
    schemaName: identifier.optional(),
    tableName: identifier.optional(),
    tableClientNameColumn: identifier.optional(),
    tablePrimaryKeyColumn: identifier.optional(),
    primaryDatabase: identifier.nullish().describe('For DATABASE and MULTI_DATABASE.'),
  })
  .superRefine((settings, context) => {
    if (settings.tenancyLevel !== 'TABLE') return;
    for (const field of tableTenancyFields) {
      if (settings[field] === undefined) {
        context.addIssue({ code: 'custom', path: [field], message: 'a value, since tenancyLevel is TABLE' });
      }
    }
  });

const relationship = z.strictObject({
  parentTableName: identifier,
  parentColumnName: identifier,
  childTableName: identifier,
  childColumnName: identifier,
  relationshipName: identifier,
  cardinality: cardinality.nullish(),
  join: join.nullish().describe('Left out: LEFT JOIN.'),
});

export const updateDatamart = operation({
  name: 'updateDatamart',
  section: '9',
  resource: 'Datamarts',
  summary: 'Update a datamart',
  description: 'What is left out stays; `tableList` and `relationships` replace all that was there.',
  credentials: ['serviceToken'],
  input: z.strictObject({
    datamartName: identifier.describe('Case-sensitive; cannot be changed.'),
    tableList: list(table, limits.columns).optional(),
    tenancySettings: tenancySettings.optional(),
    relationships: list(relationship).optional(),
    sharedTables: list(identifier).optional().describe('Tables meant for all tenants.'),
  }),
  output: z.object({ id: z.string() }),
  encode: (datamart: Datamart) => ({ id: datamart.name }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DATAMART: 400 },
  bindings: [
    { method: 'PUT', path: '/api/v2/data-app/datamarts', from: 'body' },
    { method: 'PUT', path: '/api/v2/dataApp/datamarts', from: 'body', isLegacy: true },
  ],
});

export const deleteDatamart = operation({
  name: 'deleteDatamart',
  section: '10',
  resource: 'Datamarts',
  summary: 'Delete a datamart',
  description: 'Cannot be undone.',
  credentials: ['serviceToken'],
  input: z.strictObject({ datamartName: identifier }),
  output: z.object({ id: z.string(), error: noError }),
  encode: (datamart: Datamart) => ({ id: datamart.name, error: null }),
  errors: { AUTHENTICATION_ERROR: 401 },
  bindings: [
    { method: 'DELETE', path: '/api/v2/data-app/datamart', from: 'body' },
    {
      method: 'DELETE',
      path: '/api/v2/data-app/datamart',
      from: 'query',
      when: ({ query, body }) => query.datamartName !== undefined && body === undefined,
    },
    { method: 'POST', path: '/api/v2/dataApp/datamart/delete', from: 'body', isLegacy: true },
  ],
});
