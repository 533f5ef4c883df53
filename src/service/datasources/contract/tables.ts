/** Ours: the tables of a datasource, with what one may propose from their keys and names. */
import { z } from 'zod';
import { type ColumnRef, qualifiedName } from '../../../model/datamart/datamart.js';
import { columnKind, wireKind } from '../../../model/datamart/datatypes.js';
import type { ProposedModel } from '../../../model/datamart/proposed-model.js';
import type { SourceTable } from '../../../model/datamart/source-schema.js';
import { type DatasourceType, datasourceTypes } from '../../../model/organization.js';
import type { ColumnRepeats } from '../../../model/query/engine.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';
import {
  decodePagination,
  identifier,
  pagination,
  queryPagination,
  text,
} from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { baseFilters, cardinality, modelNumbers, through } from '../../datamarts/contract/fields.js';

const key = z.array(z.string());

const sourceTable = z.object({
  schemaName: z.string(),
  tableName: z.string(),
  kind: z
    .enum(['table', 'view'])
    .describe('The partitions of a table are not listed, since their rows are those of the table.'),
  estimatedRows: z.number().nullable().describe('As the database estimates it; null: it has no estimate.'),
  columns: z.array(
    z.object({
      columnName: z.string(),
      datatype: z.string().describe('As the datasource names it.'),
      kind: z.enum(['integer', 'number', 'text', 'enum', 'uuid', 'boolean', 'date', 'json', 'other']),
      isNullable: z.boolean(),
    }),
  ),
  primaryKey: key.describe('Its columns, in order; empty: there is none.'),
  uniqueKeys: z.array(key),
  foreignKeys: z.array(
    z.object({ columns: key, referencedTable: z.string().describe('`schema.table`'), referencedColumns: key }),
  ),
});

const proposedRelationship = z.object({
  relationship: z
    .object({
      relationshipName: z.string(),
      parentTableName: z.string(),
      parentColumnName: z.string(),
      childTableName: z.string(),
      childColumnName: z.string(),
      cardinality: cardinality.nullable(),
    })
    .describe('As `relationships` of a datamart takes it.'),
  basis: z.enum(['foreignKey', 'name']),
  isSecondWay: z
    .boolean()
    .describe('Another proposed way leads between the same tables. Leave one out: metrics over both are refused.'),
  reason: z.string(),
});

const tenantTable = z.object({
  schemaName: z.string(),
  tableName: z.string(),
  keyColumn: z.string(),
  nameColumn: z.string().describe('The column that shows a tenant’s name.'),
  tablesReached: z.number().int().describe('Other tables that lead to it by proposed relationships.'),
  reason: z.string(),
});

const clientColumn = z.object({
  schemaName: z.string(),
  tableName: z.string(),
  columnName: z.string(),
  tenantTable: z.string().nullable().describe('`schema.table` of the tenants that it names; null: not known.'),
  reason: z.string(),
});

const tenancyPath = z.object({
  schemaName: z.string(),
  tableName: z.string(),
  tenancyPath: z.string().describe('As a table of a datamart takes it.'),
  reason: z.string(),
});

const proposedBridge = z.object({
  schemaName: z.string(),
  tableName: z.string(),
  through: through.describe('As a table of a datamart takes it: the columns with the key and the name.'),
  bridge: z.string().describe('`schema.table` of the table that says which client reads which row.'),
  askedColumns: z.array(z.string()).describe('Columns with other data of people. Decide about each.'),
  reason: z.string(),
});

const proposedBaseFilter = z.object({
  schemaName: z.string(),
  tableName: z.string(),
  filter: baseFilters.element.describe('As `baseFilters` of a table of a datamart takes it.'),
  isCertain: z
    .boolean()
    .describe('False: the filter also leaves out rows where the column is NULL, or names that other rows need.'),
  reason: z.string(),
});

const proposedAmount = z.object({
  schemaName: z.string(),
  tableName: z.string(),
  columnName: z.string(),
  numbers: modelNumbers.describe('As a column of a datamart takes it.'),
  label: z.string().nullable().describe('What the column is called in whole units; null: as its name says.'),
  reason: z.string(),
});

export type SourceTables = {
  readonly name: string;
  readonly datasourceType: DatasourceType;
  readonly tableCount: number;
  readonly tables: readonly SourceTable[];
  readonly proposals: ProposedModel;
};

const encodeTable = (table: SourceTable): Encoded<typeof sourceTable> => ({
  schemaName: table.schemaName,
  tableName: table.tableName,
  kind: table.kind === 'view' ? 'view' : 'table',
  estimatedRows: table.estimatedRows ?? null,
  columns: table.columns.map((column) => ({ ...column, kind: wireKind(columnKind(column)) })),
  primaryKey: table.primaryKey,
  uniqueKeys: table.uniqueKeys,
  foreignKeys: table.foreignKeys.map(({ columns, references, referencedColumns }) => ({
    columns,
    referencedTable: qualifiedName(references),
    referencedColumns,
  })),
});

const encodeRelationship = (proposed: ProposedModel['relationships'][number]): Encoded<typeof proposedRelationship> => {
  const { relationshipName, parent, child, cardinality: declared, basis, isSecondWay, reason } = proposed;
  const end = (name: 'parent' | 'child', column: ColumnRef) => ({
    [`${name}TableName`]: qualifiedName(column),
    [`${name}ColumnName`]: column.columnName,
  });
  return {
    relationship: {
      relationshipName,
      ...end('parent', parent),
      ...end('child', child),
      cardinality: declared,
    } as Encoded<typeof proposedRelationship>['relationship'],
    basis,
    isSecondWay,
    reason,
  };
};

const asked = {
  name: identifier.describe('The datasource.'),
  search: text
    .optional()
    .describe('Lists only tables of which each word is part of `schema.table` or of a column’s name; case is ignored.'),
};

export const listDatasourceTables = operation({
  name: 'listDatasourceTables',
  section: 'facts',
  resource: 'Datasources',
  summary: 'List the tables of a datasource, and propose relationships and client columns',
  description:
    'The tables that the datasource’s user may read, as they are now: columns, datatypes, keys and an estimated number of rows; no rows. The proposals come from foreign keys, then from names. They are made from all tables; with a search or paging, those about the listed tables are returned. They are only proposals: a datamart has what you write into it.',
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['author', 'auditor'],
  input: z.strictObject({ ...asked, ...pagination }),
  output: z.object({
    data: z.object({
      name: z.string(),
      datasourceType: z.enum(datasourceTypes),
      tableCount: z.number().int().describe('Number of tables that the search finds, on all pages.'),
      tables: z.array(sourceTable).describe('By schema and name.'),
      proposals: z.object({
        relationships: z.array(proposedRelationship),
        tenantTables: z
          .array(tenantTable)
          .describe('Tables whose rows may be your tenants; the most likely one first.'),
        clientColumns: z.array(clientColumn).describe('Columns that may hold the tenant of a row.'),
        tenancyPaths: z
          .array(tenancyPath)
          .describe('For tables from which several relationships lead to the most likely tenants: the best one.'),
        bridges: z
          .array(proposedBridge)
          .describe('Tables of people that several tenants share, for the most likely table of tenants.'),
        baseFilters: z.array(proposedBaseFilter).describe('Conditions that leave out deleted rows and tests.'),
        amounts: z
          .array(proposedAmount)
          .describe(
            'Columns with amounts of money: stored in cents, in a currency, or both; for the most likely tenants.',
          ),
      }),
    }),
    error: noError,
  }),
  encode: ({ name, datasourceType, tableCount, tables, proposals }: SourceTables) => ({
    data: {
      name,
      datasourceType,
      tableCount,
      tables: tables.map(encodeTable),
      proposals: {
        relationships: proposals.relationships.map(encodeRelationship),
        tenantTables: proposals.tenantTables,
        clientColumns: proposals.clientColumns.map(({ tenantTable: table, ...column }) => ({
          ...column,
          tenantTable: table === null ? null : qualifiedName(table),
        })),
        tenancyPaths: proposals.tenancyPaths,
        bridges: proposals.bridges.map((proposed) => ({ ...proposed, bridge: qualifiedName(proposed.bridge) })),
        baseFilters: proposals.baseFilters,
        amounts: proposals.amounts,
      },
    },
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401, DATASOURCE_ID_ERROR: 400, DATASOURCE_CONNECTION_ERROR: 400 },
  bindings: [
    {
      method: 'GET',
      path: '/api/v2/datasource/tables',
      from: 'query',
      input: z
        .strictObject({ ...asked, ...queryPagination })
        .transform(({ name, search, ...paging }, context) => ({ name, search, ...decodePagination(paging, context) })),
    },
  ],
  example: {
    input: { name: 'warehouse', search: 'customer', isPagination: true, pageNumber: 1 },
    output: {
      data: {
        name: 'warehouse',
        datasourceType: 'POSTGRES',
        tableCount: 1,
        tables: [
          {
            schemaName: 'public',
            tableName: 'orders',
            kind: 'table',
            estimatedRows: 830,
            columns: [{ columnName: 'customer_id', datatype: 'integer', kind: 'integer', isNullable: false }],
            primaryKey: [],
            uniqueKeys: [],
            foreignKeys: [{ columns: ['customer_id'], referencedTable: 'public.customers', referencedColumns: ['id'] }],
          },
        ],
        proposals: {
          relationships: [
            {
              relationship: {
                relationshipName: 'orders.customer_id',
                parentTableName: 'public.orders',
                parentColumnName: 'customer_id',
                childTableName: 'public.customers',
                childColumnName: 'id',
                cardinality: 'ManyToOne',
              },
              basis: 'foreignKey',
              isSecondWay: false,
              reason: 'foreign key of orders.customer_id to customers.id',
            },
          ],
          tenantTables: [
            {
              schemaName: 'public',
              tableName: 'customers',
              keyColumn: 'id',
              nameColumn: 'name',
              tablesReached: 1,
              reason: 'named like tenants (customer); 1 other table leads to it',
            },
          ],
          clientColumns: [
            {
              schemaName: 'public',
              tableName: 'orders',
              columnName: 'customer_id',
              tenantTable: 'public.customers',
              reason: 'foreign key of customers',
            },
          ],
          tenancyPaths: [],
          bridges: [],
          baseFilters: [],
          amounts: [],
        },
      },
      error: null,
    },
  },
});

const end = z.strictObject({ schemaName: identifier, tableName: identifier, columnName: identifier });

const repeats = z.object({
  rows: z.number().int().describe('Rows that were read and have a value.'),
  repeated: z.number().int().describe('Values that more than one of these rows has.'),
  isWhole: z.boolean().describe('False: the table has more rows, which were not read.'),
});

export type ComparedColumns = { readonly from: ColumnRepeats; readonly to: ColumnRepeats };

export const compareDatasourceColumns = operation({
  name: 'compareDatasourceColumns',
  section: 'facts',
  resource: 'Datasources',
  summary: 'Count how often the values of two columns repeat',
  description:
    'Says whether the rows contradict the cardinality of a relationship of the two columns. Counts over the rows of all clients in the datasource’s own database, of each table at most the first million; answers counts and no value.',
  credentials: ['serviceToken'],
  reads: 'outcomes',
  roles: ['author'],
  readsOnly: true,
  input: z.strictObject({ name: identifier.describe('The datasource.'), from: end, to: end }),
  output: z.object({ data: z.object({ from: repeats, to: repeats }), error: noError }),
  encode: ({ from, to }: ComparedColumns) => ({ data: { from, to }, error: null }),
  errors: {
    AUTHENTICATION_ERROR: 401,
    DATASOURCE_ID_ERROR: 400,
    METRIC_QUERY_ERROR: 400,
  },
  bindings: [{ method: 'POST', path: '/api/v2/datasource/columns/compare', from: 'body' }],
  example: {
    input: {
      name: 'warehouse',
      from: { schemaName: 'public', tableName: 'orders', columnName: 'customer_id' },
      to: { schemaName: 'public', tableName: 'customers', columnName: 'id' },
    },
    output: {
      data: {
        from: { rows: 830, repeated: 88, isWhole: true },
        to: { rows: 91, repeated: 0, isWhole: true },
      },
      error: null,
    },
  },
});
