/** An operation of this project: the fields on which a guest may build metrics. */
import { z } from 'zod';
import { aggregates, measureAggregates } from '../../../model/dashboard/metric.js';
import { periods } from '../../../model/filter/period.js';
import type { FieldTable, GuestFields } from '../../../model/guest/fields.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';
import { identifier } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { cardinality, columnDates, columnNumbers } from '../../datamarts/contract/fields.js';
import { readErrors } from './reads.js';

const notes = {
  label: z.string().describe('Empty: show the name.'),
  description: z.string().nullable(),
  synonyms: z.array(z.string()),
};

const field = z
  .object({
    columnName: z.string(),
    ...notes,
    type: z
      .enum(['integer', 'number', 'text', 'enum', 'uuid', 'boolean', 'date', 'json', 'other'])
      .describe('Kind of the values. `other`: only the database knows; it refuses what does not fit.'),
    columnType: z.string().nullable().describe('Of the semantic layer.'),
    isIdentifier: z.boolean(),
    isMeasure: z
      .boolean()
      .describe(
        'A measure of the datamart: its only aggregate is `AGGREGATE`, and nothing is split or filtered by it.',
      ),
    aggregates: z.array(z.enum(measureAggregates)).describe('Aggregates that a measure of this field may have.'),
    suggestedAggregates: z
      .array(z.enum(measureAggregates))
      .describe('Those that a measure most likely means, best first.'),
    defaultGrain: z
      .enum(periods)
      .optional()
      .describe('The grain by which its dates are grouped in new metrics. Left out: by month.'),
    numbers: columnNumbers.nullable().describe('How its numbers are written in new metrics. Null: plainly.'),
    currencyColumn: z
      .string()
      .optional()
      .describe(
        'The column of the same table that has the currency of each row’s amount. A measure of the amounts is refused unless the metric is grouped by it, or filtered to one value of it.',
      ),
    dates: columnDates.optional().describe('How its dates are written in new metrics. Left out: as usual.'),
  })
  .meta({ id: 'GuestField' });

const table = z.object({ schemaName: z.string(), tableName: z.string() });

const fieldTable = table
  .extend({
    ...notes,
    joinGroup: z.number().int().describe('One metric may read tables of one group only.'),
    fields: z.array(field),
  })
  .meta({ id: 'GuestFieldTable' });

const encodeTable = (of: FieldTable): Encoded<typeof fieldTable> => ({
  schemaName: of.schemaName,
  tableName: of.tableName,
  label: of.label,
  description: of.description,
  synonyms: of.synonyms,
  joinGroup: of.joinGroup,
  fields: of.fields.map((one) => ({
    columnName: one.columnName,
    label: one.label,
    description: one.description,
    synonyms: one.synonyms,
    type: one.type,
    columnType: one.columnType,
    isIdentifier: one.isIdentifier,
    isMeasure: one.isMeasure,
    aggregates: one.aggregates,
    suggestedAggregates: one.suggestedAggregates,
    numbers: one.numbers,
    ...(one.currencyColumn === undefined ? {} : { currencyColumn: one.currencyColumn }),
    ...(one.defaultGrain === undefined ? {} : { defaultGrain: one.defaultGrain }),
    ...(one.dates === undefined ? {} : { dates: one.dates }),
  })),
});

export const listGuestFields = operation({
  name: 'listGuestFields',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'List the fields on which the guest may build metrics',
  description:
    'Refused unless the guest may create metrics on the dashboard and its `metricCreationMode` is `DRAG_DROP`. Leaves out hidden tables and columns, tables that no query may read, and tables that a restriction of the token does not fit. Reads no row.',
  credentials: ['guestToken'],
  viewedAs: 'author',
  reads: 'definitions',
  tool: { name: 'list_fields', description: 'Lists the tables and columns on which a metric can be built.' },
  input: z.strictObject({ dashboardId: identifier }),
  output: z.object({
    data: z.object({
      tables: z.array(fieldTable),
      relationships: z
        .array(z.object({ parent: table, child: table, cardinality: cardinality.nullable() }))
        .describe('Joins between the tables, as the datamart declares them. Their columns may be hidden.'),
    }),
    error: noError,
  }),
  encode: ({ tables, relationships }: GuestFields) => ({
    data: {
      tables: tables.map(encodeTable),
      relationships: relationships.map(({ parent, child, cardinality: declared }) => ({
        parent: { schemaName: parent.schemaName, tableName: parent.tableName },
        child: { schemaName: child.schemaName, tableName: child.tableName },
        cardinality: declared,
      })),
    },
    error: null,
  }),
  errors: { ...readErrors, METRIC_QUERY_ERROR: 400, CLIENT_ID_ERROR: 400, APP_FILTER_PARAM_ERROR: 400 },
  bindings: [{ method: 'GET', path: '/api/v2/guest/dashboards/{dashboardId}/fields', from: 'path' }],
  example: {
    input: { dashboardId: 'delays--LAX' },
    output: {
      data: {
        tables: [
          {
            schemaName: 'main',
            tableName: 'flights',
            label: 'Flights',
            description: 'One row for each flight',
            synonyms: ['departures'],
            joinGroup: 0,
            fields: [
              {
                columnName: 'delay',
                label: 'Delay',
                description: 'Minutes late at arrival',
                synonyms: [],
                type: 'integer',
                columnType: 'Number',
                isIdentifier: false,
                isMeasure: false,
                aggregates: [...aggregates],
                suggestedAggregates: ['AVG', 'SUM'],
                numbers: { unit: 'min' },
              },
            ],
          },
        ],
        relationships: [],
      },
      error: null,
    },
  },
});
