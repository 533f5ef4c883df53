/**
 * Service tokens of the organization. Only the rotation is specified; the other operations are this project's, in the
 * style of API keys.
 */
import { z } from 'zod';
import type { StoredKey } from '../../../model/credentials.js';
import { mapItems, type Slices } from '../../../model/slices.js';
import { decodePagination, identifier, pagination, queryPagination } from '../../../platform/http/interface/fields.js';
import { asIs, operation } from '../../../platform/http/interface/operation.js';
import { encodeCredential, listedCredential, newCredential, rotation } from './api-keys.js';

const path = '/api/v2/service-token';
const named = z.strictObject({ name: identifier });

export const createServiceToken = operation({
  name: 'createServiceToken',
  section: 'facts',
  resource: 'Keys',
  summary: 'Create a service token',
  credentials: ['serviceToken'],
  reads: 'nothing',
  input: z.strictObject({ name: identifier.describe('Unique among the service tokens.') }),
  output: newCredential,
  encode: asIs<z.input<typeof newCredential>>,
  errors: { AUTHENTICATION_ERROR: 401, SERVICE_TOKEN_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'POST', path, from: 'body' }],
  example: { input: { name: 'deployment' }, output: { key: '9f8e7d6c-5b4a-4938-a716-051423324150' } },
});

export const listServiceTokens = operation({
  name: 'listServiceTokens',
  section: 'facts',
  resource: 'Keys',
  summary: 'List the service tokens',
  description:
    'Ordered by name; the tokens themselves are never listed. A token that was replaced by rotation is not listed.',
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['auditor'],
  input: z.strictObject(pagination),
  output: z.object({ data: z.array(z.object(listedCredential)) }),
  encode: (tokens: Slices<StoredKey>) => ({ data: mapItems(tokens, encodeCredential) }),
  errors: { AUTHENTICATION_ERROR: 401 },
  bindings: [
    { method: 'GET', path, from: 'query', input: z.strictObject(queryPagination).transform(decodePagination) },
  ],
  example: {
    input: {},
    output: {
      data: [{ name: 'deployment', createdAt: '2026-01-02T03:04:05.000Z', lastUsedAt: null, keyHint: '50a1' }],
    },
  },
});

export const deleteServiceToken = operation({
  name: 'deleteServiceToken',
  section: 'facts',
  resource: 'Keys',
  summary: 'Revoke a service token',
  description:
    'The token becomes invalid at once, and so do tokens that it replaced. The last token cannot be revoked: create another one first.',
  credentials: ['serviceToken'],
  reads: 'nothing',
  roles: ['owner'],
  input: named,
  output: z.object({ name: z.string() }),
  encode: ({ name }: { readonly name: string }) => ({ name }),
  errors: { AUTHENTICATION_ERROR: 401, SERVICE_TOKEN_NOT_FOUND: 400 },
  bindings: [{ method: 'DELETE', path, from: 'query' }],
  example: { input: { name: 'deployment' }, output: { name: 'deployment' } },
});

export const rotateServiceToken = operation({
  name: 'rotateServiceToken',
  section: 'facts',
  resource: 'Keys',
  summary: 'Replace the service token of this request by a new one',
  description:
    'The new token has the same name. The old token stays valid until its grace period ends, and cannot be rotated again.',
  credentials: ['serviceToken'],
  reads: 'nothing',
  input: rotation,
  output: newCredential,
  encode: asIs<z.input<typeof newCredential>>,
  errors: { AUTHENTICATION_ERROR: 401, SERVICE_TOKEN_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'POST', path: `${path}/rotate`, from: 'body' }],
  example: { input: { expireAt: 0 }, output: { key: '1c2d3e4f-5a6b-4c7d-8e9f-a0b1c2d3e4f5' } },
});
