/** An operation of this project: the names that the master table of a datamart has of clients. */
import { z } from 'zod';
import { ruleName } from '../../../model/datamart/column-rules.js';
import { namesAtOnce, shownTenantName, type TenantNames } from '../../../model/datamart/tenant-name.js';
import { identifier, list, text } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';

export const listTenantNames = operation({
  name: 'listTenantNames',
  section: 'facts',
  resource: 'Datamarts',
  summary: 'List the names of clients',
  description: `The names that the datamart's client master table has in \`tableClientNameColumn\`, for the clients of \`clientIds\` or for those whose name contains each of \`words\`. At most ${namesAtOnce} are returned. A client without a name is left out. If the datasource does not answer in time, the call succeeds with \`isWhole\` false. Names are text of the customer's database: escape them.`,
  credentials: ['apiKey'],
  reads: 'rows',
  readsOnly: true,
  input: z
    .strictObject({
      datamartName: identifier,
      clientIds: list(identifier, namesAtOnce).min(1).optional(),
      words: list(text.min(1), 8).min(1).optional(),
    })
    .refine(({ clientIds, words }) => (clientIds === undefined) !== (words === undefined), {
      message: 'send either clientIds or words',
    }),
  output: z.object({
    data: z.object({
      column: z
        .string()
        .nullable()
        .describe('`schema.table.column` of the names; null: the datamart has no such table.'),
      names: z.array(z.object({ clientId: z.string(), name: z.string() })),
      isWhole: z.boolean(),
    }),
    error: noError,
  }),
  encode: ({ column, names, isWhole }: TenantNames) => ({
    data: {
      column: column === null ? null : ruleName(column),
      names: names.flatMap(({ clientId, name }) => {
        const shown = shownTenantName(name);
        return shown === undefined ? [] : [{ clientId, name: shown }];
      }),
      isWhole,
    },
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DATAMART: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/clients/names', from: 'body' }],
  example: {
    input: { datamartName: 'shop', clientIds: ['1', '2'] },
    output: {
      data: {
        column: 'main.clients.name',
        names: [{ clientId: '1', name: 'Example Ltd' }],
        isWhole: true,
      },
      error: null,
    },
  },
});
