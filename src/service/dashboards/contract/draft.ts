/** A first dashboard that was tried with the rows of a tenant, before there is a template or a policy. */
import { z } from 'zod';
import type { DraftedDashboard } from '../../../model/query/first/drafted.js';
import { identifier } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { encodeReply, exampleAnswer, metricAnswer } from '../../metrics/contract.js';
import { dashboardExport, dashboardFilter, encodeContent } from './export.js';

const left = z.array(z.object({ name: z.string(), reason: z.string() }));

export const draftDashboardContent = operation({
  name: 'draftDashboardContent',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'Draft a first dashboard, tried with the rows of the largest client',
  description:
    'As POST /api/v2/data-app/dashboards/content/propose, but chosen by what the rows hold: the clients with the most rows are looked for among the rows of all clients, and each metric is asked for the first of them. Metrics that answer nothing are left out. Without such rows, or where the database does not count them in time, the content comes from definitions, and nothing is answered. Needs access to data. Nothing is written.',
  credentials: ['serviceToken'],
  reads: 'rows',
  readsOnly: true,
  roles: ['author'],
  input: z.strictObject({ datamartName: identifier }),
  output: z.object({
    data: dashboardExport.shape.data,
    tenants: z
      .array(z.object({ clientId: z.string(), name: z.string().nullable() }))
      .describe(
        'The clients with the most rows, at most three, the largest first. The metrics were asked for the first.',
      ),
    answers: z.array(metricAnswer).describe('The rows of each metric, for the first client.'),
    refused: left.describe('Metrics that cannot be asked, with the reason. They are not in `data`.'),
    restrictions: z
      .array(
        z.object({
          filter: dashboardFilter.describe('The filter that a restriction would narrow.'),
          hidden: left.describe('Metrics whose rows the filter says nothing of: a restricted user must not see them.'),
          values: z.array(z.string()).describe('Values that the first client has, the most frequent first.'),
        }),
      )
      .describe('By which categories a policy could restrict users to a part of their client’s rows, the best first.'),
    error: noError,
  }),
  encode: ({ content, tenants, answers, refused, restrictions }: DraftedDashboard) => ({
    data: encodeContent(content),
    tenants,
    answers: answers.map(encodeReply),
    refused,
    restrictions: restrictions.map(({ filter, hidden, values }) => ({ filter: filter as never, hidden, values })),
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DATAMART: 400, DATASOURCE_CONNECTION_ERROR: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/dashboards/content/draft', from: 'body' }],
  example: {
    input: { datamartName: 'flights' },
    output: {
      data: { version: 3, layout: [], filters: [], metrics: [], gridMargin: [] },
      tenants: [{ clientId: 'LAX', name: 'Los Angeles' }],
      answers: [exampleAnswer],
      refused: [],
      restrictions: [],
      error: null,
    },
  },
});
