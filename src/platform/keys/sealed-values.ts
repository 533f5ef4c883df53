/**
 * Values that replicas share in a cache, as sealed text bound to their key: who reads the cache learns nothing, and who writes to it cannot
 * add a value or give one key's value to another. A failure is bound to its key too, and never opens as a value.
 */

import { isReason } from '../../model/reasons.js';
import { type Code, Refusal } from '../../model/refusal.js';
import { type Sealer, textOfSealed } from './sealing.js';

export type SealedValues<T> = {
  readonly encode: (key: string, value: T) => string;
  /** Undefined where the text is not a value that a replica sealed for this key. */
  readonly decode: (key: string, text: string) => T | undefined;
  /** The failure for the replicas that wait for it; null where each of them must try for itself. */
  readonly encodeFailure: (key: string, error: unknown) => string | null;
  readonly decodeFailure: (key: string, text: string) => Refusal;
};

export type SealedValuesOptions<T> = {
  readonly sealer: Sealer;
  /** Reads a value out of parsed JSON; undefined where it is not one. */
  readonly read: (json: unknown) => T | undefined;
  /** Whether waiting replicas get this refusal. */
  readonly isSharedFailure: (refusal: Refusal) => boolean;
  readonly isCode: (code: string) => code is Code;
  /** Stands for a failure that does not open. */
  readonly unknownFailure: () => Refusal;
};

/** Replicas of an earlier release send no delay. */
const wholeSeconds = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

const failureContext = (key: string): string => `${key}:failure`;

export const createSealedValues = <T>({ sealer, ...options }: SealedValuesOptions<T>): SealedValues<T> => {
  const open = (text: string, context: string): unknown => {
    try {
      return JSON.parse(sealer.open(text, context));
    } catch {
      // Not sealed with our key, or for another context: treated as absent.
      return null;
    }
  };
  return {
    encode: (key, value) => textOfSealed(sealer.seal(JSON.stringify(value), key)),
    decode: (key, text) => options.read(open(text, key)),
    encodeFailure: (key, error) =>
      error instanceof Refusal && options.isSharedFailure(error)
        ? textOfSealed(
            sealer.seal(
              JSON.stringify([error.code, error.message, error.reason, error.retryAfterSeconds]),
              failureContext(key),
            ),
          )
        : null,
    decodeFailure: (key, text) => {
      const parts = open(text, failureContext(key));
      const [code, message, reason, retryAfter] = Array.isArray(parts) ? parts : [];
      return typeof code === 'string' &&
        options.isCode(code) &&
        typeof message === 'string' &&
        typeof reason === 'string' &&
        isReason(reason)
        ? new Refusal(code, message, { reason, retryAfterSeconds: wholeSeconds(retryAfter) })
        : options.unknownFailure();
    },
  };
};
