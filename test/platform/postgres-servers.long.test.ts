/** Metadata on a primary with a standby; one DATABASE_URL names both. */
import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DependencyUnavailable } from '../../src/model/unavailable.js';
import { type Database, openDatabase } from '../../src/platform/databases/database.js';
import { isPostgresServerThere, type OwnPostgres, startOwnPostgres, startStandby } from '../suites/postgres-server.js';

describe.skipIf(!isPostgresServerThere())('several servers of PostgreSQL', () => {
  let primary: OwnPostgres;
  let standby: OwnPostgres;
  let database: Database;
  beforeEach(async () => {
    primary = await startOwnPostgres();
    standby = await startStandby(primary);
    await primary.execute('create table words (word text)');
  });
  afterEach(async () => {
    primary.thaw();
    await database?.close();
    await standby?.remove();
    await primary?.remove();
  });

  /** The standby is named first. */
  const open = async (): Promise<void> => {
    const databaseUrl = `postgres://postgres@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`;
    database = await openDatabase({ databaseUrl, folder: null });
  };
  const write = (word: string) => sql`insert into words values (${word})`.execute(database.connect());
  const failureOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'nothing failed',
      (error: unknown) => error,
    );
  /** Writes until one write succeeds. All earlier ones must fail with a temporary fault. */
  const untilTaken = async (): Promise<void> => {
    for (;;) {
      const failure = await failureOf(write('late'));
      if (failure === 'nothing failed') return;
      expect(failure).toBeInstanceOf(DependencyUnavailable);
      // While the server is known to be unavailable, writes are refused without waiting.
      await turn();
    }
  };
  const words = async () => (await standby.execute('select distinct word from words order by word')).trim().split('\n');

  it('writes go to the primary; it is killed, and they go to the promoted standby, with all that was acknowledged', async () => {
    await open();
    await Promise.all(['a', 'b', 'c', 'd'].map(write));
    primary.kill();
    expect(await failureOf(write('lost'))).toBeInstanceOf(DependencyUnavailable);
    await standby.promote();
    await untilTaken();
    expect(await words()).toEqual(expect.arrayContaining(['a', 'b', 'c', 'd', 'late']));
  });

  it('a primary that freezes is left, with the connections to it', async () => {
    await open();
    await Promise.all(['a', 'b', 'c', 'd'].map(write));
    primary.freeze();
    await standby.promote();
    await untilTaken();
    // If an old connection were still used, these writes would hang.
    await Promise.all(['e', 'f', 'g', 'h'].map(write));
    expect(await words()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'late']);
  });

  it('a primary that becomes read-only is left at the first write, with all connections to it', async () => {
    await open();
    await Promise.all(['a', 'b', 'c', 'd'].map(write));
    await primary.execute('alter system set default_transaction_read_only = on');
    await primary.execute('select pg_reload_conf()');
    await standby.promote();
    while ((await failureOf(write('e'))) === 'nothing failed') await turn();
    const others = await Promise.all(['f', 'g', 'h', 'i'].map((word) => failureOf(write(word))));
    expect(others).toEqual(['nothing failed', 'nothing failed', 'nothing failed', 'nothing failed']);
    expect(await words()).toEqual(expect.arrayContaining(['f', 'g', 'h', 'i']));
  });
});
