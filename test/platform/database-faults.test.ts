/** Faults of PostgreSQL that pass: metadata answers 503 where a datasource would count as busy or lost. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultOf as faultOfSource } from '../../src/engine/databases/postgres/faults.js';
import { DependencyUnavailable } from '../../src/model/unavailable.js';
import { openDatabase } from '../../src/platform/databases/database.js';
import {
  conflictStates,
  fullStates,
  inputStates,
  lateState,
  lostStates,
} from '../../src/platform/databases/database-faults.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';

const passing = [...conflictStates, ...fullStates, ...inputStates, lateState, ...lostStates];

it.each(passing)('SQLSTATE %s passes for a datasource', (code) => {
  expect(faultOfSource(Object.assign(new Error('from the server'), { code }))).toMatch(/^(?:lost|busy|late)$/);
});

describe.runIf(await isPostgresThere())('metadata', () => {
  let own: OwnDatabase;
  let database: Awaited<ReturnType<typeof openDatabase>>;
  beforeAll(async () => {
    own = await createOwnDatabase();
    database = await openDatabase({ databaseUrl: own.url, folder: null });
  });
  afterAll(async () => {
    await database?.close();
    await own?.drop();
  });
  it.each(passing)('SQLSTATE %s of the metadata is unavailability, and the next statement works', async (code) => {
    const raised = sql`do $$ begin raise exception using errcode = '${sql.raw(code)}'; end $$`;
    await expect(raised.execute(database.connect())).rejects.toThrow(DependencyUnavailable);
    await sql`select 1`.execute(database.connect());
  });
  it('two changes that wait for each other: the server ends one, as unavailability', async () => {
    const db = database.connect<{ one: { id: number } }>();
    await sql`create table one (id int)`.execute(db);
    await sql`insert into one values (1), (2)`.execute(db);
    const change = async (first: number, second: number, bothHold: () => Promise<void>): Promise<void> =>
      db.transaction().execute(async (inner) => {
        await sql`select id from one where id = ${first} for update`.execute(inner);
        await bothHold();
        await sql`select id from one where id = ${second} for update`.execute(inner);
      });
    let holding = 0;
    let open = (): void => {};
    const both = new Promise<void>((resolve) => {
      open = resolve;
    });
    const hold = async (): Promise<void> => {
      holding += 1;
      if (holding === 2) open();
      await both;
    };
    const ended = await Promise.allSettled([change(1, 2, hold), change(2, 1, hold)]);
    const failed = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(failed).toHaveLength(1);
    expect(failed[0]).toBeInstanceOf(DependencyUnavailable);
  });
});
