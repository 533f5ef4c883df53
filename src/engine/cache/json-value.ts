/**
 * The value as JSON that no other value produces. Throws NotJson for values that JSON would change (NaN becomes null,
 * a Map becomes `{}`): two different questions must never get the same key.
 */
export const toJsonValue = (value: unknown): unknown => {
  if (value === null || ['string', 'boolean', 'undefined'].includes(typeof value) || Number.isFinite(value))
    return value;
  if (Array.isArray(value))
    return value.map((item) => (item === undefined ? refuseValue('undefined') : toJsonValue(item)));
  if (value instanceof Date) return { $date: value.toISOString() };
  if (typeof value !== 'object' || ![Object.prototype, null].includes(Object.getPrototypeOf(value)))
    return refuseValue(typeof value);
  const members = Object.entries(value);
  return Object.hasOwn(value, '$date')
    ? refuseValue('$date')
    : Object.fromEntries(members.map(([k, v]) => [k, toJsonValue(v)]));
};

const refuseValue = (what: string): never => {
  throw new NotJson(`a ${what} cannot be part of a cache's key`);
};

export class NotJson extends TypeError {
  override readonly name = 'NotJson';
}
