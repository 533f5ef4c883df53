/** Claims with a number that JSON may have rounded: no expression can decide by them. */
import { isUnsafeNumber, safeAsText } from '../../model/filter/exact-number.js';
import { Refusal } from '../../model/refusal.js';
import type { JwtClaims } from '../../platform/keys/jwt.js';
import type { ClaimSchema } from './expression.js';

/** Whether the expression names the claim. A name in a text of it counts too. */
const isNamed = (source: string, name: string): boolean => source.split(/\W+/).includes(name);

/**
 * Throws INVALID_REQUEST_BODY if the expression reads such a claim, whatever type the policy declares. `cause` is why the
 * expression has no value. The message has the claim's name, and no value.
 */
export const refuseUnsafeClaim = (source: string, claims: JwtClaims, schema: ClaimSchema, cause?: unknown): void => {
  const name = Object.keys(schema).find(
    (one) => Object.hasOwn(claims, one) && [claims[one]].flat().some(isUnsafeNumber) && isNamed(source, one),
  );
  if (name === undefined) return;
  throw new Refusal('INVALID_REQUEST_BODY', `The session's claim ${JSON.stringify(name)}: ${safeAsText}.`, {
    reason: 'claim-number-unsafe',
    cause,
  });
};
