/**
 * Logto: `Organization.Created` and `Organization.Deleted`.
 *
 * Verified: `logto-signature-sha-256`, the HMAC-SHA256 of the body in hex, three repetitions after a 5xx and none after a
 * 4xx, the payload of a test (`generateHookTestPayload`), and `event`, `createdAt`, `params` and `data`, which is the
 * answer of the management API (logto-io/logto, packages/core/src/libraries/hook). A deletion's answer is empty, so the
 * id is in `params`. Logto gives an event no id.
 */
import {
  type Adapter,
  digestOf,
  findText,
  type Kinds,
  kindOf,
  momentAt,
  organizationAt,
  organizationOf,
  organizationPaths,
  textAt,
} from './provider.js';

const kinds: Kinds = { 'Organization.Created': 'signed-up', 'Organization.Deleted': 'deleted' };

export const logto: Adapter = {
  scheme: {
    ...{ by: 'hmac', header: 'logto-signature-sha-256', form: 'plain', encoding: 'hex', prefix: '' },
    time: null,
  },
  claims: () => organizationPaths('logto'),
  read: ({ event, text }) => {
    const type = textAt(event, 'event');
    if (findText(event, 'path') === '/fake-path/:id') return { ignored: 'test-event', type };
    const kind = kindOf(kinds, type);
    if (kind === undefined) return { ignored: 'event-not-mapped', type };
    const id = organizationAt(event, kind === 'deleted' ? 'params.id' : 'data.id');
    const claims = organizationOf('logto', id);
    return { eventId: digestOf(text), type, kind, occurredAt: momentAt(event, 'createdAt'), claims };
  },
};
