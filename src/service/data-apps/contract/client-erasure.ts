/** Erases a client. An operation of this project, in the style of the interface. */
import { z } from 'zod';
import type { ErasedClient } from '../../../model/organization.js';
import { identifier } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';

const count = z.number().int().min(0);
const fence = z
  .string()
  .max(15)
  .regex(/^[1-9][0-9]{0,14}$/, 'a whole number from 1')
  .optional()
  .describe(
    'A whole number. A call is refused if one with a larger number and the same header `Guestlist-Gateway` has erased this client within the last day: a process that was presumed dead deletes nothing of a later sign-up.',
  );

export const eraseClient = operation({
  name: 'eraseClient',
  section: 'facts',
  resource: 'Data apps',
  summary: 'Erase a client of the data app',
  description:
    'Deletes its dashboards with their embeds and metrics, everything that its guests created and saved on any dashboard, its guest tokens, and every other record of it. Rows of the customer’s databases are not changed. A second call finds nothing and succeeds. This cannot be undone.',
  credentials: ['apiKey'],
  reads: 'definitions',
  input: z.strictObject({ clientId: identifier, fence }),
  output: z.object({
    data: z
      .object({
        dashboards: count,
        embeds: count,
        metrics: count,
        guestMetrics: count,
        guestLayouts: count,
        guestViews: count,
        guestBoards: count,
        schedules: count,
        guestTokens: count,
      })
      .describe('Number of deleted items of each kind.'),
    error: noError,
  }),
  encode: (erased: ErasedClient) => ({ data: erased, error: null }),
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
        guestBoards: 1,
        schedules: 2,
        guestTokens: 5,
      },
      error: null,
    },
  },
});
