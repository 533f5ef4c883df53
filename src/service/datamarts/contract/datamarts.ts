/** Operations 8 and 10: list and delete datamarts. */
import { z } from 'zod';
import type {
  Datamart,
  DatamartColumn,
  DatamartTable,
  ListedDatamart,
  Tenancy,
} from '../../../model/datamart/datamart.js';
import { columnKind, mayBeBoolean } from '../../../model/datamart/datatypes.js';
import { draftRelationships, nameTables } from '../../../model/datamart/relationships.js';
import { draftRollups } from '../../../model/datamart/rollups.js';
import { periods } from '../../../model/filter/period.js';
import { mapItems, type Slices } from '../../../model/slices.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';
import { decodePagination, identifier, pagination, queryPagination } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { baseFilters, cardinality, columnDates, join, listedRollups, modelNumbers, through } from './fields.js';

const listedColumn = z.object({
  columnName: z.string(),
  datatype: z.string(),
  alias: z.string(),
  label: z.string(),
  isHide: z.boolean(),
  isCustomColumn: z.boolean(),
  sql: z.string(),
  isApplyTimezone: z.boolean(),
  isAggregate: z.boolean(),
  allowAggregate: z.boolean(),
  defaultAggregation: z.string().nullable(),
  defaultSort: z.enum(['ASC', 'DESC']).nullable(),
  numbers: modelNumbers.nullable().describe('What the numbers of the column are, and how they are written.'),
  defaultGrain: z
    .enum(periods)
    .optional()
    .describe('The grain by which dates of the column are grouped in new metrics. Left out: by month.'),
  isBoolean: z
    .boolean()
    .optional()
    .describe('Only of a `tinyint(1)`: whether it is declared that its numbers are booleans.'),
  dates: columnDates
    .optional()
    .describe('How dates of the column are written in new metrics and in rows behind metrics. Left out: as usual.'),
});

const listedTable = z.object({
  schemaName: z.string(),
  tableName: z.string(),
  label: z.string(),
  clientColumn: z.string().nullable(),
  tenancyPath: z.string().nullable(),
  through: through.optional().describe('Left out: rows do not belong to clients by a bridge.'),
  baseFilters: baseFilters.optional().describe('Conditions of every read of the table. Left out: there are none.'),
  leftOut: z.array(z.string()).optional().describe('Columns that were left out on purpose. Left out: there are none.'),
  isHide: z.boolean(),
  wildcard: z.string().nullable(),
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
      primaryDatabase: z.string().nullable(),
    })
    .nullable()
    .describe('Null: no tenancy is configured.'),
  companyIntegration: z.object({ name: z.string() }).describe('The datasource.'),
  datamartTables: z.array(listedTable).optional(),
  datamartRelationships: z.array(listedRelationship).optional(),
  sharedTables: z.array(z.string()).optional(),
  cacheTtlSeconds: z.number().nullable().optional().describe('Null: the server’s setting applies.'),
  cacheStaleSeconds: z.number().optional().describe('Left out: no answer is given once it is older.'),
  rollups: listedRollups.optional().describe('Left out: there are none.'),
});

const encodeColumn = (column: DatamartColumn): Encoded<typeof listedColumn> => ({
  columnName: column.columnName,
  datatype: column.datatype,
  alias: column.alias,
  label: column.label,
  isHide: column.isHide,
  isCustomColumn: column.isCustomColumn ?? false,
  sql: column.sql ?? '',
  isApplyTimezone: column.isApplyTimezone,
  isAggregate: column.isAggregate ?? false,
  allowAggregate: column.allowAggregate ?? false,
  defaultAggregation: column.defaultAggregation ?? null,
  defaultSort: column.defaultSort ?? null,
  numbers: column.numbers ?? null,
  ...(mayBeBoolean(column) ? { isBoolean: columnKind(column) === 'boolean' } : {}),
  ...(column.defaultGrain == null ? {} : { defaultGrain: column.defaultGrain }),
  ...(column.dates == null ? {} : { dates: column.dates }),
});

const encodeTable = ({
  columns,
  wildcard,
  tenancyPath,
  through: bridge,
  baseFilters: filters = [],
  ...table
}: DatamartTable): Encoded<typeof listedTable> => ({
  ...table,
  ...(bridge == null ? {} : { through: bridge }),
  ...(filters.length === 0 ? {} : { baseFilters: filters }),
  tenancyPath: tenancyPath ?? null,
  wildcard: wildcard ?? null,
  datamartTableColumns: columns.map(encodeColumn),
});

const encodeTenancy = (tenancy: Tenancy): Encoded<typeof listedDatamart>['datamartOrganization'] => ({
  tenancyLevel: tenancy.tenancyLevel,
  schemaName: tenancy.schemaName ?? null,
  tableName: tenancy.tableName ?? null,
  clientColumnType: tenancy.clientColumnType ?? null,
  tableClientNameColumn: tenancy.tableClientNameColumn ?? null,
  tablePrimaryKeyColumn: tenancy.tablePrimaryKeyColumn ?? null,
  primaryDatabase: tenancy.tenancyLevel === 'TABLE' ? null : tenancy.primaryDatabase,
});

const encodeDetails = ({
  tables,
  relationships,
  sharedTables,
  cacheTtlSeconds,
  cacheStaleSeconds,
  rollups = [],
}: Datamart) => ({
  datamartTables: tables.map(encodeTable),
  datamartRelationships: draftRelationships(relationships, nameTables(tables)),
  sharedTables,
  cacheTtlSeconds: cacheTtlSeconds ?? null,
  ...(cacheStaleSeconds == null ? {} : { cacheStaleSeconds }),
  ...(rollups.length === 0 ? {} : { rollups: draftRollups(rollups, nameTables(tables)) }),
});

type Listing = { readonly items: Slices<ListedDatamart>; readonly expandDetails: boolean };

const encodeListing = ({ items, expandDetails }: Listing) => ({
  data: mapItems(items, ({ datamart, datasourceName }) => ({
    name: datamart.name,
    createdAt: datamart.createdAt.toISOString(),
    updatedAt: datamart.updatedAt.toISOString(),
    datamartOrganization: datamart.tenancy === null ? null : encodeTenancy(datamart.tenancy),
    companyIntegration: { name: datasourceName },
    ...(expandDetails ? encodeDetails(datamart) : {}),
  })),
  error: null,
});

const listInput = z.strictObject({
  ...pagination,
  expandDetails: z.boolean().default(true).describe('False: tables and relationships are left out.'),
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
  reads: 'definitions',
  readsOnly: true,
  roles: ['author', 'publisher', 'support', 'auditor'],
  authenticationCode: 'INVALID_DATA_APP_API_KEY',
  input: listInput,
  output: listOutput,
  encode: encodeListing,
  errors: { INVALID_DATA_APP_API_KEY: 400 },
  bindings: [
    { method: 'GET', path: '/api/v2/data-app/datamarts', from: 'query', input: listQuery },
    { method: 'GET', path: '/api/v2/dataApp/datamarts', from: 'query', input: listQuery, isLegacy: true },
    { method: 'POST', path: '/api/v2/dataApp/datamart/list', from: 'body', isLegacy: true },
  ],
  example: {
    input: { expandDetails: false },
    output: {
      data: [
        {
          name: 'flights',
          createdAt: '2026-01-02T03:04:05.000Z',
          updatedAt: '2026-01-02T03:04:05.000Z',
          datamartOrganization: null,
          companyIntegration: { name: 'warehouse' },
        },
      ],
      error: null,
    },
  },
});

export const deleteDatamart = operation({
  name: 'deleteDatamart',
  section: '10',
  resource: 'Datamarts',
  summary: 'Delete a datamart',
  description:
    'Also deletes its semantic layer, its embeds, and the guest tokens that read nothing else. Workspaces that are connected to it stay, without a datamart. This cannot be undone.',
  credentials: ['serviceToken'],
  reads: 'nothing',
  roles: ['author'],
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
  example: { input: { datamartName: 'flights' }, output: { id: 'flights', error: null } },
});
