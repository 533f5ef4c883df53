/** Reads lists in slices by key, or one page by its number. Also deletes many rows in slices. */
import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Page } from '../../model/page.js';
import type { Tables } from './tables.js';

/**
 * Maximum number of rows that one statement reads. The embedded database blocks the process while it answers a
 * statement, and so does decoding rows from a server. Small slices let other requests run in between.
 */
const sliceRows = 100;

/** A column of the sort order, as `column` or `table.column`. */
type KeyOf<O> = (keyof O & string) | `${keyof Tables & string}.${keyof O & string}`;

/**
 * A row with its sort keys as PostgreSQL's text. As a JavaScript Date, a time would lose its microseconds, and the next
 * slice would repeat the row.
 */
type Keyed = { readonly list_keys: readonly string[] };

const refsOf = (keys: readonly string[]) => keys.map((key) => sql.ref(key));

const textOf = (keys: readonly string[]) =>
  sql<readonly string[]>`array[${sql.join(refsOf(keys).map((ref) => sql`${ref}::text`))}]`.as('list_keys');

/**
 * Condition for rows after this one in the sort order. It compares all keys as one tuple, so that an index can find the
 * first row.
 */
const behind = ({ list_keys }: Keyed, keys: readonly string[]) =>
  sql<SqlBool>`(${sql.join(refsOf(keys))}) > (${sql.join(list_keys)})`;

/**
 * Reads the rows ordered by `keys`: one page, or all rows in slices if `wanted` is null. No statement is held open between
 * two slices, so a consumer may take its time. The keys must identify a row and must not be null. Rows may contain more
 * columns than `O` names.
 */
export async function* listRows<O extends object>(
  query: SelectQueryBuilder<Tables, keyof Tables, O>,
  keys: readonly KeyOf<O>[],
  wanted: Page | null,
  limit: number = sliceRows,
): AsyncGenerator<readonly O[]> {
  const ordered = refsOf(keys).reduce((rows, ref) => rows.orderBy(ref), query);
  if (wanted !== null) {
    yield await ordered
      .limit(wanted.size)
      .offset((wanted.number - 1) * wanted.size)
      .execute();
    return;
  }
  const slices = ordered.select(textOf(keys)).limit(limit);
  for (let last: Keyed | undefined; ; ) {
    const slice = (await (last === undefined ? slices : slices.where(behind(last, keys))).execute()) as (O & Keyed)[];
    if (slice.length > 0) yield slice;
    if (slice.length < limit) return;
    last = slice.at(-1);
  }
}

/** The physical address of a row, for `among`. */
export const rowPlace = sql<string>`ctid`.as('ctid');

/**
 * Condition for the rows whose addresses `query` returns. The array makes PostgreSQL run `query` once; with `id in
 * (query)`, it may run it again for each row.
 */
export const among = (query: Expression<unknown>) => sql<SqlBool>`ctid = any(array(${query}))`;

/**
 * Condition for rows whose column is among the values that `query` returns. The array lets PostgreSQL find them by an
 * index where two such conditions are joined by `or`; with `in (query)` it reads the whole table.
 */
export const isFound = (column: string, query: Expression<unknown>) =>
  sql<SqlBool>`${sql.ref(column)} = any(array(${query}))`;

/** Maximum number of rows that one statement deletes, before the rows that foreign keys delete with them. */
const deletedAtOnce = 250;

/**
 * Deletes rows in slices. Returns how many were deleted. `remove(limit)` deletes at most `limit` rows and returns their
 * number; `remove(null)` deletes all. The last call passes null, because a slice may miss a row that another
 * transaction is changing.
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
