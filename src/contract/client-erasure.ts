/** Erasing a client: ours, in the interface's style. */
import { z } from 'zod';
import type { ErasedClient } from '../domain/store/organization.js';
import { identifier } from './fields.js';
import { noError, operation } from './operation.js';

const count = z.number().int().min(0);

export const eraseClient = operation({
  name: 'eraseClient',
  section: 'facts',
  resource: 'Data apps',
  summary: 'Erase a client of the data app',
  description:
    'Its dashboards, their embeds and metrics, what its guests made, arranged and saved on any dashboard, its guest tokens and every note of it; rows of the customer’s databases are not touched. Asked again, it finds nothing. Cannot be undone.',
  credentials: ['apiKey'],
  input: z.strictObject({ clientId: identifier }),
  output: z.object({
    data: z
      .object({
        dashboards: count,
        embeds: count,
        metrics: count,
        guestMetrics: count,
        guestLayouts: count,
        guestViews: count,
        guestTokens: count,
      })
      .describe('How many of each were erased.'),
    error: noError,
  }),
  encode: (erased: ErasedClient) => ({ data: { ...erased }, error: null }),
  errors: { AUTHENTICATION_ERROR: 401 },
  bindings: [{ method: 'DELETE', path: '/api/v2/data-app/clients', from: 'query' }],
  example: {
    input: { clientId: 'LAX' },
    output: {
      data: {
        dashboards: 2,
        embeds: 2,
        metrics: 9,
        guestMetrics: 1,
        guestLayouts: 3,
        guestViews: 4,
        guestTokens: 5,
      },
      error: null,
    },
  },
});
