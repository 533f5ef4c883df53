/**
 * Logto: `Organization.Created` and `Organization.Deleted`.
 *
 * Verified: `logto-signature-sha-256`, the HMAC-SHA256 of the body in hex, three repetitions after a 5xx and none after a
 * 4xx, the payload of a test (`generateHookTestPayload`), and `event`, `createdAt`, `params` and `data`, which is the
 * answer of the management API (logto-io/logto, packages/core/src/libraries/hook). A deletion's answer is empty, so the
 * id is in `params`. Logto gives an event no id.
 */
import { digestOf, findText, momentAt, organizationAdapter } from './provider.js';

export const logto = organizationAdapter({
  scheme: {
    ...{ by: 'hmac', header: 'logto-signature-sha-256', form: 'plain', encoding: 'hex', prefix: '' },
    time: null,
  },
  preset: 'logto',
  kinds: { 'Organization.Created': 'signed-up', 'Organization.Deleted': 'deleted' },
  type: 'event',
  organization: (kind) => (kind === 'deleted' ? 'params.id' : 'data.id'),
  eventId: ({ text }) => digestOf(text),
  moment: ({ event }) => momentAt(event, 'createdAt'),
  isTest: (event) => findText(event, 'path') === '/fake-path/:id',
});
