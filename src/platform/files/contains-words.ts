/** A condition in PostgreSQL's SQL on words in a text. Words hold no wildcards, and letters match in upper or lower case. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';

const ranges = [
  [0xc0, 0x24f],
  [0x370, 0x52f],
] as const;

/** Letters beyond ASCII with one lower-case letter. `lower()` leaves them as they are where the database's locale is C. */
const capitals = ranges
  .flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index)))
  .filter((letter) => letter.toLowerCase() !== letter && letter.toLowerCase().length === 1)
  .join('');

/** Whether the text contains every word. */
export const containsWords = (text: RawBuilder<unknown>, words: readonly string[]): RawBuilder<SqlBool> => {
  const lower = sql`lower(${text})`;
  const folded = sql`translate(${lower}, ${capitals}, ${capitals.toLowerCase()})`;
  const each = words.map((word) => {
    const wanted = word.toLowerCase();
    // Translating is slow, and changes no letter that such a word has.
    return sql`strpos(${/^[ -~]*$/.test(wanted) ? lower : folded}, ${wanted}) > 0`;
  });
  return sql<SqlBool>`${each.length === 0 ? sql`true` : sql.join(each, sql` and `)}`;
};
