/** One hook, from signed request to answer: read this first. Knows neither Express nor SQL. */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import type { Audit } from '../audit/audit.js';
import type { RequestGuard } from '../authenticate/limits.js';
import { assertFewJson, readText } from '../http/body.js';
import type { EventAnswer, Lifecycle } from '../lifecycle/lifecycle.js';
import type { TenantEvent } from '../tenant/records.js';
import type { TenantEventKind } from '../tenant/state.js';
import type { Deliveries } from './deliveries.js';
import { decodeHook, maxHookBytes } from './event.js';
import { createSignatures } from './signature.js';

/** The last part of each hook's path. */
export const hookPaths = {
  'tenant-signed-up': 'signed-up',
  'tenant-suspended': 'suspended',
  'tenant-resumed': 'resumed',
  'tenant-deleted': 'deleted',
} as const satisfies Readonly<Record<string, TenantEventKind>>;

/** How far a hook came, for its log line. */
export type HookTrace = { readonly requestId: string; tenant?: string; isReplay?: boolean };

export type AnswerHook = (kind: TenantEventKind, request: IncomingMessage, trace: HookTrace) => Promise<EventAnswer>;

export type HooksOptions = {
  /** None: hooks are off. */
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
    // Of a tenant that was erased, nothing may be kept under its name.
    ...(answer.state === 'deleted' ? {} : { clientId: event.clientId }),
    detail: {
      event: `tenant-${event.kind}`,
      occurredAt: event.occurredAt.toISOString(),
      state: answer.state,
      isApplied: answer.isApplied,
      ...(answer.erasure === undefined ? {} : { isComplete: answer.erasure.isComplete }),
    },
  });

/** What a refusal throws is for the sender: 401 for signatures, 400 for bodies, 503 for "send it again". */
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
    const event = decodeHook(kind, assertFewJson(body, maxHookBytes), options);
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

/** A signature is of one body, which is read to verify it: of an address with too many wrong ones, so many a second. */
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
