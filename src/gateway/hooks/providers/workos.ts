/**
 * WorkOS: `organization.created` and `organization.deleted`.
 *
 * Verified: `WorkOS-Signature: t=..., v1=...`, the HMAC-SHA256 of `<t>.<body>` in hex, and the tolerance of 180 seconds
 * over a time in milliseconds (workos-node, src/common/crypto/signature-provider.ts); the envelope with `id`, `event`,
 * `data` and `created_at`, which may lack its zone (https://workos.com/docs/events/data-syncing). WorkOS repeats what is
 * not answered 200. A session has the organization's own id. `external_id` is the host's id of it, else the same: a
 * session has it only by a JWT template.
 */
import {
  type Adapter,
  findText,
  type Kinds,
  kindOf,
  momentAt,
  organizationAt,
  organizationOf,
  organizationPaths,
  textAt,
} from './provider.js';

const kinds: Kinds = { 'organization.created': 'signed-up', 'organization.deleted': 'deleted' };

export const workos: Adapter = {
  scheme: {
    ...{ by: 'hmac', header: 'workos-signature', form: 'parts', encoding: 'hex', prefix: '' },
    time: { header: null, unitMs: 1, pastMs: 180_000, futureMs: 0 },
  },
  claims: () => [...organizationPaths('workos'), 'external_id'],
  read: ({ event }) => {
    const type = textAt(event, 'event');
    const kind = kindOf(kinds, type);
    if (kind === undefined) return { ignored: 'event-not-mapped', type };
    const id = organizationAt(event, 'data.id');
    const claims = { ...organizationOf('workos', id), external_id: findText(event, 'data.external_id') ?? id };
    return { eventId: textAt(event, 'id'), type, kind, occurredAt: momentAt(event, 'created_at'), claims };
  },
};
