/**
 * Deletes rows that are old enough and that no hold keeps, in slices. Each schema of the product has a table `retention`
 * with one row. A slice locks that row, so one process deletes at a time, and a hold is in force once it is stored: no
 * slice that began before it is still running.
 */
import { type Kysely, type QueryExecutorProvider, type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import type { DueRows, Retained, RetentionKind, SliceEnd } from '../../model/retention.js';

/** The most rows that one slice deletes. */
export const sliceRows = 1000;

const turnRow = (schema: string): RawBuilder<unknown> => sql`select from ${sql.table(`${schema}.retention`)}`;

/** Runs `work` in a transaction while no other process sweeps this schema. Returns `busy` if one does. */
export const withTurn = <Tables, Result>(
  db: Kysely<Tables>,
  schema: string,
  work: (db: Transaction<Tables>) => Promise<Result>,
): Promise<Result | 'busy'> =>
  db.transaction().execute(async (inner) => {
    const { rows } = await sql`${turnRow(schema)} for update skip locked`.execute(inner);
    return rows.length === 0 ? 'busy' : work(inner);
  });

/** Waits until no slice runs. None begins until the transaction of `db` ends. */
export const stopSweeps = async (db: QueryExecutorProvider, schema: string): Promise<void> => {
  await sql`${turnRow(schema)} for update`.execute(db);
};

export const noteSwept = async (db: QueryExecutorProvider, schema: string, now: Date): Promise<void> => {
  await sql`update ${sql.table(`${schema}.retention`)} set swept_at = ${now}`.execute(db);
};

/** Rows of one table, which the conditions name `t`. */
export type AgedRows = {
  /** With its schema. */
  readonly table: string;
  readonly isDue: (now: Date) => RawBuilder<SqlBool>;
  readonly isHeld: RawBuilder<SqlBool>;
};

/** Deletes at most one slice, and returns how many rows it deleted. */
export const deleteAged = async (
  db: QueryExecutorProvider,
  { table, isDue, isHeld }: AgedRows,
  now: Date,
  limit = sliceRows,
): Promise<number> => {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select t.ctid from ${sql.table(table)} as t where ${isDue(now)} and not (${isHeld}) limit ${limit} for update skip locked
    ))`.execute(db);
  return Number(numAffectedRows);
};

/** The rows of a kind. */
export type KindRows = { readonly kind: RetentionKind; readonly rows: AgedRows };

const countAged = async (db: QueryExecutorProvider, { kind, rows: { table, isDue, isHeld } }: KindRows, now: Date) => {
  const { rows } = await sql<Omit<DueRows, 'kind'>>`
    select (count(*) filter (where not is_held))::float8 as due, (count(*) filter (where is_held))::float8 as held
    from (select (${isHeld}) as is_held from ${sql.table(table)} as t where ${isDue(now)}) as old`.execute(db);
  return { ...(rows[0] ?? { due: 0, held: 0 }), kind };
};

/** Says what a sweep would delete. Changes nothing. */
export const countKinds = async (
  db: QueryExecutorProvider,
  kinds: readonly KindRows[],
  now: Date,
): Promise<readonly DueRows[]> => {
  const counts: DueRows[] = [];
  for (const kind of kinds) counts.push(await countAged(db, kind, now));
  return counts;
};

/** When the last sweep of this schema went through all kinds; at first, when the table was made. */
export const findSweptAt = async (db: QueryExecutorProvider, schema: string): Promise<Date> => {
  const { rows } = await sql<{ swept_at: Date }>`select swept_at from ${sql.table(`${schema}.retention`)}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error(`the row of ${schema}.retention is missing`);
  return row.swept_at;
};

/** Whether a slice may have left rows. */
export const endOf = (deleted: number, limit = sliceRows): SliceEnd => (deleted < limit ? 'done' : 'more');

/** A kind whose rows are all in one table, and are simply deleted. */
export const agedKind = <Tables>(db: Kysely<Tables>, schema: string, { kind, rows }: KindRows): Retained => ({
  kind,
  sweep: (now) => withTurn(db, schema, async (inner) => endOf(await deleteAged(inner, rows, now))),
});
