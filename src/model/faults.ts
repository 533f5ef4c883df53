import type { Reason } from './reasons.js';
import { Refusal } from './refusal.js';

const maxFaults = 10;

/**
 * Returns the text of one fault in a request: path, value and rule. The format is the same as that of the schema
 * checks.
 */
export const faultOf = (path: string, value: string, expected: string): string =>
  `${path}: got string ${JSON.stringify(value)}, expected ${expected}`;

/**
 * Throws INVALID_REQUEST_BODY with the first ten faults and the number of the others. Does nothing if there is no
 * fault.
 */
export const assertNoFaults = (faults: readonly string[], reason: Reason): void => {
  if (faults.length === 0) return;
  const rest = faults.length - maxFaults;
  const shown = faults.slice(0, maxFaults).join('; ');
  throw new Refusal('INVALID_REQUEST_BODY', rest > 0 ? `${shown}; and ${rest} more.` : `${shown}.`, { reason });
};

/** Returns the positions of the items whose key occurred earlier in the list. */
export const repeatedAt = (keys: readonly string[]): readonly number[] => {
  const first = new Map<string, number>();
  for (const [index, key] of keys.entries()) if (!first.has(key)) first.set(key, index);
  return keys.flatMap((key, index) => (first.get(key) === index ? [] : [index]));
};
