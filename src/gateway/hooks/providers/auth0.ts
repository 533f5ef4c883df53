/**
 * Auth0 event streams: CloudEvents `organization.created` and `organization.deleted`. The body is not signed: a secret
 * in `Authorization` is all, so a deletion is ignored.
 *
 * Verified: `id`, `type`, `time`, `data`, `a0tenant`, `a0stream` and the optional `a0purpose`
 * (https://auth0.com/docs/events/organization/organization.created, ruby-auth0); `data.object` as in the events of users
 * (https://auth0.com/docs/customize/events/event-testing-observability-and-failure-recovery); Bearer authorization (the
 * API of event streams). Auth0 takes 2xx for delivered and repeats otherwise.
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
  valueAt,
} from './provider.js';

const kinds: Kinds = { 'organization.created': 'signed-up', 'organization.deleted': 'deleted' };

export const auth0: Adapter = {
  scheme: { by: 'bearer', header: 'authorization' },
  claims: () => organizationPaths('auth0'),
  read: ({ event }) => {
    const type = textAt(event, 'type');
    if (valueAt(event, 'a0purpose') === 'test') return { ignored: 'test-event', type };
    const kind = kindOf(kinds, type);
    if (kind === undefined) return { ignored: 'event-not-mapped', type };
    const claims = organizationOf('auth0', organizationAt(event, 'data.object.id'));
    return { eventId: textAt(event, 'id'), type, kind, occurredAt: momentAt(event, 'time'), claims };
  },
};
