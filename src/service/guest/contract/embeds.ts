/** An operation of this project: what a guest token opens. */
import { z } from 'zod';
import { guestOperationNames } from '../../../model/guest/access.js';
import type { GuestEmbeds } from '../../../model/guest/view.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { language, readErrors } from './reads.js';

const listed = {
  name: z.string().describe('In the reader’s language, if it has a translation.'),
  operations: z
    .array(z.enum(guestOperationNames))
    .describe('What this token may call there, besides reading and querying.'),
};

export const listGuestEmbeds = operation({
  name: 'listGuestEmbeds',
  section: 'guest',
  resource: 'Guest reads',
  summary: 'List the dashboards and metrics that the token opens',
  description: 'Oldest first, or in the order of the token. `metrics` has only metrics with an embed of their own.',
  credentials: ['guestToken'],
  reads: 'definitions',
  tool: {
    name: 'list_dashboards',
    description: 'Lists the dashboards and single metrics that you may open, by id.',
    isForAll: true,
  },
  takesLanguage: true,
  input: z.strictObject({ language }),
  output: z.object({
    data: z.object({
      dashboards: z.array(z.object({ dashboardId: z.string(), ...listed })),
      metrics: z.array(z.object({ metricId: z.string(), ...listed })),
    }),
    error: noError,
  }),
  encode: ({ dashboards, metrics }: GuestEmbeds) => ({
    data: {
      dashboards: dashboards.map(({ dashboardId, name, operations }) => ({ dashboardId, name, operations })),
      metrics: metrics.map(({ metricId, name, operations }) => ({ metricId, name, operations })),
    },
    error: null,
  }),
  errors: { TOKEN_EXPIRED: readErrors.TOKEN_EXPIRED, AUTHENTICATION_ERROR: readErrors.AUTHENTICATION_ERROR },
  bindings: [{ method: 'GET', path: '/api/v2/guest/embeds', from: 'query' }],
  example: {
    input: {},
    output: {
      data: {
        dashboards: [{ dashboardId: 'delays--LAX', name: 'Delays', operations: ['listGuestUnderlying'] }],
        metrics: [],
      },
      error: null,
    },
  },
});
