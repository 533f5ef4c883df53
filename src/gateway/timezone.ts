import { LRUCache } from 'lru-cache';

const known = new LRUCache<string, boolean>({ max: 1000 });

const isKnownToIntl = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    // Intl says "unknown zone" by throwing; there is no other way to ask.
    return false;
  }
};

/** Whether a value is the name of an IANA timezone. Offsets such as `+01:00` are not. */
export const isTimezone = (value: unknown): value is string => {
  if (typeof value !== 'string' || !/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(value)) return false;
  const held = known.get(value);
  if (held !== undefined) return held;
  const result = isKnownToIntl(value);
  known.set(value, result);
  return result;
};
