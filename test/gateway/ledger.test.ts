import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type LedgerTables, openLedger } from '../../src/gateway/ledger/ledger.js';
import { ledgerMigrations } from '../../src/gateway/ledger/migrations.js';
import { openDatabase } from '../../src/platform/databases/database.js';
import { openBareDatabase } from '../suites/metadata.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { openTestLedger } from './ledgers.js';

const hasPostgres = await isPostgresThere();

describe('the ledger', () => {
  it('refers to a tenant by a reference that does not reveal it', async () => {
    const ledger = await openTestLedger();
    expect(ledger.refOf('LAX')).toMatch(/^[0-9a-f]{64}$/);
    expect(ledger.refOf('LAX')).toBe(ledger.refOf('LAX'));
    expect(new Set(['LAX', 'lax', 'LAX ', 'LÁX'].map(ledger.refOf)).size).toBe(4);
    const another = await openTestLedger();
    expect(another.refOf('LAX')).not.toBe(ledger.refOf('LAX'));
  });

  it('refuses a database of a version before the first release, and does not change it', async () => {
    const database = await openBareDatabase();
    onTestFinished(() => database.close());
    const db = database.connect<LedgerTables>();
    await sql`create schema guestlist_gateway`.execute(db);
    await sql`create table guestlist_gateway.kysely_migration (name text primary key, timestamp text not null)`.execute(
      db,
    );
    await sql`insert into guestlist_gateway.kysely_migration values ('0001-tenants', ''), ('0002-epochs', '')`.execute(
      db,
    );
    await expect(openLedger(db, false)).rejects.toThrow(/0001-tenants.*version before 0\.2\.0 cannot be upgraded/);
    const { rows } = await sql<{ name: string }>`select relname as name from pg_class
      where relnamespace = 'guestlist_gateway'::regnamespace and relkind = 'r'`.execute(db);
    expect(rows).toEqual([{ name: 'kysely_migration' }]);
  });

  it('records each migration under its released name', async () => {
    const { db } = await openTestLedger();
    const { rows } = await sql<{ name: string }>`select name from guestlist_gateway.kysely_migration`.execute(db);
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(ledgerMigrations));
    // Released migrations never change their names. Add a new one at the end.
    expect(Object.keys(ledgerMigrations)).toEqual([
      '0001-ledger',
      '0002-paused-rollouts',
      '0003-editions',
      '0004-recipients',
      '0005-silence',
      '0006-fences',
      '0007-settings',
      '0008-retention',
      '0009-aside',
    ]);
  });

  it.skipIf(!hasPostgres)('is created once if several gateways start at the same time', async () => {
    const { url, drop } = await createOwnDatabase();
    const databases = await Promise.all([1, 2, 3].map(() => openDatabase({ databaseUrl: url, folder: null })));
    onTestFinished(async () => {
      for (const database of databases) await database.close();
      await drop();
    });
    const ledgers = await Promise.all(databases.map((database) => openLedger(database.connect<LedgerTables>())));
    expect(new Set(ledgers.map(({ refOf }) => refOf('LAX'))).size).toBe(1);
  });
});
