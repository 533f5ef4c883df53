/** Queries several metrics of a dashboard with one request. Each answer is sent as soon as it is there. */
import { z } from 'zod';
import type { DashboardPart } from '../../../model/guest/view.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';
import { identifier, list } from '../../../platform/http/interface/fields.js';
import { errorBody, operation, type WriteFailure } from '../../../platform/http/interface/operation.js';
import { encodeReply, metricAnswer } from '../../metrics/contract.js';
import { exampleQuery, exampleReply, guestQuery, language, queryErrors } from './reads.js';

const digest = z.string().max(64);

const part = z
  .union([
    z.object({ metricId: z.string(), digest, answer: metricAnswer }),
    z
      .object({ metricId: z.string(), digest, isUnchanged: z.literal(true) })
      .describe('The answer has the digest that the request named.'),
    z.object({ metricId: z.string(), error: errorBody.shape.error }).describe('This metric cannot be answered.'),
  ])
  .meta({ id: 'DashboardPart' });

const encodePart = (answered: DashboardPart, writeFailure: WriteFailure): Encoded<typeof part> => {
  const { metricId } = answered;
  if ('failure' in answered) return { metricId, error: writeFailure(answered.failure) };
  const { digest } = answered;
  return 'reply' in answered
    ? { metricId, digest, answer: encodeReply(answered.reply) }
    : { metricId, digest, isUnchanged: true };
};

async function* encodeParts(
  parts: AsyncIterable<DashboardPart>,
  writeFailure: WriteFailure,
): AsyncGenerator<Encoded<typeof part>> {
  for await (const answered of parts) yield encodePart(answered, writeFailure);
}

/** The most metrics of one request. */
const greatestCount = 100;

const common = { dashboardId: true, dashboardFilter: true, crossFilter: true, language: true } as const;
const metricQuery = guestQuery.omit(common).extend({
  digest: digest
    .optional()
    .describe('The digest of the answer that the caller already has. It fits one client and its restrictions.'),
});

export const queryGuestDashboard = operation({
  name: 'queryGuestDashboard',
  section: 'guest',
  resource: 'Guest reads',
  summary: 'Query several metrics of a dashboard as a guest',
  description:
    'Answers newline-delimited JSON: one line for each metric, in the order in which the answers are there. A metric that fails has a line with its error, and the others are answered. If the answer breaks off, the connection is cut. Each metric counts as a request for the rate limits.',
  credentials: ['guestToken'],
  viewedAs: 'user',
  reads: 'rows',
  readsOnly: true,
  takesLanguage: true,
  input: z.strictObject({
    dashboardId: identifier,
    dashboardFilter: guestQuery.shape.dashboardFilter,
    crossFilter: guestQuery.shape.crossFilter,
    language,
    metrics: list(metricQuery, greatestCount).refine(
      (metrics) => new Set(metrics.map(({ metricId }) => metricId)).size === metrics.length,
      'expected each metric once',
    ),
  }),
  requestsOf: ({ metrics }) => Math.max(1, metrics.length),
  contentType: 'application/x-ndjson',
  output: part,
  encode: encodeParts,
  errors: queryErrors,
  bindings: [{ method: 'POST', path: '/api/v2/guest/dashboards/{dashboardId}/query', from: 'body' }],
  example: {
    input: {
      dashboardId: exampleQuery.dashboardId,
      dashboardFilter: exampleQuery.dashboardFilter,
      metrics: [{ metricId: exampleQuery.metricId, sort: exampleQuery.sort, limit: exampleQuery.limit }],
    },
    output: { metricId: exampleQuery.metricId, digest: 'Fv0xwGmXr0cZbJ5l8G7kBQ', answer: exampleReply },
  },
});
