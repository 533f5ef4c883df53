/**
 * Stripe: the status of a subscription, in `customer.subscription.*`. A subscription knows no session, so the claims are
 * those of the configuration alone.
 *
 * Verified: `Stripe-Signature: t=...,v1=...`, the HMAC-SHA256 of `<t>.<body>` in hex with the whole secret, where several
 * `v1` may be, and the tolerance of 300 seconds (stripe-node, src/Webhooks.ts). Not verified at Stripe's own pages: `id`,
 * `type`, `created` in seconds and `data.object.status` (https://docs.stripe.com/api/events/object), that it repeats for
 * three days what is not answered 2xx, and that the id of the dashboard's test is made of zeros.
 */
import type { TenantEventKind } from '../../tenant/state.js';
import { type Adapter, refuseEvent, textAt, valueAt } from './provider.js';

export type StripeStates = { readonly suspend: readonly string[]; readonly resume: readonly string[] };

const tests = /^evt_0+$/;

const createdAt = (event: unknown): Date => {
  const seconds = valueAt(event, 'created');
  return typeof seconds === 'number' && Number.isSafeInteger(seconds) && Math.abs(seconds) < 1e11
    ? new Date(seconds * 1000)
    : refuseEvent("The event's created must be a time in seconds.", 'hook-body-invalid');
};

const kindOfStatus = ({ suspend, resume }: StripeStates, status: string): TenantEventKind | undefined => {
  if (suspend.includes(status)) return 'suspended';
  return resume.includes(status) ? 'resumed' : undefined;
};

export const stripe = (states: StripeStates): Adapter => ({
  scheme: {
    ...{ by: 'hmac', header: 'stripe-signature', form: 'parts', encoding: 'hex', prefix: '' },
    time: { header: null, unitMs: 1000, pastMs: 300_000, futureMs: 300_000 },
  },
  claims: () => [],
  read: ({ event }) => {
    const type = textAt(event, 'type');
    const eventId = textAt(event, 'id');
    if (tests.test(eventId)) return { ignored: 'test-event', type };
    if (!type.startsWith('customer.subscription.')) return { ignored: 'event-not-mapped', type };
    const status = textAt(event, 'data.object.status');
    const kind = kindOfStatus(states, status);
    if (kind === undefined) return { ignored: 'event-not-mapped', type: `${type} ${status}` };
    return { eventId, type: `${type} ${status}`, kind, occurredAt: createdAt(event), claims: {} };
  },
});
