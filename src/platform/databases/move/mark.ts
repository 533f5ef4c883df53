/**
 * The mark of a database that takes part in a move: one row, which every start reads. It has a schema of its own, which
 * no move copies. A database that was never moved has none.
 */
import { type Kysely, sql } from 'kysely';
import { argumentOf, isBackupName, isFolderName } from './places.js';

/**
 * `filling`: a move copies into this database. `filled`: everything is here, and the source is not marked yet.
 * `complete`: the move into this database has ended. `moved`: the metadata is elsewhere now, and this copy is kept as
 * it was.
 */
type Stage = 'filling' | 'filled' | 'complete' | 'moved';

export type Mark = {
  /** The same at both ends of a move. */
  readonly id: string;
  readonly stage: Stage;
  /** The name of the other end. */
  readonly other: string;
  readonly at: Date;
};

export const markSchema = 'guestlist_move';

type MarkTables = { readonly mark: Mark & { readonly is_only: boolean } };

const ofMark = (db: Kysely<unknown>): Kysely<MarkTables> => (db as Kysely<MarkTables>).withSchema(markSchema);

/** Reads through Kysely, whose SELECTs the embedded database does not count as writes. */
export const findMark = async (db: Kysely<unknown>): Promise<Mark | undefined> => {
  const { isThere } = await db
    .selectNoFrom(sql<boolean>`to_regclass(${`${markSchema}.mark`}) is not null`.as('isThere'))
    .executeTakeFirstOrThrow();
  if (!isThere) return undefined;
  return ofMark(db).selectFrom('mark').select(['id', 'stage', 'other', 'at']).executeTakeFirst();
};

export const writeMark = async (db: Kysely<unknown>, { id, stage, other }: Omit<Mark, 'at'>): Promise<void> => {
  await sql`create schema if not exists ${sql.id(markSchema)}`.execute(db);
  await sql`create table if not exists ${sql.table(`${markSchema}.mark`)} (
    is_only boolean primary key default true check (is_only),
    id text not null,
    stage text not null check (stage in ('filling', 'filled', 'complete', 'moved')),
    other text not null,
    at timestamptz not null
  )`.execute(db);
  const changed = { id, stage, other, at: sql<Date>`now()` };
  await ofMark(db)
    .insertInto('mark')
    .values({ ...changed, is_only: true })
    .onConflict((conflict) => conflict.column('is_only').doUpdateSet(changed))
    .execute();
};

/** A start, or a move, on a database whose metadata is elsewhere or incomplete. `message` says what to do. */
class NotUsable extends Error {
  override readonly name = 'NotUsable';
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** Throws NotUsable if the metadata of this database was moved away, or if a move into it has not ended. */
export const assertUsable = (here: string, mark: Mark | undefined): void => {
  if (mark === undefined || mark.stage === 'complete') return;
  const { stage, other, at } = mark;
  if (stage === 'moved') {
    const mend = isFolderName(other)
      ? `remove DATABASE_URL and set GUESTLIST_DATA_DIR to ${other}`
      : `set DATABASE_URL to ${other}`;
    throw new NotUsable(
      `The metadata in ${here} was moved to ${other} on ${dayOf(at)}: ${mend}. What is left here is the state of that moment, and is not used. ` +
        `To move back, run \`guestlist move --from ${argumentOf(other)}\` with an empty target.`,
    );
  }
  if (isBackupName(other))
    throw new NotUsable(
      `A restore of the ${other} into ${here} has not ended, so ${here} cannot be used. Run \`guestlist restore\` again: it begins anew.`,
    );
  throw new NotUsable(
    `A move of metadata from ${other} to ${here} has not ended, so ${here} cannot be used. Run \`guestlist move --from ${argumentOf(other)} --to ${argumentOf(here)}\` again: it begins anew, and ${other} stays as it is until the end.`,
  );
};

/**
 * Marks the source as moved, and refuses every later write to these tables, also those of a process that was started
 * before. Such a process reports a database that takes no writes.
 */
export const closeSource = async (
  db: Kysely<unknown>,
  tables: readonly string[],
  mark: Pick<Mark, 'id' | 'other'>,
): Promise<void> => {
  await writeMark(db, { ...mark, stage: 'moved' });
  await sql`create or replace function ${sql.id(markSchema, 'refuse_change')}() returns trigger language plpgsql as $$
    begin
      raise exception 'this metadata was moved elsewhere' using errcode = 'read_only_sql_transaction';
    end
  $$`.execute(db);
  for (const table of tables) {
    await sql`create trigger guestlist_moved before insert or update or delete or truncate on ${sql.raw(table)}
      for each statement execute function ${sql.id(markSchema, 'refuse_change')}()`.execute(db);
  }
};
