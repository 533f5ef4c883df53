/**
 * PropelAuth: Svix, `org.created` and `org.deleted`.
 *
 * Verified: Svix, the names of the events, and that the payload includes the type of the event
 * (https://docs.propelauth.com/integrations/webhooks). Not verified: the payload itself, which only the event catalog of
 * the dashboard shows; `event_type` and `org_id` are its fields there. It has no time, so the moment is that of the
 * attempt, which Svix signs. A session carries the active organization as `org_member_info`, and all of them as
 * `org_id_to_org_member_info` (https://docs.propelauth.com/reference/api/user-token).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type Adapter, type Kinds, kindOf, organizationAt, svix, svixId, textAt } from './provider.js';

const kinds: Kinds = { 'org.created': 'signed-up', 'org.deleted': 'deleted' };

const attemptedAt = (headers: IncomingHttpHeaders, now: Date): Date => {
  const seconds = Number(headers['svix-timestamp'] ?? Number.NaN);
  return Number.isFinite(seconds) ? new Date(seconds * 1000) : now;
};

export const propelauth: Adapter = {
  scheme: svix,
  claims: ['org_id', 'org_member_info.org_id', 'org_id_to_org_member_info'],
  read: (received) => {
    const { event, headers, now } = received;
    const type = textAt(event, 'event_type');
    const kind = kindOf(kinds, type);
    if (kind === undefined) return { ignored: 'event-not-mapped', type };
    const id = organizationAt(event, 'org_id');
    const member = { org_id: id };
    const claims = { org_id: id, org_member_info: member, org_id_to_org_member_info: { [id]: member } };
    return { eventId: svixId(received), type, kind, occurredAt: attemptedAt(headers, now), claims };
  },
};
