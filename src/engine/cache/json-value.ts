/**
 * A value as JSON tells it from every other one. Throws for what JSON would take for something else (NaN for null, a Map for `{}`): two
 * questions must never come to be one.
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
