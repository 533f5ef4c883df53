/** Connections to the metadata database if the network is cut or stops forwarding. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DependencyUnavailable } from '../../src/model/unavailable.js';
import { type Database, openDatabase } from '../../src/platform/databases/database.js';
import { type Relay, startRelay } from '../engine/relay.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';

describe.runIf(await isPostgresThere())('connections to PostgreSQL', () => {
  let own: OwnDatabase;
  let relay: Relay;
  let direct: Database;
  let database: Database;
  beforeAll(async () => {
    own = await createOwnDatabase();
    const url = new URL(own.url);
    relay = await startRelay({ host: url.hostname, port: Number(url.port || '5432') });
    url.hostname = relay.host;
    url.port = String(relay.port);
    direct = await openDatabase({ databaseUrl: own.url, folder: null });
    await sql`create table words (word text)`.execute(direct.connect());
    database = await openDatabase({ databaseUrl: url.href, folder: null });
  });
  afterAll(async () => {
    relay?.thaw();
    await database?.close();
    await direct?.close();
    await relay?.close();
    await own?.drop();
  });

  const failureOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'nothing failed',
      (error: unknown) => error,
    );
  const words = async () => {
    const { rows } = await sql<{ word: string }>`select word from words order by word`.execute(direct.connect());
    return rows.map(({ word }) => word);
  };
  /** Waits until the server is running the statement. */
  const isRunning = async (text: string): Promise<void> => {
    const asked = sql`select 1 from pg_stat_activity where state = 'active' and query like ${`%${text}%`} and pid <> pg_backend_pid()`;
    while ((await asked.execute(direct.connect())).rows.length === 0);
  };

  it('one that breaks within a transaction fails it, as a fault that passes; nothing of it is kept, and the process lives', async () => {
    const unheard: unknown[] = [];
    const note = (error: unknown): void => void unheard.push(error);
    process.on('uncaughtException', note);
    onTestFinished(() => void process.off('uncaughtException', note));
    const work = database
      .connect<{ words: { word: string } }>()
      .transaction()
      .execute(async (transaction) => {
        await transaction.insertInto('words').values({ word: 'half' }).execute();
        relay.cut();
        await transaction.insertInto('words').values({ word: 'whole' }).execute();
      });
    expect(await failureOf(work)).toBeInstanceOf(DependencyUnavailable);
    expect(await words()).toEqual([]);
    expect(unheard).toEqual([]);
  });

  it('a query that only reads is asked again, once', async () => {
    const asked = sql<{ n: number }>`select 7 as n, pg_sleep(0.5) as reading`.execute(database.connect());
    await isRunning('as reading');
    relay.cut();
    expect((await asked).rows).toMatchObject([{ n: 7 }]);
  });

  it('a write is never repeated: whether it was done is not known', async () => {
    const asked = sql`insert into words select 'once' from pg_sleep(0.5) as writing`.execute(database.connect());
    await isRunning('as writing');
    relay.cut();
    expect(await failureOf(asked)).toBeInstanceOf(DependencyUnavailable);
    await sql`select pg_sleep(1)`.execute(direct.connect());
    expect((await words()).length).toBeLessThanOrEqual(1);
  });

  it('a statement that is wrong is a fault of its own', async () => {
    const failure = await failureOf(sql`select nonsense`.execute(database.connect()));
    expect(failure).toMatchObject({ code: '42703' });
    expect(failure).not.toBeInstanceOf(DependencyUnavailable);
  });

  it('a server that says nothing is given up, and then nobody waits for it until it answers', async () => {
    await sql`select 1`.execute(database.connect());
    relay.freeze();
    const failures = await Promise.all(
      Array.from({ length: 30 }, () => failureOf(sql`select 1`.execute(database.connect()))),
    );
    expect(failures.filter((failure) => !(failure instanceof DependencyUnavailable))).toEqual([]);
    const before = relay.connections();
    expect(await failureOf(sql`select 1`.execute(database.connect()))).toMatchObject({ reason: 'database-silent' });
    expect(relay.connections()).toBeLessThanOrEqual(before + 1);
    relay.thaw();
    for (;;) {
      const failure = await failureOf(sql`select 1`.execute(database.connect()));
      if (!(failure instanceof DependencyUnavailable)) break;
      await sql`select pg_sleep(0.05)`.execute(direct.connect());
    }
    expect((await sql`select 1 as one`.execute(database.connect())).rows).toEqual([{ one: 1 }]);
  });
});
