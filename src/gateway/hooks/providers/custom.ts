/**
 * A provider that the configuration describes: its scheme of signatures, and CEL over `event` for the id, the kind and the
 * moment of an event. Its claims are those of the configuration alone.
 */
import type { SignatureSetting } from '../../../platform/config/hook-providers.js';
import { type EventVariables, type Expression, ExpressionFault } from '../../policy/expression.js';
import { type TenantEventKind, tenantEventKinds } from '../../tenant/state.js';
import { celOf } from './event-values.js';
import { type Adapter, refuseEvent, timeOf } from './provider.js';
import type { Scheme } from './verify.js';

export type CustomRead = Readonly<Record<'id' | 'kind' | 'moment', Expression<EventVariables>>>;

const schemeOf = (signature: SignatureSetting): Scheme => {
  if (signature.scheme === 'standard-webhooks') {
    return { by: 'standard-webhooks', headers: signature.headers, toleranceSeconds: 300 };
  }
  if (signature.scheme === 'bearer') return { by: 'bearer', header: signature.header };
  if (signature.scheme === 'jwt') return { by: 'jwt', algorithms: signature.algorithms };
  const { header, encoding, prefix, timestamp } = signature;
  const toleranceMs = (timestamp?.toleranceSeconds ?? 0) * 1000;
  const time =
    timestamp === null
      ? null
      : {
          ...{ header: timestamp.header, unitMs: timestamp.unit === 'seconds' ? (1000 as const) : (1 as const) },
          ...{ pastMs: toleranceMs, futureMs: toleranceMs },
        };
  return { by: 'hmac', header, form: 'plain', encoding, prefix, time };
};

/** Evaluates an expression over an event in CEL's types. Throws INVALID_REQUEST_BODY if it has no value. */
export const evaluateOver = (expression: Expression<EventVariables>, event: unknown): unknown => {
  try {
    return expression.evaluate({ event });
  } catch (cause) {
    if (!(cause instanceof ExpressionFault)) throw cause;
    return refuseEvent(
      `The event gives no value for "${expression.source}" (${expression.at}).`,
      'hook-event-undecided',
      cause,
    );
  }
};

const misfit = ({ source, at }: Expression<EventVariables>, expected: string): never =>
  refuseEvent(`"${source}" (${at}) must give ${expected} for each event.`, 'hook-event-undecided');

const maxIdLength = 255;

const idOf = (expression: Expression<EventVariables>, event: unknown): string => {
  const value = evaluateOver(expression, event);
  const text = typeof value === 'bigint' ? String(value) : value;
  return typeof text === 'string' && text !== '' && text.length <= maxIdLength
    ? text
    : misfit(expression, `a text of at most ${maxIdLength} characters or a whole number`);
};

const momentOf = (expression: Expression<EventVariables>, event: unknown): Date => {
  const value = evaluateOver(expression, event);
  if (value instanceof Date) return value;
  const found = timeOf(typeof value === 'bigint' ? Number(value) : value);
  return found ?? misfit(expression, 'a time in ISO 8601, or milliseconds since 1970');
};

const kindOfText = (value: unknown): TenantEventKind | undefined => tenantEventKinds.find((kind) => kind === value);

export const custom = (signature: SignatureSetting, { id, kind, moment }: CustomRead): Adapter => ({
  scheme: schemeOf(signature),
  claims: () => [],
  read: (received) => {
    const event = celOf(received.event);
    const said = evaluateOver(kind, event);
    const type = typeof said === 'string' ? said.slice(0, 100) : '';
    const found = kindOfText(type);
    if (found === undefined) return { ignored: 'event-not-mapped', type };
    const occurredAt = momentOf(moment, event);
    const content = `${type} ${occurredAt.toISOString()}`;
    return { eventId: idOf(id, event), type, kind: found, claims: {}, occurredAt, content };
  },
});
