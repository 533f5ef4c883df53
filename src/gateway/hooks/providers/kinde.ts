/**
 * Kinde: the body is a JWT by the keys of the issuer's JWKS; `organization.created` and `organization.deleted`.
 *
 * Verified: the JWT, and its keys at `/.well-known/jwks` (https://docs.kinde.com/integrate/webhooks/add-manage-webhooks);
 * RS256 with a key id, `event_id`, `timestamp` in ISO 8601 with a zone, `type` and `data.organization.code`, and that it
 * has neither `iss` nor `exp` (kinde-oss/webhook, lib/types.ts and its test's token).
 */
import {
  type Adapter,
  type Kinds,
  kindOf,
  momentAt,
  organizationAt,
  organizationOf,
  organizationPaths,
  textAt,
} from './provider.js';

const kinds: Kinds = { 'organization.created': 'signed-up', 'organization.deleted': 'deleted' };

export const kinde: Adapter = {
  scheme: { by: 'jwt', algorithms: ['RS256'] },
  claims: () => organizationPaths('kinde'),
  read: ({ event }) => {
    const type = textAt(event, 'type');
    const kind = kindOf(kinds, type);
    if (kind === undefined) return { ignored: 'event-not-mapped', type };
    const claims = organizationOf('kinde', organizationAt(event, 'data.organization.code'));
    return { eventId: textAt(event, 'event_id'), type, kind, occurredAt: momentAt(event, 'timestamp'), claims };
  },
};
