/**
 * If the embedded database failed to read or write a file, it is opened again, since its memory may no longer match its
 * files.
 */
import { PGlite } from '@electric-sql/pglite';
import { Kysely, sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { DependencyUnavailable } from '../../src/model/unavailable.js';
import { createPgliteDialect } from '../../src/platform/databases/pglite-dialect.js';

it('is opened anew before the next statement, as soon as that is possible; until then it is unavailable', async () => {
  const openings: PGlite[] = [];
  let isThere = false;
  const reopen = async (): Promise<PGlite> => {
    if (!isThere) throw new Error('the folder is still read-only');
    const opened = await PGlite.create();
    openings.push(opened);
    return opened;
  };
  const db = new Kysely<unknown>({
    dialect: createPgliteDialect(await PGlite.create(), () => undefined, undefined, reopen),
  });
  onTestFinished(() => db.destroy());
  const ask = () => sql`select 1 as one`.execute(db).catch((error: unknown) => error);
  const fail = (code: string) =>
    sql`do ${sql.raw(`$$ begin raise sqlstate '${code}'; end $$`)}`.execute(db).catch((error: unknown) => error);

  // An error in a statement says nothing about the files.
  expect(await fail('23505')).not.toBeInstanceOf(DependencyUnavailable);
  expect(await ask()).toMatchObject({ rows: [{ one: 1 }] });
  expect(await fail('58P02')).toBeInstanceOf(DependencyUnavailable);
  expect([await ask(), await ask()]).toEqual([expect.any(DependencyUnavailable), expect.any(DependencyUnavailable)]);
  isThere = true;
  const both = await Promise.all([ask(), ask()]);
  expect([both, openings.length]).toMatchObject([[{ rows: [{ one: 1 }] }, { rows: [{ one: 1 }] }], 1]);
});
