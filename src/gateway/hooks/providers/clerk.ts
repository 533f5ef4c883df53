/**
 * Clerk: Svix, `organization.created` and `organization.deleted`. `organization.updated` changes no state of a tenant.
 *
 * Verified: Svix, the list of events, `type` and `data` (https://clerk.com/docs/guides/development/webhooks/overview);
 * `timestamp` in milliseconds and the data of a deletion, which has no more than the id (Clerk's event catalog). Not
 * verified: that an example that the dashboard sends can be told from an event. It is signed, and its organization is
 * taken for one.
 */
import { momentAt, organizationAdapter, svix, svixId } from './provider.js';

export const clerk = organizationAdapter({
  scheme: svix,
  preset: 'clerk',
  kinds: { 'organization.created': 'signed-up', 'organization.deleted': 'deleted' },
  type: 'type',
  organization: () => 'data.id',
  eventId: svixId,
  moment: ({ event }) => momentAt(event, 'timestamp'),
});
