import type { Code } from './errors.js';
import { type Reason, reasonOfCode } from './reasons.js';
import type { TextPlace } from './text-place.js';

export type { Code } from './errors.js';

/**
 * A refused request. `message` is public: it says what is wrong, where, and how to fix it, and contains nothing that
 * the caller may not see. `reason` is a private slug for the log. `cause` never leaves the process. `retryAfterSeconds`
 * says when the same request may succeed; null if that is not known. `place`: where the caller's own text is at fault; null if no one place is.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: Code;
  readonly reason: Reason;
  readonly retryAfterSeconds: number | null;
  readonly place: TextPlace | null;

  constructor(
    code: Code,
    message: string,
    options: {
      reason?: Reason | undefined;
      cause?: unknown;
      retryAfterSeconds?: number | undefined;
      place?: TextPlace | undefined;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.reason = options.reason ?? reasonOfCode(code);
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.place = options.place ?? null;
  }
}

/** Whether the check throws no refusal. */
export const passes = (assert: () => void): boolean => {
  try {
    assert();
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
};
