/** An operation of this project: which client the rows of each table of a datamart belong to, and why. */
import { z } from 'zod';
import type { Datamart } from '../../../model/datamart/datamart.js';
import { describeOwnership, type TableOwnership } from '../../../model/datamart/table-ownership.js';
import { identifier } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';

const step = z.object({
  relationshipName: z.string(),
  fromTable: z.string(),
  fromColumn: z.string(),
  toTable: z.string(),
  toColumn: z.string(),
});

const tableTenancy = z.object({
  table: z.string().describe('`schema.table`'),
  kind: z
    .enum(['column', 'master', 'path', 'bridge', 'shared', 'database', 'none', 'unreadable'])
    .describe(
      'How rows belong to clients. `column`: by the client column of the table. `master`: by the key of the client master table. `path`: by relationships to a table with a client column. `bridge`: by rows of another table that refer to it, whose client is given by the rest of the path; a row may belong to several clients. `shared`: all clients read every row. `database`: all rows belong to the client whose database it is. `none`: the datamart has no clients. `unreadable`: every query of the table is refused.',
    ),
  clientColumn: z
    .object({ table: z.string(), column: z.string() })
    .nullable()
    .describe('The column that holds the clientId, in this table or in the last table of the path.'),
  path: z
    .array(step)
    .describe(
      'The relationships from this table to the table of `clientColumn`. Empty unless `kind` is `path` or `bridge`.',
    ),
  reason: z.string().nullable().describe('For an unreadable table: the reason, as a stable code.'),
  message: z.string().nullable().describe('For an unreadable table: what is missing, and how to fix it.'),
});

/** Warnings in the answers of datamart writes: tables that no query may read. Absent if there are none. */
export const tenancyWarnings = z
  .array(z.object({ table: z.string().describe('`schema.table`'), message: z.string() }))
  .optional()
  .describe('Tables on which every query is refused, each with how to fix it. Absent if there are none.');

export const getDatamartTenancy = operation({
  name: 'getDatamartTenancy',
  section: 'facts',
  resource: 'Datamarts',
  summary: 'Show which client the rows of each table belong to',
  description:
    'For each table: why its rows belong to a client, or why no query may read the table. Reads the current keys of the datasource.',
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['author', 'publisher', 'auditor'],
  input: z.strictObject({ datamartName: identifier }),
  output: z.object({
    data: z.object({
      datamartName: z.string(),
      tenancyLevel: z.string().nullable().describe('Null: no tenancy is configured.'),
      tables: z.array(tableTenancy).describe('In the order of the datamart’s tables.'),
    }),
    error: noError,
  }),
  encode: ({ datamart, tables }: { readonly datamart: Datamart; readonly tables: readonly TableOwnership[] }) => ({
    data: {
      datamartName: datamart.name,
      tenancyLevel: datamart.tenancy?.tenancyLevel ?? null,
      tables: tables.map(describeOwnership),
    },
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DATAMART: 400, DATASOURCE_CONNECTION_ERROR: 400 },
  bindings: [{ method: 'GET', path: '/api/v2/data-app/datamarts/tenancy', from: 'query' }],
  example: {
    input: { datamartName: 'shop' },
    output: {
      data: {
        datamartName: 'shop',
        tenancyLevel: 'TABLE',
        tables: [
          {
            table: 'main.order_lines',
            kind: 'path',
            clientColumn: { table: 'main.orders', column: 'customer' },
            path: [
              {
                relationshipName: 'order of line',
                fromTable: 'main.order_lines',
                fromColumn: 'order_id',
                toTable: 'main.orders',
                toColumn: 'id',
              },
            ],
            reason: null,
            message: null,
          },
        ],
      },
      error: null,
    },
  },
});
