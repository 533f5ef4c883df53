import type { Shown } from '../../../../model/query/excerpt.js';
import type { Speech } from '../../../../model/texts/messages.js';

/** Says which rows a file lacks; null if it has all. `offset`: how many rows were left out before the first. */
export const missingRows = ({ count, isCut }: Shown, offset: number, { text }: Speech): string | null => {
  if (!isCut && offset === 0) return null;
  if (offset === 0) return text('Incomplete: the first {n} rows. More rows follow.', { n: count });
  const more = text(isCut ? 'Rows are missing before and after.' : 'The rows before are left out.');
  if (count === 0) return text('Incomplete: no row after row {offset}. {more}', { offset, more });
  const range = { first: offset + 1, last: offset + count };
  return text('Incomplete: rows {first} to {last}. {more}', { ...range, more });
};
