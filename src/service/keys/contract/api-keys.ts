/** API keys of data apps. A key is sent only in the answer that creates it. */
import { z } from 'zod';
import type { StoredApiKey } from '../../../model/credentials.js';
import { mapItems, type Slices } from '../../../model/slices.js';
import {
  decodePagination,
  identifier,
  limits,
  pagination,
  queryPagination,
  text,
} from '../../../platform/http/interface/fields.js';
import { asIs, operation } from '../../../platform/http/interface/operation.js';

export const newCredential = z.object({
  key: z.string().describe('Sent only in this answer; the service stores only its hash.'),
});

/** A credential as lists show it. */
export const listedCredential = {
  name: z.string(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable().describe('Accurate to about one minute.'),
  keyHint: z.string().nullable().describe('The last characters of the credential; null if they were not stored.'),
};

type Listed = Pick<StoredApiKey, 'name' | 'createdAt' | 'lastUsedAt' | 'keyHint'>;

export const encodeCredential = ({ name, createdAt, lastUsedAt, keyHint }: Listed) => ({
  name,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  keyHint,
});

/** spec-gap: the old credential stays valid for at most 30 days after a rotation. */
export const rotation = z.strictObject({
  expireAt: z
    .number()
    .int()
    .min(0)
    .max(limits.graceSeconds)
    .describe('Seconds for which the old credential stays valid; 0 ends it at once.'),
});

export const createApiKey = operation({
  name: 'createApiKey',
  section: 'facts',
  resource: 'Keys',
  summary: 'Create an API key of a data app',
  credentials: ['serviceToken'],
  reads: 'nothing',
  input: z.strictObject({
    dataAppName: identifier,
    name: identifier.describe('Unique among the API keys of the data app.'),
    description: text.optional(),
  }),
  output: newCredential,
  encode: asIs<z.input<typeof newCredential>>,
  errors: { AUTHENTICATION_ERROR: 401, DATA_APP_NOT_FOUND: 400, API_KEY_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/api-tokens', from: 'body' }],
  example: {
    input: { dataAppName: 'flights', name: 'backend', description: 'Used by the host’s backend' },
    output: { key: '5b9c1f5e-58a8-4d2b-9a3f-0c4d5e6f7a8b' },
  },
});

const listInput = z.strictObject({ dataAppName: identifier, ...pagination });

export const listApiKeys = operation({
  name: 'listApiKeys',
  section: 'facts',
  resource: 'Keys',
  summary: 'List the API keys of a data app',
  description:
    'Ordered by name; the keys themselves are never listed. A key that was replaced by rotation is not listed.',
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['auditor'],
  input: listInput,
  output: z.object({ data: z.array(z.object({ ...listedCredential, description: z.string().nullable() })) }),
  encode: (keys: Slices<StoredApiKey>) => ({
    data: mapItems(keys, (key) => ({ ...encodeCredential(key), description: key.description })),
  }),
  errors: { AUTHENTICATION_ERROR: 401, DATA_APP_NOT_FOUND: 400 },
  bindings: [
    {
      method: 'GET',
      path: '/api/v2/data-app/api-tokens',
      from: 'query',
      input: z
        .strictObject({ dataAppName: identifier, ...queryPagination })
        .transform((query, context) => ({ dataAppName: query.dataAppName, ...decodePagination(query, context) })),
    },
  ],
  example: {
    input: { dataAppName: 'flights' },
    output: {
      data: [
        {
          name: 'backend',
          description: 'Used by the host’s backend',
          createdAt: '2026-01-02T03:04:05.000Z',
          lastUsedAt: null,
          keyHint: '7a8b',
        },
      ],
    },
  },
});

export const deleteApiKey = operation({
  name: 'deleteApiKey',
  section: 'facts',
  resource: 'Keys',
  summary: 'Revoke an API key',
  description: 'The key becomes invalid at once, and so do keys that it replaced. This cannot be undone.',
  credentials: ['serviceToken'],
  reads: 'nothing',
  roles: ['owner'],
  input: z.strictObject({ dataAppName: identifier, name: identifier }),
  output: z.object({ name: z.string() }),
  encode: ({ name }: { readonly name: string }) => ({ name }),
  errors: { AUTHENTICATION_ERROR: 401, DATA_APP_NOT_FOUND: 400, API_KEY_NOT_FOUND: 400 },
  bindings: [{ method: 'DELETE', path: '/api/v2/data-app/api-tokens', from: 'query' }],
  example: { input: { dataAppName: 'flights', name: 'backend' }, output: { name: 'backend' } },
});

export const rotateApiKey = operation({
  name: 'rotateApiKey',
  section: 'facts',
  resource: 'Keys',
  summary: 'Replace the API key of this request by a new one',
  description:
    'The new key has the same name. The old key stays valid until its grace period ends, and cannot be rotated again.',
  credentials: ['apiKey'],
  reads: 'nothing',
  input: rotation,
  output: newCredential,
  encode: asIs<z.input<typeof newCredential>>,
  errors: { AUTHENTICATION_ERROR: 401, API_KEY_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/rotate-api', from: 'body' }],
  example: { input: { expireAt: 3600 }, output: { key: '0e7d4a1c-3b5f-4c6d-8e9f-1a2b3c4d5e6f' } },
});
