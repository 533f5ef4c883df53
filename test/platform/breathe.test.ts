/** Long work yields to other requests after each slice, and not earlier. */

import { PGlite } from '@electric-sql/pglite';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';
import { Kysely, sql } from 'kysely';
import { expect, it } from 'vitest';
import { createPgliteDialect } from '../../src/platform/databases/pglite-dialect.js';
import { createBreathe } from '../../src/platform/work/breathe.js';

const createLoop = () => {
  const state = { nowMs: 0, rounds: 0 };
  const waiting: (() => void)[] = [];
  const breathe = createBreathe({ sliceMs: 10, nowMs: () => state.nowMs, afterOthers: (then) => waiting.push(then) });
  const goRound = (): void => {
    state.rounds += 1;
    for (const then of waiting.splice(0)) then();
  };
  return { state, breathe, goRound, waiting };
};

it('asks for a turn of the event loop once a slice is over', async () => {
  const { state, breathe, goRound } = createLoop();
  const first = breathe();
  expect(first).toBeInstanceOf(Promise);
  goRound();
  await first;
  state.nowMs = 9;
  expect(breathe()).toBeUndefined();
  state.nowMs = 10;
  expect(breathe()).toBeInstanceOf(Promise);
});

it('all work of a process shares its slices: who comes meanwhile waits for the same turn', async () => {
  const { breathe, goRound, waiting } = createLoop();
  const [one, other] = [breathe(), breathe()];
  expect(waiting).toHaveLength(1);
  expect(one).toBe(other);
  goRound();
  await Promise.all([one, other]);
});

it('the embedded database takes a breath before each statement, those of a transaction too', async () => {
  const breaths = { count: 0 };
  const client = await PGlite.create({ loadDataDir: await dataDir() });
  const breathe = async (): Promise<void> => {
    breaths.count += 1;
  };
  const db = new Kysely<unknown>({ dialect: createPgliteDialect(client, () => {}, breathe) });
  for (let asked = 0; asked < 3; asked += 1) await sql`select 1`.execute(db);
  expect(breaths.count).toBe(3);
  await db.transaction().execute((inner) => sql`select 1`.execute(inner));
  expect(breaths.count).toBe(6);
  await db.destroy();
});
