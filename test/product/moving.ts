/** Runs `guestlist move` as a process of its own, kills it, and says what is left at both places. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { openMetadata } from '../../src/compose/metadata.js';
import { type Database, openDatabase } from '../../src/platform/databases/database.js';
import { createLog } from '../../src/platform/logs/log.js';
import { systemClock } from '../../src/platform/work/time.js';
import { createRandom } from '../fault/random.js';
import { type Content, contentOf } from './metadata-world.js';

const entry = fileURLToPath(new URL('../../bin/guestlist.mjs', import.meta.url));

/** A URL of PostgreSQL, or a data folder. */
export type Where = string;

const isServer = (where: Where): boolean => where.startsWith('postgres');

const placeOf = (where: Where) => ({
  databaseUrl: isServer(where) ? where : null,
  folder: isServer(where) ? null : join(where, 'metadata'),
  isFlushed: false,
});

/** Opens the database, whatever a move has left there. */
export const on = async <T>(where: Where, work: (database: Database) => Promise<T>): Promise<T> => {
  const database = await openDatabase(placeOf(where));
  return work(database).finally(database.close);
};

export const contentAt = (where: Where): Promise<Content> => on(where, contentOf);

/** Why a start on this metadata is refused; null if it is not. */
export const refusalAt = async (where: Where): Promise<string | null> => {
  const usual = { markKey: null, acceptsLoss: true, clock: systemClock, log: createLog({ level: 'silent' }) };
  try {
    const { database } = await openMetadata({ ...placeOf(where), ...usual });
    await database.close();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const hasTables = (where: Where): Promise<boolean> =>
  on(where, async (database) => {
    const { rows } = await sql`select from pg_namespace where nspname in ('guestlist', 'guestlist_gateway')`.execute(
      database.connect(),
    );
    return rows.length > 0;
  });

export type Ends = { readonly folder: string; readonly from: Where; readonly to: Where };

/** Runs the move to its end, or kills it after these milliseconds. The code is null if it was killed. */
export const runMove = async ({ folder, from, to }: Ends, killAfterMs?: number) => {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [entry, 'move', '--from', from, '--to', to], {
    env: { PATH, HOME, GUESTLIST_DATA_DIR: folder, GUESTLIST_FLUSH: '0' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  const ended = once(child, 'close');
  if (killAfterMs !== undefined) {
    await Promise.race([wait(killAfterMs), ended]);
    child.kill('SIGKILL');
  }
  const [code] = await ended;
  return { code: typeof code === 'number' ? code : null, output };
};

/** What holds after a kill at any moment. Returns whether the target is the installation now. */
const expectWhole = async ({ from, to }: Ends, before: Content): Promise<boolean> => {
  expect(await contentAt(from)).toEqual(before);
  const [atSource, atTarget] = [await refusalAt(from), await refusalAt(to)];
  if (atSource === null) {
    // The target is empty, or a start on it names the command.
    if (atTarget === null) expect(await hasTables(to)).toBe(false);
    else expect(atTarget).toMatch(/^A move of metadata from .* has not ended.*Run `guestlist move --from/);
    return false;
  }
  expect(atSource).toMatch(/was moved to/);
  expect(await contentAt(to)).toEqual(before);
  return atTarget === null;
};

/** Kills the move at random moments of a run that lasts about this long, then lets it end. */
export const killOften = async (ends: Ends, before: Content, kills: number, lastsMs: number): Promise<void> => {
  const random = createRandom(kills);
  for (let count = 0; count < kills; count += 1) {
    await runMove(ends, random() * lastsMs);
    if (await expectWhole(ends, before)) break;
  }
  const { code, output } = await runMove(ends);
  expect([code, output]).toEqual([0, expect.stringContaining('Start')]);
  expect(await expectWhole(ends, before)).toBe(true);
};
