/**
 * WorkOS: `organization.created` and `organization.deleted`.
 *
 * Verified: `WorkOS-Signature: t=..., v1=...`, the HMAC-SHA256 of `<t>.<body>` in hex, and the tolerance of 180 seconds
 * over a time in milliseconds (workos-node, src/common/crypto/signature-provider.ts); the envelope with `id`, `event`,
 * `data` and `created_at`, which may lack its zone (https://workos.com/docs/events/data-syncing). WorkOS repeats what is
 * not answered 200. A session has the organization's own id. `external_id` is the host's id of it, else the same: a
 * session has it only by a JWT template.
 */
import { findText, momentAt, organizationAdapter, textAt } from './provider.js';

export const workos = organizationAdapter({
  scheme: {
    ...{ by: 'hmac', header: 'workos-signature', form: 'parts', encoding: 'hex', prefix: '' },
    time: { header: null, unitMs: 1, pastMs: 180_000, futureMs: 0 },
  },
  preset: 'workos',
  kinds: { 'organization.created': 'signed-up', 'organization.deleted': 'deleted' },
  type: 'event',
  organization: () => 'data.id',
  eventId: ({ event }) => textAt(event, 'id'),
  moment: ({ event }) => momentAt(event, 'created_at'),
  more: { external_id: (event, id) => findText(event, 'data.external_id') ?? id },
});
