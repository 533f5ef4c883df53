/** Filter values in words. */
import type { StatedFilter } from '../../../../model/guest/download.js';
import type { Speech } from '../../../../model/texts/messages.js';

type Say = Speech['text'];

const range = (from: unknown, to: unknown, text: Say): string => {
  const [first, last] = [String(from), String(to)];
  if (to === undefined) return text('from {from}', { from: first });
  return from === undefined ? text('up to {to}', { to: last }) : text('{from} to {to}', { from: first, to: last });
};

const valueWords = (value: StatedFilter['value'], text: Say): string | null => {
  if (typeof value !== 'object') return String(value);
  if ('sql' in value) return null;
  if ('startDate' in value) return range(value.startDate, value.endDate, text);
  if ('start' in value) return range(value.start, value.end, text);
  if (Array.isArray(value)) return value.join(', ');
  const { min, max } = value as { readonly min?: unknown; readonly max?: unknown };
  return range(min, max, text);
};

/** Returns the value in words; null for a value of the host that guests may not see. */
export const filterWords = ({ value, isFixed }: StatedFilter, text: Say): string | null => {
  const words = valueWords(value, text);
  return words !== null && isFixed ? text('{value} (fixed)', { value: words }) : words;
};
