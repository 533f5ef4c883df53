/**
 * Copies the rows of a table from one place to another, and compares them. Values travel as the text that PostgreSQL
 * writes and reads for every type. Memory is bounded: many small rows, or one large row, are read at once.
 */
import { createHash } from 'node:crypto';
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { Contents, Table } from './catalog.js';

/** The values of one row, in the order of the table's columns. */
export type TextRow = readonly (string | null)[];

/** How many rows a table has, and a hash of all of them in an order that does not depend on the database. */
export type Digest = { readonly rows: number; readonly hash: string };

export type SequenceState = { readonly value: string; readonly isCalled: boolean };

/**
 * Where rows come from: a database, or a file. It is read once, in this order: the rows of each table of `contents`, then
 * the sequences, then the digests.
 */
export type RowSource = {
  readonly contents: Contents;
  readonly rows: (table: Table) => AsyncIterable<readonly TextRow[]>;
  readonly sequence: (name: string) => Promise<SequenceState>;
  readonly digest: (table: Table) => Promise<Digest>;
};

/** Rows up to this size are copied many at once. */
const smallBytes = 32_768;
const rowsAtOnce = 200;
const hashesAtOnce = 2_000;

/** The formats of text that every place uses, whatever servers and users are set to. */
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

/** Which rows of a table, named `t`. */
type Which = (table: Table) => RawBuilder<unknown>;
const every: Which = () => sql`true`;

async function* readRows(db: Transaction<unknown>, table: Table, which: Which): AsyncGenerator<readonly TextRow[]> {
  const texts = sql.join(
    table.columns.map(({ name }, index) => sql`${sql.ref(`t.${name}`)}::text as ${sql.ref(`c${index}`)}`),
  );
  const from = sql`select ${texts} from ${sql.raw(table.name)} t where (${which(table)}) and octet_length(t::text)`;
  for (const [query, limit] of [
    [sql`${from} <= ${sql.lit(smallBytes)}`, rowsAtOnce],
    [sql`${from} > ${sql.lit(smallBytes)}`, 1],
  ] as const) {
    for await (const rows of readPages<Readonly<Record<string, string | null>>>(db, query, limit))
      yield rows.map((row) => table.columns.map((_, index) => row[`c${index}`] ?? null));
  }
}

async function* readHashes(db: Transaction<unknown>, table: Table, which: Which): AsyncGenerator<readonly string[]> {
  const query = sql`select encode(sha256(convert_to(t::text, 'UTF8')), 'hex') collate "C" as hash
    from ${sql.raw(table.name)} t where ${which(table)} order by 1`;
  for await (const rows of readPages<{ readonly hash: string }>(db, query, hashesAtOnce))
    yield rows.map(({ hash }) => hash);
}

/** Each row is hashed by its content. Two tables of the same columns have the same digest if they have the same rows. */
export const digestOf = async (db: Transaction<unknown>, table: Table, which: Which = every): Promise<Digest> => {
  const hash = createHash('sha256');
  let rows = 0;
  for await (const hashes of readHashes(db, table, which)) {
    hash.update(hashes.join(''));
    rows += hashes.length;
  }
  return { rows, hash: hash.digest('hex') };
};

/** The rows of a database, or those among them, as its transaction sees them. */
export const databaseRows = (db: Transaction<unknown>, contents: Contents, which: Which = every): RowSource => ({
  contents,
  rows: (table) => readRows(db, table, which),
  sequence: async (name) => {
    const { rows } = await sql<{ value: string; is_called: boolean }>`
      select last_value::text as value, is_called from ${sql.raw(name)}`.execute(db);
    const [state] = rows;
    if (state === undefined) throw new Error(`the sequence ${name} has no state`);
    return { value: state.value, isCalled: state.is_called };
  },
  digest: (table) => digestOf(db, table, which),
});

/** Writes rows as they are, also into columns that the database fills itself. */
export const insertRows = async (
  db: Transaction<unknown>,
  { name, columns }: Table,
  rows: readonly TextRow[],
): Promise<void> => {
  const names = sql.join(columns.map((column) => sql.ref(column.name)));
  const values = columns.map((_, index) => sql`${rows.map((row) => row[index] ?? null)}::text[]`);
  const typed = columns.map(({ type }, index) => sql`${sql.ref(`c${index}`)}::${sql.raw(type)}`);
  const aliases = sql.join(columns.map((_, index) => sql.ref(`c${index}`)));
  await sql`insert into ${sql.raw(name)} (${names}) overriding system value
    select ${sql.join(typed)} from unnest(${sql.join(values)}) as given (${aliases})`.execute(db);
};

export const countRows = async (db: Kysely<unknown>, { name }: Table): Promise<number> => {
  const { rows } = await sql<{ count: string }>`select count(*)::text as count from ${sql.raw(name)}`.execute(db);
  return Number(rows[0]?.count);
};

/** Sets the sequence of the target to the state of the source. */
export const setSequence = async (
  db: Kysely<unknown>,
  name: string,
  { value, isCalled }: SequenceState,
): Promise<void> => {
  await sql`select setval(${name}::regclass, ${value}::bigint, ${isCalled})`.execute(db);
};
