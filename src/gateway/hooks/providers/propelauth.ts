/**
 * PropelAuth: Svix, `org.created` and `org.deleted`.
 *
 * Verified: Svix, the names of the events, and that the payload includes the type of the event
 * (https://docs.propelauth.com/integrations/webhooks). Not verified: the payload itself, which only the event catalog of
 * the dashboard shows; its fields are taken to be `event_type` and `org_id`. No time is read, so the moment is that of the
 * attempt, which Svix signs.
 */
import type { IncomingHttpHeaders } from 'node:http';
import {
  type Adapter,
  type Kinds,
  kindOf,
  organizationAt,
  organizationOf,
  organizationPaths,
  svix,
  svixId,
  textAt,
} from './provider.js';

const kinds: Kinds = { 'org.created': 'signed-up', 'org.deleted': 'deleted' };

const attemptedAt = (headers: IncomingHttpHeaders, now: Date): Date => {
  const seconds = Number(headers['svix-timestamp'] ?? Number.NaN);
  return Number.isFinite(seconds) ? new Date(seconds * 1000) : now;
};

export const propelauth: Adapter = {
  scheme: svix,
  claims: () => organizationPaths('propelauth'),
  read: (received) => {
    const { event, headers, now } = received;
    const type = textAt(event, 'event_type');
    const kind = kindOf(kinds, type);
    if (kind === undefined) return { ignored: 'event-not-mapped', type };
    const claims = organizationOf('propelauth', organizationAt(event, 'org_id'));
    return { eventId: svixId(received), type, kind, occurredAt: attemptedAt(headers, now), claims };
  },
};
