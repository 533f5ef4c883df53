/** An operation of this project: whether the database computes an expression of a calculated column or a measure. */
import { z } from 'zod';
import { identifier } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { expression } from './fields.js';

type Checked = {
  readonly isMeasure: boolean;
  readonly isChecked: boolean;
  readonly faults: readonly {
    readonly message: string;
    readonly place: { readonly line: number; readonly column: number } | null;
  }[];
};

export const checkDatamartExpression = operation({
  name: 'checkDatamartExpression',
  section: 'facts',
  resource: 'Datamarts',
  summary: 'Check an expression of a custom column before it is saved',
  description:
    'Parses the expression as the database would, finds its columns in the table, and has the database check functions and types. Reads no row, and writes nothing. Each fault has its place: where the text fails to parse, or the smallest part that is refused.',
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['author'],
  readsOnly: true,
  input: z.strictObject({
    datamartName: identifier,
    tableName: identifier.describe('`schema.table`, or only the table name if it is unique.'),
    sql: expression.min(1).describe('An expression over columns of this table, in the SQL of the datasource.'),
  }),
  output: z.object({
    data: z.object({
      isMeasure: z.boolean().describe('Whether it aggregates: the custom column then needs `isAggregate`.'),
      isChecked: z
        .boolean()
        .describe('False: the database could not be asked, for example since no query may read the table yet.'),
      faults: z.array(
        z.object({
          message: z.string(),
          place: z
            .object({ line: z.number(), column: z.number() })
            .nullable()
            .describe(
              'Both from 1. Null: the parser does not know it, or the fault is not among the first eight unknown columns.',
            ),
        }),
      ),
    }),
    error: noError,
  }),
  encode: ({ isMeasure, isChecked, faults }: Checked) => ({ data: { isMeasure, isChecked, faults }, error: null }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DATAMART: 400, INVALID_TABLE: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/datamarts/expressions/check', from: 'body' }],
  example: {
    input: { datamartName: 'shop', tableName: 'orders', sql: 'SUM(total) / COUNT(*)' },
    output: { data: { isMeasure: true, isChecked: true, faults: [] }, error: null },
  },
});
