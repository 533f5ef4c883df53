/**
 * A value as JSON tells it from every other one. Throws for what JSON would take for something else (NaN for null, a Map for `{}`): two
 * questions must never come to be one.
 */
export const plainly = (value: unknown): unknown => {
  if (value === null || ['string', 'boolean', 'undefined'].includes(typeof value) || Number.isFinite(value))
    return value;
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? unkeyable('undefined') : plainly(item)));
  if (value instanceof Date) return { $date: value.toISOString() };
  if (typeof value !== 'object' || ![Object.prototype, null].includes(Object.getPrototypeOf(value)))
    return unkeyable(typeof value);
  const members = Object.entries(value);
  return Object.hasOwn(value, '$date')
    ? unkeyable('$date')
    : Object.fromEntries(members.map(([k, v]) => [k, plainly(v)]));
};

const unkeyable = (what: string): never => {
  throw new Unkeyable(`a ${what} cannot be part of a cache's key`);
};

export class Unkeyable extends TypeError {
  override readonly name = 'Unkeyable';
}
