/** Filter values in words. */
import type { StatedFilter } from '../../domain/guest/download.js';

const range = (from: unknown, to: unknown): string => {
  if (to === undefined) return `from ${from}`;
  return from === undefined ? `up to ${to}` : `${from} to ${to}`;
};

/** Returns the value in words; null for a value of the host that guests may not see. */
export const filterWords = ({ value, isFixed }: StatedFilter): string | null => {
  const end = isFixed ? ' (fixed)' : '';
  if (typeof value !== 'object') return `${value}${end}`;
  if ('sql' in value) return null;
  if ('startDate' in value) return range(value.startDate, value.endDate) + end;
  if ('start' in value) return range(value.start, value.end) + end;
  if (Array.isArray(value)) return value.join(', ') + end;
  const { min, max } = value as { readonly min?: unknown; readonly max?: unknown };
  return range(min, max) + end;
};
