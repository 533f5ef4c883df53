/** A gateway without a service in its process tells what runs in it, where both have one database. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTellingOfGateway } from '../../src/compose/running.js';
import { type Database, openDatabase } from '../../src/platform/databases/database.js';
import { createRunningWork } from '../../src/platform/work/running-work.js';
import { systemClock } from '../../src/platform/work/time.js';
import { createRunningStore } from '../../src/service/store/running.js';
import { schemaName, type Tables } from '../../src/service/store/tables.js';
import { captureLog } from '../gateway/harness.js';
import { migrateAll } from '../suites/metadata.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';

describe.skipIf(!(await isPostgresThere()))('a gateway alone', () => {
  let own: OwnDatabase;
  let database: Database;
  beforeAll(async () => {
    own = await createOwnDatabase();
    database = await openDatabase({ databaseUrl: own.url, folder: null });
  });
  afterAll(async () => {
    await database.close();
    await own.drop();
  });

  const start = (at: Database) => {
    const running = createRunningWork(systemClock);
    const { log, lines } = captureLog();
    const telling = startTellingOfGateway({
      operated: {
        running,
        live: () => ({ sources: [], cache: null }),
        self: { name: 'gateway-1', version: '1.0.0' },
        commonClock: systemClock,
      },
      database: at,
      ids: { uuid: randomUUID },
      log,
    });
    let letGo = (): void => {};
    const done = running.during(
      { kind: 'login', subject: 'portal', canEnd: false, clientId: 'LAX' },
      () =>
        new Promise<void>((resolve) => {
          letGo = resolve;
        }),
    );
    return { telling, lines, end: () => letGo(), done };
  };

  it('tells nothing until the service has made the tables, then what runs, and nothing after it stops', async () => {
    const store = createRunningStore(database.connect<Tables>().withSchema(schemaName));
    const { telling, lines, end, done } = start(database);
    expect(await store.isThere()).toBe(false);
    await migrateAll(database);
    const listed = () => store.list(new Date());
    await vi.waitFor(async () => expect(await listed()).toHaveLength(1), { timeout: 20_000, interval: 100 });
    const [told] = await listed();
    expect(told).toMatchObject({ name: 'gateway-1', others: 0, works: [{ kind: 'login', clientId: 'LAX' }] });
    end();
    await done;
    await telling.close();
    expect([await listed(), lines]).toEqual([[], []]);
  });

  it('tells nothing with a login that may not write the tables of the service', async () => {
    await migrateAll(database);
    const user = `gateway_${randomUUID().slice(0, 8)}`;
    const admin = new pg.Client({ connectionString: own.url });
    await admin.connect();
    await admin.query(`create role ${user} login`);
    try {
      const url = new URL(own.url);
      url.username = user;
      const limited = await openDatabase({ databaseUrl: url.href, folder: null });
      const store = createRunningStore(limited.connect<Tables>().withSchema(schemaName));
      expect(await store.isThere()).toBe(false);
      await admin.query(`grant usage on schema guestlist to ${user}`);
      expect(await store.isThere()).toBe(false);
      await admin.query(
        `grant select, insert, update, delete on guestlist.running_processes, guestlist.running_ends to ${user}`,
      );
      expect(await store.isThere()).toBe(true);
      await limited.close();
    } finally {
      await admin.query(`drop owned by ${user}`);
      await admin.query(`drop role ${user}`);
      await admin.end();
    }
  });
});
