/**
 * PropelAuth: Svix, `org.created` and `org.deleted`.
 *
 * Verified: Svix, the names of the events, and that the payload includes the type of the event
 * (https://docs.propelauth.com/integrations/webhooks). Not verified: the payload itself, which only the event catalog of
 * the dashboard shows; its fields are taken to be `event_type` and `org_id`. No time is read. A deletion happened when the
 * attempt was signed, at the latest. A creation counts as older than every other event: an attempt that is repeated late
 * must not end a suspension or undo a deletion.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { organizationAdapter, svix, svixId } from './provider.js';

const attemptedAt = (headers: IncomingHttpHeaders, now: Date): Date => {
  const seconds = Number(headers['svix-timestamp'] ?? Number.NaN);
  return Number.isFinite(seconds) ? new Date(seconds * 1000) : now;
};

export const propelauth = organizationAdapter({
  scheme: svix,
  preset: 'propelauth',
  kinds: { 'org.created': 'signed-up', 'org.deleted': 'deleted' },
  type: 'event_type',
  organization: () => 'org_id',
  eventId: svixId,
  moment: ({ headers, now }, kind) => (kind === 'signed-up' ? new Date(0) : attemptedAt(headers, now)),
});
