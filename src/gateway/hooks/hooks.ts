/**
 * Handles one hook, from the signed request to the response: checks the signature, decodes the event, applies it once
 * for each webhook-id, and writes the audit. Must not use Express or SQL.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../../domain/ports.js';
import type { Reason } from '../../domain/reasons.js';
import { Refusal } from '../../domain/refusal.js';
import { parseJson, readText } from '../../http/body-reader.js';
import { requestIdOf } from '../../http/request-id.js';
import type { Log } from '../../platform/log.js';
import type { Audit } from '../audit/audit.js';
import type { RequestGuard } from '../authenticate/limits.js';
import { type Answer, answerError, explain, noHeaders } from '../http/answer.js';
import type { EventAnswer, Lifecycle } from '../lifecycle/lifecycle.js';
import type { TenantEvent } from '../tenant/records.js';
import type { TenantEventKind } from '../tenant/state.js';
import type { Deliveries } from './deliveries.js';
import { createSignatures } from './signature.js';

/** A clientId: 1 to 255 characters without control characters and lone surrogates, as for the tenant of a session. */
const clientId = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must be text of 1 to 255 characters without control characters')
  .max(255, 'must be text of 1 to 255 characters without control characters');

/** The body of a hook. Other fields are ignored, since senders add their own, such as `type` and `data`. */
const hookBody = z.object({
  clientId,
  occurredAt: z.iso.datetime({ offset: true, error: 'must be a time as 2026-11-21T20:15:00.000Z' }),
});

/** Maximum size of a body in bytes. */
export const maxHookBytes = 64 * 1024;
/** Maximum nesting of its JSON. Senders add fields of their own. */
const maxHookLevels = 100;

const refuse = (message: string, reason: Reason): never => {
  throw new Refusal('INVALID_REQUEST_BODY', message, { reason });
};

/**
 * Decodes the body of a hook. Throws INVALID_REQUEST_BODY. Also refuses a time more than `toleranceSeconds` in the
 * future, since no later event could override it, and a time before 1970, since databases encode it differently.
 */
const decodeHook = (
  kind: TenantEventKind,
  text: string,
  { clock, toleranceSeconds }: { readonly clock: Clock; readonly toleranceSeconds: number },
): TenantEvent => {
  const result = hookBody.safeParse(parseJson(text, { maxBytes: maxHookBytes, levels: maxHookLevels }));
  if (!result.success) {
    const faults = result.error.issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`);
    return refuse(
      `The body is not valid: ${faults.join('; ')}. Send {"clientId": string, "occurredAt": string}; other fields are ignored.`,
      'hook-body-invalid',
    );
  }
  const occurredAt = new Date(result.data.occurredAt);
  if (occurredAt.getTime() > clock.now().getTime() + toleranceSeconds * 1000) {
    refuse("occurredAt lies in the future: send when it happened, and set the sender's clock.", 'hook-from-the-future');
  }
  if (occurredAt.getTime() < 0) refuse('occurredAt lies before 1970: send when it happened.', 'hook-from-the-past');
  return { kind, clientId: result.data.clientId, occurredAt };
};

/** The kind of event of each hook, by the last part of its path. */
export const hookPaths = {
  'tenant-signed-up': 'signed-up',
  'tenant-suspended': 'suspended',
  'tenant-resumed': 'resumed',
  'tenant-deleted': 'deleted',
} as const satisfies Readonly<Record<string, TenantEventKind>>;

/** The log fields of a hook that are known so far. */
export type HookTrace = { readonly requestId: string; tenant?: string; isReplay?: boolean };

export type AnswerHook = (kind: TenantEventKind, request: IncomingMessage, trace: HookTrace) => Promise<EventAnswer>;

export type HooksOptions = {
  /** The secrets of the senders. If empty, hooks are disabled. */
  readonly secrets: readonly string[];
  readonly toleranceSeconds: number;
  readonly deliveries: Deliveries;
  readonly lifecycle: Lifecycle;
  readonly audit: Audit;
  readonly clock: Clock;
};

const recordHook = (audit: Audit, event: TenantEvent, answer: EventAnswer, requestId: string): Promise<void> =>
  audit.record({
    kind: answer.erasure === undefined ? 'hook' : 'erasure',
    code: 'OK',
    requestId,
    // The name of an erased tenant must not be stored.
    ...(answer.state === 'deleted' ? {} : { clientId: event.clientId }),
    detail: {
      event: `tenant-${event.kind}`,
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
export const createHooks = ({ deliveries, lifecycle, audit, ...options }: HooksOptions): AnswerHook => {
  const signatures = createSignatures(options);
  return async (kind, request, trace) => {
    if (options.secrets.length === 0) {
      throw new Refusal(
        'NOT_FOUND',
        'Hooks are off: set GUESTLIST_HOOK_SECRETS to the secrets that the host signs with.',
      );
    }
    const signed = signatures.read(request.headers);
    const body = await readText(request, maxHookBytes);
    await signatures.verify(signed, body);
    const event = decodeHook(kind, body, options);
    if (kind !== 'deleted') trace.tenant = event.clientId;
    const { answer, isReplay } = await deliveries.once(signed.id, `${kind}\n${body}`, async () => {
      const applied = await lifecycle.apply(event);
      await recordHook(audit, event, applied, trace.requestId);
      return applied;
    });
    trace.isReplay = isReplay;
    return answer;
  };
};

/** Limits the number of wrong signatures from one address, since the whole body is read to check one. */
export const guardHooks =
  (answer: AnswerHook, guard: RequestGuard): AnswerHook =>
  async (kind, request, trace) => {
    const attempt = guard(request, null);
    attempt.assertMayVerify();
    try {
      return await answer(kind, request, trace);
    } catch (error) {
      if (error instanceof Refusal && error.code === 'AUTHENTICATION_ERROR') await attempt.failed();
      throw error;
    }
  };

export type ReceiveHook = (kind: TenantEventKind, request: IncomingMessage, response: ServerResponse) => Promise<void>;

export type SendAnswer = (request: IncomingMessage, response: ServerResponse, answer: Answer, id: string) => void;

/** Sends the responses to hooks in the format of the interface, `{data, error}`, and logs the outcome of each hook. */
export const createReceiver =
  (answerHook: AnswerHook, send: SendAnswer, log: Log): ReceiveHook =>
  async (kind, request, response) => {
    const trace: HookTrace = { requestId: requestIdOf(request) };
    const hook = `tenant-${kind}`;
    try {
      if (request.method !== 'POST') throw new Refusal('METHOD_NOT_ALLOWED', 'Send POST.');
      const data = await answerHook(kind, request, trace);
      const body = JSON.stringify({ data, error: null });
      send(request, response, { status: 200, body, headers: noHeaders }, trace.requestId);
      log.info({ event: 'hook.accepted', ...trace, hook, code: 'OK', state: data.state }, 'hook');
    } catch (error) {
      const answer = answerError(error);
      send(request, response, answer, trace.requestId);
      const line = { ...trace, hook, code: answer.code, ...explain(error) };
      if (answer.status >= 500) log.error({ event: 'hook.failed', ...line }, 'hook');
      else log.warn({ event: 'hook.refused', ...line }, 'hook');
    }
  };
