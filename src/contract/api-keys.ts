/** API keys of data apps. A key is shown once, in the answer that makes it. */
import { z } from 'zod';
import type { StoredApiKey } from '../domain/store/credentials.js';
import { decodePagination, identifier, limits, pagination, queryPagination, text } from './fields.js';
import { asIs, operation } from './operation.js';

export const newCredential = z.object({ key: z.string().describe('Shown once; only its hash is kept.') });

/** How a credential is listed. */
export const listedCredential = {
  name: z.string(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable().describe('To about a minute.'),
  keyHint: z.string().nullable().describe('Its last characters; null where they are not known.'),
};

type Listed = Pick<StoredApiKey, 'name' | 'createdAt' | 'lastUsedAt' | 'keyHint'>;

export const encodeCredential = ({ name, createdAt, lastUsedAt, keyHint }: Listed) => ({
  name,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  keyHint,
});

/** spec-gap: a credential that is rotated lives on for 30 days at most. */
export const rotation = z.strictObject({
  expireAt: z
    .number()
    .int()
    .min(0)
    .max(limits.graceSeconds)
    .describe('For how many seconds from now the old one still works; 0 ends it at once.'),
});

export const createApiKey = operation({
  name: 'createApiKey',
  section: 'facts',
  resource: 'Keys',
  summary: 'Make an API key of a data app',
  credentials: ['serviceToken'],
  input: z.strictObject({
    dataAppName: identifier,
    name: identifier.describe('Unique among the data app’s keys.'),
    description: text.optional(),
  }),
  output: newCredential,
  encode: asIs<z.input<typeof newCredential>>,
  errors: { AUTHENTICATION_ERROR: 401, DATA_APP_NOT_FOUND: 400, API_KEY_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/api-tokens', from: 'body' }],
  example: {
    input: { dataAppName: 'flights', name: 'backend', description: 'Of the host’s backend' },
    output: { key: '5b9c1f5e-58a8-4d2b-9a3f-0c4d5e6f7a8b' },
  },
});

const listInput = z.strictObject({ dataAppName: identifier, ...pagination });

export const listApiKeys = operation({
  name: 'listApiKeys',
  section: 'facts',
  resource: 'Keys',
  summary: 'List the API keys of a data app',
  description: 'By name, and never the keys themselves. One that was replaced by rotation is not listed.',
  credentials: ['serviceToken'],
  input: listInput,
  output: z.object({ data: z.array(z.object({ ...listedCredential, description: z.string().nullable() })) }),
  encode: (keys: readonly StoredApiKey[]) => ({
    data: keys.map((key) => ({ ...encodeCredential(key), description: key.description })),
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
          description: 'Of the host’s backend',
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
  description: 'It ends at once, with what is left of keys that it replaced. Cannot be undone.',
  credentials: ['serviceToken'],
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
  summary: 'Replace the API key that makes the call by a new one',
  description: 'The new key has the old one’s name. The old one works until its grace has passed, and rotates no more.',
  credentials: ['apiKey'],
  input: rotation,
  output: newCredential,
  encode: asIs<z.input<typeof newCredential>>,
  errors: { AUTHENTICATION_ERROR: 401, API_KEY_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/rotate-api', from: 'body' }],
  example: { input: { expireAt: 3600 }, output: { key: '0e7d4a1c-3b5f-4c6d-8e9f-1a2b3c4d5e6f' } },
});
