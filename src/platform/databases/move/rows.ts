/**
 * Copies the rows of a table between two databases, and compares them. Values travel as the text that PostgreSQL writes
 * and reads for every type. Memory is bounded: many small rows, or one large row, are read at once.
 */
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Table } from './catalog.js';

export type Ends = { readonly source: Transaction<unknown>; readonly target: Transaction<unknown> };

type TextRow = Readonly<Record<string, string | null>>;

/** Rows up to this size are copied many at once. */
const smallBytes = 32_768;
const rowsAtOnce = 200;
const hashesAtOnce = 2_000;

/** The formats of text that both ends use, whatever their servers and users are set to. */
export const setFormats = async (db: Kysely<unknown>): Promise<void> => {
  for (const [name, value] of [
    ['timezone', 'UTC'],
    ['datestyle', 'ISO, MDY'],
    ['intervalstyle', 'postgres'],
    ['extra_float_digits', '1'],
    ['bytea_output', 'hex'],
  ] as const)
    await sql`select set_config(${name}, ${value}, true)`.execute(db);
};

/** Reads a query by a cursor, so that no answer is larger than `limit` rows. */
async function* readPages<Row>(
  db: Transaction<unknown>,
  query: ReturnType<typeof sql>,
  limit: number,
): AsyncGenerator<readonly Row[]> {
  await sql`declare guestlist_rows no scroll cursor for ${query}`.execute(db);
  for (;;) {
    const { rows } = await sql<Row>`fetch forward ${sql.lit(limit)} from guestlist_rows`.execute(db);
    if (rows.length > 0) yield rows;
    if (rows.length < limit) break;
  }
  await sql`close guestlist_rows`.execute(db);
}

const insert = async (db: Transaction<unknown>, { name, columns }: Table, rows: readonly TextRow[]): Promise<void> => {
  const names = sql.join(columns.map((column) => sql.ref(column.name)));
  const values = columns.map((_, index) => sql`${rows.map((row) => row[`c${index}`] ?? null)}::text[]`);
  const typed = columns.map(({ type }, index) => sql`${sql.ref(`c${index}`)}::${sql.raw(type)}`);
  const aliases = sql.join(columns.map((_, index) => sql.ref(`c${index}`)));
  await sql`insert into ${sql.raw(name)} (${names}) overriding system value
    select ${sql.join(typed)} from unnest(${sql.join(values)}) as given (${aliases})`.execute(db);
};

/** Copies all rows. `note` is told how many have been copied. Returns their number. */
export const copyRows = async (
  { source, target }: Ends,
  table: Table,
  note: (rows: number) => void,
): Promise<number> => {
  const texts = sql.join(
    table.columns.map(({ name }, index) => sql`${sql.ref(`t.${name}`)}::text as ${sql.ref(`c${index}`)}`),
  );
  const from = sql`select ${texts} from ${sql.raw(table.name)} t where octet_length(t::text)`;
  let copied = 0;
  for (const [query, limit] of [
    [sql`${from} <= ${sql.lit(smallBytes)}`, rowsAtOnce],
    [sql`${from} > ${sql.lit(smallBytes)}`, 1],
  ] as const) {
    for await (const rows of readPages<TextRow>(source, query, limit)) {
      await insert(target, table, rows);
      copied += rows.length;
      note(copied);
    }
  }
  return copied;
};

export const countRows = async (db: Kysely<unknown>, { name }: Table): Promise<number> => {
  const { rows } = await sql<{ count: string }>`select count(*)::text as count from ${sql.raw(name)}`.execute(db);
  return Number(rows[0]?.count);
};

async function* readHashes(db: Transaction<unknown>, { name }: Table): AsyncGenerator<string> {
  const query = sql`select encode(sha256(convert_to(t::text, 'UTF8')), 'hex') collate "C" as hash
    from ${sql.raw(name)} t order by 1`;
  for await (const rows of readPages<{ readonly hash: string }>(db, query, hashesAtOnce))
    for (const { hash } of rows) yield hash;
}

/** Whether the table has the same rows at both ends, each compared by the hash of its content. */
export const haveSameRows = async ({ source, target }: Ends, table: Table): Promise<boolean> => {
  const [here, there] = [readHashes(source, table), readHashes(target, table)];
  for (;;) {
    const [one, other] = [await here.next(), await there.next()];
    if (one.done === true || other.done === true) return one.done === other.done;
    if (one.value !== other.value) return false;
  }
};

/** Sets the sequence to the state of the source. */
export const copySequence = async ({ source, target }: Ends, name: string): Promise<void> => {
  const { rows } = await sql<{ value: string; is_called: boolean }>`
    select last_value::text as value, is_called from ${sql.raw(name)}`.execute(source);
  const [state] = rows;
  if (state === undefined) throw new Error(`the sequence ${name} has no state`);
  await sql`select setval(${name}::regclass, ${state.value}::bigint, ${state.is_called})`.execute(target);
};
