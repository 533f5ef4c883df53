/** Questions in words. Operations of this project, in the style of the interface. */
import { z } from 'zod';
import { type ChatAnswer, chatLimits } from '../../../model/chat/chat.js';
import { measureAggregates } from '../../../model/dashboard/metric.js';
import {
  columnRef,
  guestFilterValues,
  identifier,
  limits,
  list,
  tableRef,
} from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { calculation, chart, comparison, dimension, predicateOf, sort } from '../../common/contract/metric-parts.js';
import { newGuestDefinition } from '../../guest/contract/definition.js';
import { language, readErrors } from '../../guest/contract/reads.js';

const text = z
  .string()
  .max(chatLimits.textLength)
  .regex(/^[^\0\p{Cs}]*$/u, 'text without NUL, in well-formed Unicode');
const metric = z.strictObject({ name: identifier, definition: newGuestDefinition });

/** The values of a list that a model may write. */
const fewValues = 50;
const predicate = predicateOf(fewValues);
const condition = z.strictObject({ column: columnRef, predicate });

const parts = {
  chart: z.strictObject({ type: chart.shape.type, format: chart.shape.format }),
  from: tableRef.describe('The table whose rows are counted.'),
  dimensions: list(dimension, fewValues).describe('The columns to group by. Dates need a grain.'),
  measures: list(
    z.strictObject({
      name: identifier,
      aggregate: z
        .enum(measureAggregates)
        .describe('AGGREGATE takes a column that is a measure as it is, and goes with no other column.'),
      column: columnRef.optional().describe('Left out only with COUNT, which then counts rows.'),
      indicator: predicate.optional().describe('AVG with it is the share of rows that pass; SUM counts them.'),
      percentile: z.number().min(0).max(1).optional(),
    }),
    fewValues,
  ),
  where: z
    .union([
      z.strictObject({ all: list(condition, fewValues).min(1) }),
      z.strictObject({ any: list(condition, fewValues).min(1) }),
    ])
    .describe('Which rows count.'),
  calculations: list(calculation, fewValues),
  comparison,
  sort: list(sort, fewValues).describe('By names of dimensions and measures.'),
  limit: z.number().int().positive().max(limits.rows).nullable().describe('How many rows at most.'),
};

/** What a model may write: part of what `newGuestDefinition` takes, which checks it again. */
const modelDefinition = z.strictObject(parts).partial();

const jsonSchemaOf = (schema: z.ZodType): Readonly<Record<string, unknown>> => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12', reused: 'inline' });
  return rest;
};

/** Written at the first call, to keep the start fast. */
export const definitionSchemas = (() => {
  let written: {
    readonly whole: Readonly<Record<string, unknown>>;
    readonly change: Readonly<Record<string, unknown>>;
  };
  return () => {
    written ??= {
      whole: jsonSchemaOf(modelDefinition.required({ chart: true, from: true })),
      change: jsonSchemaOf(modelDefinition),
    };
    return written;
  };
})();

const chatErrors = {
  ...readErrors,
  METRIC_QUERY_ERROR: 400,
  CLIENT_ID_ERROR: 400,
  APP_FILTER_PARAM_ERROR: 400,
  MODEL_NOT_CONFIGURED: 400,
  MODEL_UNAVAILABLE: 503,
  MODEL_ANSWER_INVALID: 503,
  CHAT_LIMIT_REACHED: 400,
} as const;

export const chatOnGuestDashboard = operation({
  name: 'chatOnGuestDashboard',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Ask for a metric in words',
  description:
    'A language model of the operator lists the fields that this guest may use and makes a definition, which the service runs with the guest’s own token. The answer has the definition: read it by `…/metrics/preview`, save it by `…/metrics`. Nothing is stored; earlier questions come with the new one. Needs the right to create metrics, and an embed with `isAllowAiPilot` and the `metricCreationMode` `CHAT`. Refused for a token with `rlsSettings` or `appFilters`.',
  credentials: ['guestToken'],
  reads: 'rows',
  readsOnly: true,
  takesLanguage: true,
  input: z.strictObject({
    dashboardId: identifier,
    question: text.min(1),
    turns: list(
      z.strictObject({ question: text.min(1), text: text.nullable(), metric: metric.nullable() }),
      chatLimits.turns,
    )
      .optional()
      .describe('Earlier questions with their answers, oldest first.'),
    llmName: identifier.optional().describe('One of `chat.llmNames` of the dashboard. Default: the first.'),
    dashboardFilter: guestFilterValues.optional().describe('The filters under which the metric runs.'),
    language,
  }),
  output: z.object({
    data: z.object({
      text: z.string().nullable().describe('Plain text of the model. Null: it wrote none that may be shown.'),
      metric: metric.nullable().describe('Null: the model made no metric that runs.'),
      labels: z.array(columnRef.extend({ label: z.string() })).describe('What people call the columns of the metric.'),
      llmName: z.string(),
    }),
    error: noError,
  }),
  encode: ({ text: said, metric: made, labels, llmName }: ChatAnswer) => ({
    data: {
      text: said,
      // The schema drops nothing: it refuses what a guest may not send.
      metric: made === null ? null : { name: made.name, definition: newGuestDefinition.parse(made.definition) },
      labels: labels.map(({ schemaName, tableName, columnName, label }) => ({
        schemaName,
        tableName,
        columnName,
        label,
      })),
      llmName,
    },
    error: null,
  }),
  errors: chatErrors,
  bindings: [{ method: 'POST', path: '/api/v2/guest/dashboards/{dashboardId}/chat', from: 'body' }],
  example: {
    input: { dashboardId: 'delays--LAX', question: 'How many flights were there each day?' },
    output: {
      data: {
        text: 'The chart shows the number of flights on each day.',
        metric: {
          name: 'Flights a day',
          definition: {
            chart: { type: 'line' },
            from: { schemaName: 'main', tableName: 'flights' },
            dimensions: [
              {
                name: 'Day',
                column: { schemaName: 'main', tableName: 'flights', columnName: 'date' },
                grain: 'day',
              },
            ],
            measures: [{ name: 'Flights', aggregate: 'COUNT' }],
          },
        },
        labels: [{ schemaName: 'main', tableName: 'flights', columnName: 'date', label: 'Date' }],
        llmName: 'small',
      },
      error: null,
    },
  },
});
