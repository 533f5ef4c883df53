/**
 * Auth0 event streams: CloudEvents `organization.created` and `organization.deleted`. The body is not signed: a secret
 * in `Authorization` is all, so a deletion is ignored.
 *
 * Verified: `id`, `type`, `time`, `data`, `a0tenant`, `a0stream` and the optional `a0purpose`
 * (https://auth0.com/docs/events/organization/organization.created, ruby-auth0); `data.object` as in the events of users
 * (https://auth0.com/docs/customize/events/event-testing-observability-and-failure-recovery); Bearer authorization (the
 * API of event streams). Auth0 takes 2xx for delivered and repeats otherwise.
 */
import { momentAt, organizationAdapter, textAt, valueAt } from './provider.js';

export const auth0 = organizationAdapter({
  scheme: { by: 'bearer', header: 'authorization' },
  preset: 'auth0',
  kinds: { 'organization.created': 'signed-up', 'organization.deleted': 'deleted' },
  type: 'type',
  organization: () => 'data.object.id',
  eventId: ({ event }) => textAt(event, 'id'),
  moment: ({ event }) => momentAt(event, 'time'),
  isTest: (event) => valueAt(event, 'a0purpose') === 'test',
});
