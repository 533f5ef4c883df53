/** An operation of this project: the tables and columns of a datamart by name, for the host's backend. */
import { z } from 'zod';
import { ruleName } from '../../../model/datamart/column-rules.js';
import { type ListedColumns, qualifiedName } from '../../../model/datamart/datamart.js';
import { columnKind } from '../../../model/datamart/datatypes.js';
import { identifier } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';

const table = z.object({ tableName: z.string().describe('`schema.table`'), columns: z.array(z.string()) });

const ruled = z.object({
  column: z.string().describe('`schema.table.column`'),
  kind: z.string().nullable().describe('What the values are; null if only the database knows.'),
  isComputed: z.boolean().describe('A custom column: it can be hidden, and not masked.'),
});

export const listDatamartColumns = operation({
  name: 'listDatamartColumns',
  section: 'facts',
  resource: 'Datamarts',
  summary: 'List the columns of a datamart by name',
  description:
    'The tables and columns that filters of end users may name: hidden ones are left out. `allColumns` are those that a token may hide or mask. Reads the stored datamart, never rows.',
  credentials: ['apiKey', 'serviceToken'],
  reads: 'definitions',
  roles: ['author', 'publisher', 'auditor'],
  input: z.strictObject({ datamartName: identifier }),
  output: z.object({
    data: z.object({ datamartName: z.string(), tables: z.array(table), allColumns: z.array(ruled) }),
    error: noError,
  }),
  encode: ({ datamart, visible }: ListedColumns) => ({
    data: {
      datamartName: datamart.name,
      tables: visible.tables.map((one) => ({
        tableName: qualifiedName(one),
        columns: one.columns.map(({ columnName }) => columnName),
      })),
      allColumns: datamart.tables.flatMap((one) =>
        one.columns.map((column) => ({
          column: ruleName({ ...one, columnName: column.columnName }),
          kind: columnKind(column) ?? null,
          isComputed: column.isCustomColumn === true,
        })),
      ),
    },
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DATAMART: 400 },
  bindings: [{ method: 'GET', path: '/api/v2/data-app/datamarts/columns', from: 'query' }],
  example: {
    input: { datamartName: 'shop' },
    output: {
      data: {
        datamartName: 'shop',
        tables: [{ tableName: 'main.orders', columns: ['id'] }],
        allColumns: [
          { column: 'main.orders.id', kind: 'integer', isComputed: false },
          { column: 'main.orders.customer', kind: 'text', isComputed: false },
        ],
      },
      error: null,
    },
  },
});
