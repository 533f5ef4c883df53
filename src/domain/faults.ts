import { Refusal } from './refusal.js';

const maxFaults = 10;

/** One thing that is wrong with a request, written as the wire's own checks write theirs: path, value and rule. */
export const faultOf = (path: string, value: string, expected: string): string =>
  `${path}: string ${JSON.stringify(value)} came, expected ${expected}`;

/** Throws INVALID_REQUEST_BODY with up to ten of the faults; without any, does nothing. */
export const assertNoFaults = (faults: readonly string[], reason: string): void => {
  if (faults.length === 0) return;
  const rest = faults.length - maxFaults;
  const shown = faults.slice(0, maxFaults).join('; ');
  throw new Refusal('INVALID_REQUEST_BODY', rest > 0 ? `${shown}; and ${rest} more.` : `${shown}.`, { reason });
};

/** The positions of items whose key an earlier item has. */
export const repeatedAt = (keys: readonly string[]): readonly number[] => {
  const first = new Map<string, number>();
  for (const [index, key] of keys.entries()) if (!first.has(key)) first.set(key, index);
  return keys.flatMap((key, index) => (first.get(key) === index ? [] : [index]));
};
