/**
 * Clerk: Svix, `organization.created` and `organization.deleted`. `organization.updated` changes no state of a tenant.
 *
 * Verified: Svix, the list of events, `type` and `data` (https://clerk.com/docs/guides/development/webhooks/overview);
 * `timestamp` in milliseconds and the data of a deletion, which has no more than the id (Clerk's event catalog). Not
 * verified: that an example that the dashboard sends can be told from an event. It is signed, and its organization is
 * taken for one.
 */
import {
  type Adapter,
  type Kinds,
  kindOf,
  momentAt,
  organizationAt,
  organizationOf,
  organizationPaths,
  svix,
  svixId,
  textAt,
} from './provider.js';

const kinds: Kinds = { 'organization.created': 'signed-up', 'organization.deleted': 'deleted' };

export const clerk: Adapter = {
  scheme: svix,
  claims: () => organizationPaths('clerk'),
  read: (received) => {
    const { event } = received;
    const type = textAt(event, 'type');
    const kind = kindOf(kinds, type);
    if (kind === undefined) return { ignored: 'event-not-mapped', type };
    const id = organizationAt(event, 'data.id');
    const occurredAt = momentAt(event, 'timestamp');
    return { eventId: svixId(received), type, kind, occurredAt, claims: organizationOf('clerk', id) };
  },
};
