/** The hooks' wire: what a host says of its tenants. */
import { z } from 'zod';
import type { Clock } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import type { TenantEvent } from '../tenant/records.js';
import type { TenantEventKind } from '../tenant/state.js';

/** 1 to 255 characters without control characters and halves of characters, as the tenant of a session. */
const clientId = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must be text of 1 to 255 characters without control characters')
  .max(255, 'must be text of 1 to 255 characters without control characters');

/** Senders add fields of their own, as `type` and `data`: those are left alone. */
export const hookBody = z.object({
  clientId,
  occurredAt: z.iso.datetime({ offset: true, error: 'must be a time as 2026-11-21T20:15:00.000Z' }),
});

/** Bytes of the largest body that is read. */
export const maxHookBytes = 64 * 1024;

const refuse = (message: string, reason: string, cause?: unknown): never => {
  throw new Refusal('INVALID_REQUEST_BODY', message, { reason, cause });
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    return refuse('The body is not valid JSON.', 'hook-body-not-json', cause);
  }
};

/**
 * Decodes the body of a hook. An event may not have occurred later than `toleranceSeconds` from now: no later one could undo it; nor
 * before 1970, which databases write in ways of their own. Throws INVALID_REQUEST_BODY.
 */
export const decodeHook = (
  kind: TenantEventKind,
  text: string,
  { clock, toleranceSeconds }: { readonly clock: Clock; readonly toleranceSeconds: number },
): TenantEvent => {
  const result = hookBody.safeParse(parse(text));
  if (!result.success) {
    const faults = result.error.issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`);
    return refuse(
      `The body is not valid: ${faults.join('; ')}. Send {"clientId": string, "occurredAt": string}; other fields are left alone.`,
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
