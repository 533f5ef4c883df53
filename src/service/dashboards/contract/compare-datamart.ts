/** Ours: how a datamart differs from its database, what each difference breaks, and the datamart after those accepted. */
import { z } from 'zod';
import type { Break } from '../../../model/datamart/change-breaks.js';
import type { ComparedDatamart } from '../../../model/datamart/compared-datamart.js';
import { nameOfChange, type SourceChange } from '../../../model/datamart/source-changes.js';
import { columnRef, identifier, limits, list, tableRef } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { relationship, sharedTables, table, tenancySettings } from '../../datamarts/contract/fields.js';
import { importedData } from './versions.js';

const change = z.strictObject({
  kind: z
    .enum(['new', 'renamed', 'gone', 'retyped', 'leftOut'])
    .describe('`leftOut` is an answer to `new`: the column stays out, and is not offered again.'),
  table: tableRef,
  columnName: identifier.nullable().describe('Null: the whole table.'),
  newName: identifier.nullable().describe('For `renamed`: the name that it probably has now.'),
  before: z.string().max(limits.textLength).nullable().describe('The datatype that the datamart knows of.'),
  after: z.string().max(limits.textLength).nullable(),
});

const model = z.strictObject({
  tableList: list(table, limits.columns),
  relationships: list(relationship).default([]),
  sharedTables: sharedTables.default([]),
  tenancySettings: tenancySettings.optional(),
});

const breaks = z.array(
  z.object({
    what: z.enum(['metric', 'filter', 'policy', 'relationship', 'tenancy', 'customColumn']),
    name: z.string(),
    where: z.string().nullable().describe('The dashboard, or the file of the policy. Null: the datamart itself.'),
    why: z.string(),
  }),
);

const written = (one: Break): z.input<typeof breaks>[number] => ({ ...one });

const encodeChange = (one: SourceChange): z.input<typeof change> => ({ ...one, table: { ...one.table } });

export const compareDatamart = operation({
  name: 'compareDatamart',
  section: 'facts',
  resource: 'Datamarts',
  summary: 'Compare a datamart with its database',
  description:
    'Lists the tables and columns that the database has and the datamart does not, those that are gone or probably renamed, and those of another type, each with what it breaks: metrics and filters of dashboards, relationships, custom columns, whose the rows of a table are, and the parts of a policy that `uses` names. With `accept`, it also answers the datamart after these changes, for PUT /api/v2/data-app/datamarts. SQL is read by the parser of its database. Reads no row, and writes nothing.',
  bodyBytes: limits.bodyBytes,
  credentials: ['serviceToken'],
  reads: 'definitions',
  readsOnly: true,
  roles: ['author'],
  input: z.strictObject({
    datamartName: identifier,
    model: model.describe(
      'The datamart, as an update takes it: what it is now, or another version such as that of a file.',
    ),
    dashboards: list(z.strictObject({ name: identifier, content: importedData }))
      .optional()
      .describe('The dashboards that may break. If missing, those of the organization.'),
    uses: list(
      z.strictObject({
        name: z.string().max(limits.textLength),
        where: z.string().max(limits.textLength),
        columns: list(columnRef),
      }),
    )
      .default([])
      .describe('What else names columns, such as restrictions of a policy.'),
    accept: list(change)
      .default([])
      .describe('Changes of the answer, also changed: `gone` for `renamed`, `leftOut` for `new`.'),
  }),
  output: z.object({
    data: z.array(
      z.object({
        change,
        name: z.string().describe('`schema.table` or `schema.table.column`.'),
        ownership: z
          .object({
            kind: z.enum(['column', 'master', 'path', 'bridge', 'shared', 'database', 'none', 'unreadable']),
            clientColumn: z
              .object({ table: z.string(), column: z.string() })
              .nullable()
              .describe('The column with the clientId, in this table or at the end of the path.'),
            path: z.array(z.string()).describe('The tables of the path.'),
            message: z.string().nullable(),
          })
          .nullable()
          .describe('Whose the rows of the table are after an addition. Null: the change is no addition.'),
        caution: z.string().nullable().describe('Why an addition needs a person’s decision. Null: it is safe.'),
        breaks,
      }),
    ),
    accepted: z
      .object({ model, breaks, fault: z.string().nullable().describe('Why the changes cannot be saved.') })
      .nullable(),
    error: noError,
  }),
  encode: ({ offers, accepted }: ComparedDatamart) => ({
    data: offers.map((offer) => ({
      change: encodeChange(offer.change),
      name: nameOfChange(offer.change),
      ownership: offer.ownership && {
        kind: offer.ownership.kind,
        clientColumn: offer.ownership.clientColumn,
        path: offer.ownership.path.map(({ toTable }) => toTable),
        message: offer.ownership.message,
      },
      caution: offer.caution,
      breaks: offer.breaks.map(written),
    })),
    accepted: accepted && {
      ...accepted,
      model: accepted.model as z.input<typeof model>,
      breaks: accepted.breaks.map(written),
    },
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DATAMART: 400, DATASOURCE_CONNECTION_ERROR: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/datamarts/compare', from: 'body' }],
  example: {
    input: {
      datamartName: 'flights',
      model: { tableList: [{ name: 'flights', clientColumn: 'carrier', columns: [{ name: 'carrier' }] }] },
    },
    output: {
      data: [
        {
          change: {
            ...{ kind: 'new', table: { schemaName: 'main', tableName: 'flights' }, columnName: 'gate' },
            ...{ newName: null, before: null, after: 'VARCHAR' },
          },
          name: 'main.flights.gate',
          ownership: {
            ...{ kind: 'column', clientColumn: { table: 'main.flights', column: 'carrier' } },
            ...{ path: [], message: null },
          },
          caution: null,
          breaks: [],
        },
      ],
      accepted: null,
      error: null,
    },
  },
});
