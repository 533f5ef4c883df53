/**
 * Kinde: the body is a JWT by the keys of the issuer's JWKS; `organization.created` and `organization.deleted`.
 *
 * Verified: the JWT, and its keys at `/.well-known/jwks` (https://docs.kinde.com/integrate/webhooks/add-manage-webhooks);
 * RS256 with a key id, `event_id`, `timestamp` in ISO 8601 with a zone, `type` and `data.organization.code`, and that it
 * has neither `iss` nor `exp` (kinde-oss/webhook, lib/types.ts and its test's token).
 */
import { momentAt, organizationAdapter, textAt } from './provider.js';

export const kinde = organizationAdapter({
  scheme: { by: 'jwt', algorithms: ['RS256'] },
  preset: 'kinde',
  kinds: { 'organization.created': 'signed-up', 'organization.deleted': 'deleted' },
  type: 'type',
  organization: () => 'data.organization.code',
  eventId: ({ event }) => textAt(event, 'event_id'),
  moment: ({ event }) => momentAt(event, 'timestamp'),
});
