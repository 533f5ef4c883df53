/** Reads lists: a page by its number, and a whole list in slices, each by the key of the row before it. */
import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Page } from '../domain/store/page.js';
import type { Tables } from './tables.js';

/**
 * Rows of one statement. The embedded database answers a statement in one block of time, and a server's rows are decoded in one: a long list
 * in one statement keeps everybody else waiting.
 */
export const sliceRows = 100;

/** A column that lists are ordered by: as `column` or `table.column`. */
type KeyOf<O> = (keyof O & string) | `${keyof Tables & string}.${keyof O & string}`;

/** A row with its keys as the database writes them: as JavaScript's values, a time would lose its microseconds, and its row would come again. */
type Keyed = { readonly list_keys: readonly string[] };

const refsOf = (keys: readonly string[]) => keys.map((key) => sql.ref(key));

const textOf = (keys: readonly string[]) =>
  sql<readonly string[]>`array[${sql.join(refsOf(keys).map((ref) => sql`${ref}::text`))}]`.as('list_keys');

/** The rows behind this one. Its keys are compared together, as the order does, so that an index of them finds the first row. */
const behind = ({ list_keys }: Keyed, keys: readonly string[]) =>
  sql<SqlBool>`(${sql.join(refsOf(keys))}) > (${sql.join(list_keys)})`;

/**
 * Rows in the order of `keys`, which together name one row and are never null. `wanted` null: all of them. Rows may hold more than `O` says:
 * whoever decodes them names what it takes.
 */
export const listRows = async <O extends object>(
  query: SelectQueryBuilder<Tables, keyof Tables, O>,
  keys: readonly KeyOf<O>[],
  wanted: Page | null,
  limit: number = sliceRows,
): Promise<readonly O[]> => {
  const ordered = refsOf(keys).reduce((rows, ref) => rows.orderBy(ref), query);
  if (wanted !== null) {
    return ordered
      .limit(wanted.size)
      .offset((wanted.number - 1) * wanted.size)
      .execute();
  }
  const slices = ordered.select(textOf(keys)).limit(limit);
  const all: O[] = [];
  for (let last: Keyed | undefined; ; ) {
    const slice = (await (last === undefined ? slices : slices.where(behind(last, keys))).execute()) as (O & Keyed)[];
    all.push(...slice);
    if (slice.length < limit) return all;
    last = slice.at(-1);
  }
};

/** Where a row stands, for `among`. */
export const rowPlace = sql<string>`ctid`.as('ctid');

/** The rows whose places `query` answers. It is asked once; as a list of ids, a planner may ask it again for each row. */
export const among = (query: Expression<unknown>) => sql<SqlBool>`ctid = any(array(${query}))`;

/** Rows that one statement deletes, with what follows from each. */
const deletedAtOnce = 250;

/**
 * Deletes in slices; answers how many rows went. `remove` deletes so many at most, and says how many there were. Last of all it is called with null and
 * deletes what is left: a slice passes over a row that somebody else changes at that moment.
 */
export const deleteSlices = async (
  remove: (limit: number | null) => Promise<number>,
  limit: number = deletedAtOnce,
): Promise<number> => {
  for (let all = 0; ; ) {
    const count = await remove(limit);
    all += count;
    if (count < limit) return all + (await remove(null));
  }
};
