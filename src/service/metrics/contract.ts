/** Operation 16: a metric's data for the host's backend. */
import { z } from 'zod';
import type { BackendQuery, MetricReply } from '../../model/guest/view.js';
import { numberOf } from '../../model/query/numbers.js';
import type { Encoded } from '../../platform/http/interface/callable.js';
import { filterValues, identifier, limits, scalar } from '../../platform/http/interface/fields.js';
import { noError, operation } from '../../platform/http/interface/operation.js';
import { columnDates, columnNumbers } from '../datamarts/contract/fields.js';

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/**
 * The answer of every query. Dates are ISO 8601 without a zone. A number that JSON cannot represent exactly is a
 * string.
 */
export const metricAnswer = z
  .object({
    data: z.array(z.record(z.string(), cell)).describe('One object for each row, with a value for each column name.'),
    timeTaken: z.number().describe('Milliseconds.'),
    comparisonValue: z
      .number()
      .nullable()
      .optional()
      .describe(
        'If the metric has a comparison: the same measure a number of periods earlier. Null: that period has no value.',
      ),
    comparedFrom: z
      .string()
      .optional()
      .describe(
        'If the metric has a comparison and no filter bounds its dates: the value is that of the last complete period, which starts here.',
      ),
    course: z
      .array(z.object({ at: z.string(), value: z.number().nullable() }))
      .optional()
      .describe(
        'Of a single value with a comparison, if the value is that of one period: the same measure in each of up to 12 periods, the last of which is the value’s. Null: that period has no value.',
      ),
    totalRecords: z.number().describe('Number of rows before `limit` and `offset`.'),
    truncated: z
      .literal(true)
      .optional()
      .describe('True: the answer reached its maximum size, and more rows follow. Request them with `offset`.'),
    asOf: z
      .string()
      .optional()
      .describe(
        'If a rollup answered: when the oldest of its rows were read from the datasource. Later rows are new. If `stale`: when the answer was read.',
      ),
    stale: z
      .literal(true)
      .optional()
      .describe('True: the answer is older than the cache keeps answers, as the datamart allows, and is asked anew.'),
    others: z
      .object({ name: z.string(), rows: z.number() })
      .optional()
      .describe(
        'If the metric combines its other groups: the last `rows` rows of `data` stand for all other values of the dimension `name`, and have null there.',
      ),
    points: z
      .object({ shown: z.number(), total: z.number() })
      .optional()
      .describe(
        'Only with `maxPoints`: `data` has `shown` of `total` rows. Of each run of rows it has the first and the last, and for each measure the least and the greatest.',
      ),
    metaData: z.object({
      columns: z.array(
        z.object({
          name: z.string(),
          dataType: z.enum(['date', 'number', 'string', 'boolean']),
          isOverlapping: z
            .literal(true)
            .optional()
            .describe(
              'Of a measure: a row may count in several groups, because a join repeats it. Values do not add up to that of all rows. Of a share or a running total of such groups: it has no values.',
            ),
          label: z.string().optional().describe('The name in the reader’s language, if it has a translation.'),
          valueLabels: z
            .record(z.string(), z.string())
            .optional()
            .describe('Labels in the reader’s language of texts in `data`, by the text. Filters take the text.'),
          valueColours: z
            .array(z.object({ value: scalar.nullable(), colour: z.string() }))
            .optional()
            .describe('Colours that the author pinned to values in `data`.'),
          numbers: columnNumbers
            .optional()
            .describe('How numbers of the column are written, if not plainly. `data` has the plain numbers.'),
          currencyColumn: z
            .string()
            .optional()
            .describe(
              'Of amounts of several currencies: the column of `data` that has the ISO 4217 code of each row’s. The amounts of different rows do not add up.',
            ),
          dates: columnDates.optional().describe('Of rows behind a metric: how dates of the column are written.'),
        }),
      ),
      groupbyColumnList: z.array(z.string()).describe('The columns that are not aggregated.'),
    }),
    metricid: z.string(),
    error: noError,
  })
  .meta({ id: 'MetricAnswer' });

/**
 * Returns the comparison value as a number, which the specification requires. A number that JSON cannot represent
 * exactly is rounded; a date or a text is left out.
 */
const comparisonOf = ({ comparisonValue }: MetricReply['answer']) => {
  if (comparisonValue === undefined || typeof comparisonValue === 'boolean') return {};
  if (comparisonValue === null) return { comparisonValue };
  const value = comparisonValue === '' ? Number.NaN : Number(comparisonValue);
  return Number.isFinite(value) ? { comparisonValue: value } : {};
};

/** The course, where all of its values are numbers. */
const courseOf = ({ course }: MetricReply['answer']) => {
  if (course === undefined) return {};
  const values = course.map(({ at, value }) => ({ at, value: numberOf(value) }));
  return values.some(({ value }, index) => value === null && course[index]?.value !== null) ? {} : { course: values };
};

type Column = Encoded<typeof metricAnswer>['metaData']['columns'][number];

const encodeColumn = (column: MetricReply['answer']['columns'][number]): Column => {
  const { name, dataType, isOverlapping, label, valueLabels, valueColours, numbers, currencyColumn, dates } = column;
  return {
    ...{ name, dataType },
    ...(isOverlapping === true ? { isOverlapping } : {}),
    ...(label === undefined ? {} : { label }),
    ...(valueLabels === undefined ? {} : { valueLabels }),
    ...(valueColours === undefined ? {} : { valueColours }),
    ...(numbers === undefined ? {} : { numbers }),
    ...(currencyColumn === undefined ? {} : { currencyColumn }),
    ...(dates === undefined ? {} : { dates }),
  };
};

/** Without rows, the columns are empty too, as the specification requires. */
export const encodeReply = ({ metricId, answer, timeTakenInMs }: MetricReply): Encoded<typeof metricAnswer> => {
  const isEmpty = answer.totalRecords === 0;
  return {
    data: answer.rows,
    timeTaken: timeTakenInMs,
    ...comparisonOf(answer),
    ...(answer.comparedFrom === undefined ? {} : { comparedFrom: answer.comparedFrom }),
    ...courseOf(answer),
    totalRecords: answer.totalRecords,
    ...(answer.isTruncated === true ? { truncated: true as const } : {}),
    ...(answer.asOf === undefined ? {} : { asOf: answer.asOf }),
    ...(answer.isStale === true ? { stale: true as const } : {}),
    ...(answer.others === undefined ? {} : { others: answer.others }),
    ...(answer.points === undefined ? {} : { points: answer.points }),
    metaData: {
      columns: isEmpty ? [] : answer.columns.map(encodeColumn),
      groupbyColumnList: isEmpty ? [] : answer.groupbyColumnList,
    },
    metricid: metricId,
    error: null,
  };
};

export const exampleAnswer = {
  data: [
    { Day: '2001-01-01T00:00:00', Flights: 371 },
    { Day: '2001-01-02T00:00:00', Flights: 402 },
  ],
  timeTaken: 12,
  totalRecords: 2,
  metaData: {
    columns: [
      { name: 'Day', dataType: 'date' as const },
      { name: 'Flights', dataType: 'number' as const },
    ],
    groupbyColumnList: ['Day'],
  },
  metricid: 'flights-a-day',
  error: null,
};

export const queryMetric = operation({
  name: 'queryMetric',
  section: '16',
  resource: 'Metric queries',
  summary: 'Query a metric',
  description: 'Called by the host’s backend, for one client.',
  bodyBytes: limits.bodyBytes,
  credentials: ['apiKey'],
  reads: 'rows',
  readsOnly: true,
  input: z.strictObject({
    embedId: identifier,
    metricId: identifier,
    clientId: identifier.describe('The tenant. For an embed that belongs to a client, it must be that client.'),
    dashboardFilter: filterValues.optional().describe('Values by the name of a dashboard filter.'),
    metricFilter: filterValues.optional().describe('Values by the name of a filter or an RLS variable of the metric.'),
    datasourceName: identifier.optional().describe('For workspaces with several datasources.'),
    datamartName: identifier.optional().describe('For workspaces with several datamarts.'),
  }) satisfies z.ZodType<BackendQuery>,
  output: metricAnswer,
  encode: encodeReply,
  errors: {
    AUTHENTICATION_ERROR: 401,
    INVALID_EMBED_ID: 400,
    EMBED_PARAM_ERROR: 400,
    INVALID_METRIC_ID: 400,
    CLIENT_ID_ERROR: 400,
    RLS_SETTINGS_PARAM_ERROR: 400,
    METRIC_QUERY_ERROR: 400,
  },
  bindings: [
    { method: 'POST', path: '/api/v2/data-app/query', from: 'body' },
    { method: 'POST', path: '/api/v2/dataApp/query', from: 'body', isLegacy: true },
  ],
  example: {
    input: {
      embedId: '7c0a4f0e-5a53-4a51-9f0e-1c1e6d1b2a34',
      metricId: 'flights-a-day',
      clientId: 'LAX',
      dashboardFilter: { Date: 'Last 30 Days' },
    },
    output: exampleAnswer,
  },
});
