/** Summaries of cards, and suggestions of metrics. Operations of this project, in the style of the interface. */
import { z } from 'zod';
import type { Fact } from '../../../model/chat/facts.js';
import type { Suggestion } from '../../../model/chat/suggestions.js';
import type { Summary } from '../../../model/chat/summary.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';
import { columnRef, guestFilterValues, identifier, list } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { newGuestDefinition } from '../../guest/contract/definition.js';
import { language, readErrors } from '../../guest/contract/reads.js';

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const read = z.object({
  at: z.array(z.object({ column: z.string(), value: cell })).describe('The group, by the dimensions of the answer.'),
  value: z.number(),
});
const measure = z.string();

const fact = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('value'), measure, value: z.number(), before: z.number().nullable() }),
    z
      .object({ kind: z.enum(['latest', 'change']), measure, now: read, before: read })
      .describe('`latest`: the latest period and the one before. `change`: the largest difference between two.'),
    z.object({ kind: z.enum(['highest', 'lowest']), measure, now: read }),
    z.object({
      kind: z.literal('share'),
      measure,
      now: read,
      share: z.number().describe('From 0 to 1, of all groups.'),
    }),
    z
      .object({ kind: z.literal('outlier'), measure, now: read, usual: z.number() })
      .describe('Far from the median, which is `usual`.'),
  ])
  .meta({ id: 'SummaryFact' });

const copyOf = ({
  at,
  value,
}: z.input<typeof read> | { at: readonly { column: string; value: z.input<typeof cell> }[]; value: number }) => ({
  at: at.map(({ column, value: of }) => ({ column, value: of })),
  value,
});

const encodeFact = (one: Fact): Encoded<typeof fact> => {
  if (one.kind === 'value') return one;
  if (one.kind === 'latest' || one.kind === 'change') {
    return { kind: one.kind, measure: one.measure, now: copyOf(one.now), before: copyOf(one.before) };
  }
  return { ...one, now: copyOf(one.now) };
};

/** The most metrics of one request. */
const greatestCount = 50;

export const summariseGuestDashboard = operation({
  name: 'summariseGuestDashboard',
  section: 'guest',
  resource: 'Guest reads',
  summary: 'Summarise cards of a dashboard',
  description:
    'Answers computed facts about each metric, from what a query of this guest answers: latest values, largest changes, highest and lowest groups, shares, and values far from the usual. `text` is of a language model, on embeds with `isAllowAiPilot` whose workspace has a model with `allowRows`; it is left out if one of its numbers is not among the facts. Needs `isEnableMetricSummary` of the workspace. Each metric counts as a request for the rate limits.',
  credentials: ['guestToken'],
  reads: 'rows',
  readsOnly: true,
  takesLanguage: true,
  input: z.strictObject({
    dashboardId: identifier,
    metricIds: list(identifier, greatestCount).describe('Metrics that are not open to the guest are left out.'),
    dashboardFilter: guestFilterValues.optional(),
    language,
  }),
  requestsOf: ({ metricIds }) => Math.max(1, metricIds.length),
  output: z.object({
    data: z.object({
      metrics: z.array(z.object({ metricId: z.string(), facts: z.array(fact) })),
      text: z.string().nullable().describe('Plain text about all of them.'),
    }),
    error: noError,
  }),
  encode: ({ metrics, text }: Summary) => ({
    data: { metrics: metrics.map(({ metricId, facts }) => ({ metricId, facts: facts.map(encodeFact) })), text },
    error: null,
  }),
  errors: readErrors,
  bindings: [{ method: 'POST', path: '/api/v2/guest/dashboards/{dashboardId}/summary', from: 'body' }],
  example: {
    input: { dashboardId: 'delays--LAX', metricIds: ['flights-a-day--LAX'] },
    output: {
      data: {
        metrics: [
          {
            metricId: 'flights-a-day--LAX',
            facts: [
              {
                kind: 'latest',
                measure: 'Flights',
                now: { at: [{ column: 'Day', value: '2001-01-02T00:00:00' }], value: 402 },
                before: { at: [{ column: 'Day', value: '2001-01-01T00:00:00' }], value: 371 },
              },
            ],
          },
        ],
        text: null,
      },
      error: null,
    },
  },
});

const flights = { schemaName: 'main', tableName: 'flights' };
const date = { ...flights, columnName: 'date' };

export const listGuestSuggestions = operation({
  name: 'listGuestSuggestions',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Suggest metrics to make',
  description:
    'A few definitions of the fields that this guest may use, read from the catalogue alone. Needs the right to create metrics, from fields or in words, and `isEnableMetricSuggestions` of the workspace.',
  credentials: ['guestToken'],
  reads: 'definitions',
  input: z.strictObject({ dashboardId: identifier }),
  output: z.object({
    data: z.array(
      z.object({
        definition: newGuestDefinition,
        labels: z.array(columnRef.extend({ label: z.string() })).describe('What people call the columns.'),
      }),
    ),
    error: noError,
  }),
  encode: (suggestions: readonly Suggestion[]) => ({
    data: suggestions.map(({ definition, labels }) => ({
      definition: newGuestDefinition.parse(definition),
      labels: labels.map(({ schemaName, tableName, columnName, label }) => ({
        schemaName,
        tableName,
        columnName,
        label,
      })),
    })),
    error: null,
  }),
  errors: { ...readErrors, METRIC_QUERY_ERROR: 400, CLIENT_ID_ERROR: 400, APP_FILTER_PARAM_ERROR: 400 },
  bindings: [{ method: 'GET', path: '/api/v2/guest/dashboards/{dashboardId}/suggestions', from: 'path' }],
  example: {
    input: { dashboardId: 'delays--LAX' },
    output: {
      data: [
        {
          definition: {
            chart: { type: 'line' },
            from: flights,
            dimensions: [{ name: 'Departure', column: date, grain: 'month' }],
            measures: [{ name: 'Count', aggregate: 'COUNT' }],
            sort: [{ name: 'Departure', direction: 'ASC' }],
          },
          labels: [{ ...date, label: 'Departure' }],
        },
      ],
      error: null,
    },
  },
});
