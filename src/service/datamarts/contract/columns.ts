/** An operation of this project: the tables and columns of a datamart by name, for the host's backend. */
import { z } from 'zod';
import { type Datamart, qualifiedName } from '../../../model/datamart/datamart.js';
import { identifier } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';

const table = z.object({ tableName: z.string().describe('`schema.table`'), columns: z.array(z.string()) });

export const listDatamartColumns = operation({
  name: 'listDatamartColumns',
  section: 'facts',
  resource: 'Datamarts',
  summary: 'List the columns of a datamart by name',
  description:
    'The tables and columns that filters of end users may name: hidden ones are left out. Reads the stored datamart, never rows.',
  credentials: ['apiKey', 'serviceToken'],
  reads: 'definitions',
  roles: ['author', 'publisher', 'auditor'],
  input: z.strictObject({ datamartName: identifier }),
  output: z.object({ data: z.object({ datamartName: z.string(), tables: z.array(table) }), error: noError }),
  encode: ({ name, tables }: Datamart) => ({
    data: {
      datamartName: name,
      tables: tables.map((one) => ({
        tableName: qualifiedName(one),
        columns: one.columns.map(({ columnName }) => columnName),
      })),
    },
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DATAMART: 400 },
  bindings: [{ method: 'GET', path: '/api/v2/data-app/datamarts/columns', from: 'query' }],
  example: {
    input: { datamartName: 'shop' },
    output: {
      data: { datamartName: 'shop', tables: [{ tableName: 'main.orders', columns: ['id', 'customer', 'total'] }] },
      error: null,
    },
  },
});
