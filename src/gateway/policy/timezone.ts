import { LRUCache } from 'lru-cache';
import { isTimezone as isTimezoneName } from '../../domain/filter/date-range.js';

const known = new LRUCache<string, boolean>({ max: 1000 });

/** Whether a value is the name of an IANA timezone. Remembered, since every request asks and Intl is slow to answer. */
export const isTimezone = (value: unknown): value is string => {
  if (typeof value !== 'string') return false;
  const held = known.get(value);
  if (held !== undefined) return held;
  const result = isTimezoneName(value);
  known.set(value, result);
  return result;
};
