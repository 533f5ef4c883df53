import { type Kysely, type Migration, sql } from 'kysely';

/** A migration that runs these statements in order; each names its schema. */
export const statementsOf = (statements: readonly string[]): Migration => ({
  up: async (db: Kysely<unknown>) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});
