/** An operation of this project: which clients the master table of a datamart has, and their names. */
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
  description: `The names that the datamart's client master table has in \`tableClientNameColumn\`, for the clients of \`clientIds\` or for those whose name contains each of \`words\`. At most ${namesAtOnce} are returned. \`clientIds\` of the answer has the clients that the table has a row of, and \`names\` those of them with a name. \`datasourceName\` asks the datamart that a token reads which names that datasource. If the datasource does not answer in time, the call succeeds with \`isWhole\` false. Names are text of the customer's database: escape them.`,
  credentials: ['apiKey'],
  reads: 'rows',
  readsOnly: true,
  input: z
    .strictObject({
      datamartName: identifier,
      datasourceName: identifier.optional(),
      clientIds: list(identifier, namesAtOnce).min(1).optional(),
      words: list(text.min(1), 8).min(1).optional(),
      timeoutMs: z
        .number()
        .int()
        .min(100)
        .max(10_000)
        .default(1_500)
        .describe('The time that the datasource has, in milliseconds.'),
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
      clientIds: z.array(z.string()).describe('The clients that were found, also those without a name.'),
      names: z.array(z.object({ clientId: z.string(), name: z.string() })),
      isWhole: z.boolean(),
    }),
    error: noError,
  }),
  encode: ({ column, found, isWhole }: TenantNames) => ({
    data: {
      column: column === null ? null : ruleName(column),
      clientIds: [...new Set(found.map(({ clientId }) => clientId))],
      names: found.flatMap(({ clientId, name }) => {
        const shown = name === null ? undefined : shownTenantName(name);
        return shown === undefined ? [] : [{ clientId, name: shown }];
      }),
      isWhole,
    },
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DATAMART: 400, DATASOURCE_NAME_ERROR: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/clients/names', from: 'body' }],
  example: {
    input: { datamartName: 'shop', clientIds: ['1', '2'] },
    output: {
      data: {
        column: 'main.clients.name',
        clientIds: ['1'],
        names: [{ clientId: '1', name: 'Example Ltd' }],
        isWhole: true,
      },
      error: null,
    },
  },
});
