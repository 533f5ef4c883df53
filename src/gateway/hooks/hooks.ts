/**
 * Handles one hook, from the signed request to the response: checks the signature, decodes the event, applies it once
 * for each webhook-id, and writes the audit. Must not use Express or SQL.
 */

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../../model/ports.js';
import type { RunningWork } from '../../model/query/running.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { unlisted } from '../../platform/work/running-work.js';
import type { Audit } from '../audit/audit.js';
import type { EventAnswer, Lifecycle } from '../lifecycle/lifecycle.js';
import { tenantId } from '../policy/tenant-id.js';
import type { TenantEvent } from '../tenant/records.js';
import type { TenantEventKind } from '../tenant/state.js';
import type { Deliveries } from './deliveries.js';
import { decodeSigned, type HookTrace, type SignedOptions, signedReader } from './receive.js';

/** The body of a hook. Other fields are ignored, since senders add their own, such as `type` and `data`. */
const hookBody = z.object({
  clientId: tenantId,
  occurredAt: z.iso.datetime({ offset: true, error: 'must be a time as 2026-11-21T20:15:00.000Z' }),
});

const refuse = (message: string, reason: Reason): never => {
  throw new Refusal('INVALID_REQUEST_BODY', message, { reason });
};

type Limits = { readonly clock: Clock; readonly toleranceSeconds: number };

/**
 * Refuses a time more than `toleranceSeconds` in the future, since no later event could override it, and a time before
 * 1970, since databases encode it differently. Throws INVALID_REQUEST_BODY.
 */
export const assertMoment = (occurredAt: Date, { clock, toleranceSeconds }: Limits): void => {
  if (occurredAt.getTime() > clock.now().getTime() + toleranceSeconds * 1000) {
    refuse("occurredAt lies in the future: send when it happened, and set the sender's clock.", 'hook-from-the-future');
  }
  if (occurredAt.getTime() < 0) refuse('occurredAt lies before 1970: send when it happened.', 'hook-from-the-past');
};

/** Decodes the body of a hook. Throws INVALID_REQUEST_BODY. */
const decodeHook = (kind: TenantEventKind, text: string, { clock, toleranceSeconds }: Limits): TenantEvent => {
  const body = decodeSigned(hookBody, '{"clientId": string, "occurredAt": string}', text);
  const occurredAt = new Date(body.occurredAt);
  assertMoment(occurredAt, { clock, toleranceSeconds });
  return { kind, clientId: body.clientId, occurredAt };
};

/** The kind of event of each hook, by the last part of its path. */
export const hookPaths = {
  'tenant-signed-up': 'signed-up',
  'tenant-suspended': 'suspended',
  'tenant-resumed': 'resumed',
  'tenant-deleted': 'deleted',
} as const satisfies Readonly<Record<string, TenantEventKind>>;

export type AnswerHook = (kind: TenantEventKind, request: IncomingMessage, trace: HookTrace) => Promise<EventAnswer>;

export type HooksOptions = SignedOptions & {
  readonly deliveries: Deliveries;
  readonly lifecycle: Lifecycle;
  readonly audit: Audit;
  /** Lists what runs. Left out: nothing is listed. */
  readonly running?: Pick<RunningWork, 'during'> | undefined;
};

/** `provider`: the name of the provider that sent the event. Left out: the host did. */
export type Recorded = { readonly requestId: string; readonly provider?: string };

/** Applies the event, and writes it into the audit. */
export const applyEvent = async (
  { lifecycle, audit, running = unlisted }: Pick<HooksOptions, 'lifecycle' | 'audit' | 'running'>,
  event: TenantEvent,
  recorded: Recorded,
): Promise<EventAnswer> => {
  const { kind, clientId } = event;
  const hook = { kind: 'hook', subject: `tenant-${kind}`, canEnd: false, requestId: recorded.requestId } as const;
  // The name of an erased tenant must not be stored.
  return running.during(kind === 'deleted' ? hook : { ...hook, clientId }, async ({ begins }) => {
    begins();
    const applied = await lifecycle.apply(event);
    await recordHook(audit, event, applied, recorded);
    return applied;
  });
};

const recordHook = (
  audit: Audit,
  event: TenantEvent,
  answer: EventAnswer,
  { requestId, ...sender }: Recorded,
): Promise<void> =>
  audit.record({
    kind: answer.erasure === undefined ? 'hook' : 'erasure',
    code: 'OK',
    requestId,
    // The name of an erased tenant must not be stored.
    ...(answer.state === 'deleted' ? {} : { clientId: event.clientId }),
    detail: {
      event: `tenant-${event.kind}`,
      ...sender,
      occurredAt: event.occurredAt.toISOString(),
      state: answer.state,
      isApplied: answer.isApplied,
      ...(answer.erasure === undefined ? {} : { isComplete: answer.erasure.isComplete }),
    },
  });

/**
 * Creates the handler of hooks. It throws a Refusal for the sender: 401 for a wrong signature, 400 for an invalid body,
 * 503 if the sender should retry.
 */
export const createHooks = ({ deliveries, ...options }: HooksOptions): AnswerHook => {
  const readSigned = signedReader(options);
  return async (kind, request, trace) => {
    const { id, text } = await readSigned(request);
    const event = decodeHook(kind, text, options);
    if (kind !== 'deleted') trace.tenant = event.clientId;
    const { answer, isReplay } = await deliveries.once(id, `${kind}\n${text}`, () =>
      applyEvent(options, event, { requestId: trace.requestId }),
    );
    trace.isReplay = isReplay;
    return answer;
  };
};
