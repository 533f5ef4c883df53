/** Holds of clients. An operation of this project, in the style of the interface. */
import { z } from 'zod';
import { identifier } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';

/** The most clients that holds name. */
export const mostHeldClients = 250;

const version = z
  .string()
  .max(15)
  .regex(/^[1-9][0-9]{0,14}$/, 'a whole number from 1')
  .describe(
    'Rises with each change. A call with a smaller number than an earlier one with the same header `Guestlist-Gateway` changes nothing.',
  );

export const holdClients = operation({
  name: 'holdClients',
  section: 'facts',
  resource: 'Data apps',
  summary: 'Say which clients of the data app are held',
  description:
    'Replaces the holds that the same gateway has set before. While a client is held, its expired guest tokens, its deliveries and its usage are kept beyond their time. An erasure of the client ends its hold.',
  credentials: ['apiKey'],
  reads: 'definitions',
  input: z.strictObject({
    version,
    isAll: z.boolean().describe('Whether everything of the data app is held.'),
    clientIds: z.array(identifier).max(mostHeldClients).describe('The clients that are held.'),
  }),
  output: z.object({
    data: z.object({ version: z.string().describe('The number of the holds that are in force.') }),
    error: noError,
  }),
  encode: (inForce: { readonly version: string }) => ({ data: inForce, error: null }),
  errors: { AUTHENTICATION_ERROR: 401 },
  bindings: [{ method: 'PUT', path: '/api/v2/data-app/holds', from: 'body' }],
  example: {
    input: { version: '7', isAll: false, clientIds: ['LAX'] },
    output: { data: { version: '7' }, error: null },
  },
});
