/** Lists and revokes guest tokens. Operations of this project, in the style of the interface. */
import { z } from 'zod';
import type { ListedGuestToken } from '../../../model/credentials.js';
import { mapItems, type Slices } from '../../../model/slices.js';
import { decodePagination, identifier, pagination, queryPagination } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';

const digest = z
  .string()
  .length(64)
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex');

const filters = {
  clientId: identifier.optional(),
  userIdentifier: identifier.optional().describe('Only tokens with this `userIdentifier`.'),
  tokenDigest: digest.optional().describe('Only the token with this SHA-256, in lower-case hex.'),
};

export const listGuestTokens = operation({
  name: 'listGuestTokens',
  section: 'facts',
  resource: 'Guest tokens',
  summary: 'List the guest tokens of the data app',
  description: 'Returns the valid tokens, oldest first. The tokens themselves are never listed.',
  credentials: ['apiKey'],
  reads: 'definitions',
  roles: ['support', 'auditor'],
  input: z.strictObject({ ...filters, ...pagination }),
  output: z.object({
    data: z.array(
      z.object({
        id: z.string(),
        clientId: z.string(),
        createdAt: z.iso.datetime(),
        expiresAt: z.iso.datetime().nullable().describe('Null: never.'),
        lastUsedAt: z.iso.datetime().nullable().describe('Accurate to about one minute.'),
      }),
    ),
  }),
  encode: (tokens: Slices<ListedGuestToken>) => ({
    data: mapItems(tokens, ({ id, clientId, createdAt, expiresAt, lastUsedAt }) => ({
      id,
      clientId,
      createdAt: createdAt.toISOString(),
      expiresAt: expiresAt?.toISOString() ?? null,
      lastUsedAt: lastUsedAt?.toISOString() ?? null,
    })),
  }),
  errors: { AUTHENTICATION_ERROR: 401 },
  bindings: [
    {
      method: 'GET',
      path: '/api/v2/guest-token',
      from: 'query',
      input: z
        .strictObject({ ...filters, ...queryPagination })
        .transform(({ clientId, userIdentifier, tokenDigest, ...query }, context) => ({
          clientId,
          userIdentifier,
          tokenDigest,
          ...decodePagination(query, context),
        })),
    },
  ],
  example: {
    input: { clientId: 'LAX' },
    output: {
      data: [
        {
          id: '3d6f0a52-9b1e-4c57-8d24-7e5a1b2c3d4f',
          clientId: 'LAX',
          createdAt: '2026-01-02T03:04:05.000Z',
          expiresAt: '2026-01-02T03:19:05.000Z',
          lastUsedAt: null,
        },
      ],
    },
  },
});

const ofGateway = identifier
  .optional()
  .describe(
    'Only tokens that were created with this header `Guestlist-Gateway`, and those that were created without it.',
  );

export const revokeGuestTokens = operation({
  name: 'revokeGuestTokens',
  section: 'facts',
  resource: 'Guest tokens',
  summary: 'Revoke guest tokens of the data app',
  description:
    'The request has exactly one of the forms `{id}`, `{token}`, `{clientId}`, `{clientId, userIdentifier}` and `{all: true}`; the last three take `gateway` too. The next read with such a token is refused, and tokens that are being created become invalid too.',
  credentials: ['apiKey'],
  reads: 'nothing',
  input: z.union([
    z.strictObject({ id: identifier.describe('As listed.') }),
    z.strictObject({ token: identifier.describe('The guest token itself.') }),
    z.strictObject({
      clientId: identifier,
      userIdentifier: identifier.optional().describe('If missing, all tokens of the client are revoked.'),
      gateway: ofGateway,
    }),
    z.strictObject({ all: z.literal(true).describe('Revokes all tokens of the data app.'), gateway: ofGateway }),
  ]),
  output: z.object({
    data: z.object({ revoked: z.number().int().describe('Number of tokens that were valid.') }),
    error: noError,
  }),
  encode: ({ revoked }: { readonly revoked: number }) => ({ data: { revoked }, error: null }),
  errors: { AUTHENTICATION_ERROR: 401 },
  bindings: [{ method: 'POST', path: '/api/v2/guest-token/revoke', from: 'body' }],
  example: { input: { clientId: 'LAX' }, output: { data: { revoked: 3 }, error: null } },
});
