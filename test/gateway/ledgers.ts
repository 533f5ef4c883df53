/** Ledgers for tests: one embedded database in memory for each test process. It is emptied for each new ledger. */
import { type Kysely, sql } from 'kysely';
import { attachLedger, type Ledger, type LedgerTables, openLedger } from '../../src/gateway/ledger/ledger.js';
import { schemaName } from '../../src/gateway/ledger/tables.js';
import { type Database, openDatabase } from '../../src/platform/database.js';

let emptying: string | undefined;

const emptyingOf = async (db: Kysely<LedgerTables>): Promise<string> => {
  const { rows } = await sql<{ name: string }>`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_schema = ${schemaName} and table_name not like 'kysely%' and table_name <> 'audit_head'`.execute(db);
  // Faster than TRUNCATE, which would create a file for each of these nearly empty tables. The audit's triggers refuse
  // DELETE, so they are disabled here.
  return `do $$ begin
    set local session_replication_role = replica;
    ${rows.map(({ name }) => `delete from ${name};`).join(' ')}
    update ${schemaName}.audit_head set seq = 0, hash = repeat('0', 64);
  end $$`;
};

const empty = async (db: Kysely<LedgerTables>): Promise<void> => {
  emptying ??= await emptyingOf(db);
  await sql.raw(emptying).execute(db);
};

const openMigrated = async (): Promise<Database> => {
  const opened = await openDatabase({ databaseUrl: null, folder: null });
  await openLedger(opened.connect<LedgerTables>(), false);
  return opened;
};

/** Creates one database. The returned function empties it and returns a ledger. */
const createLedgers = (): (() => Promise<Ledger>) => {
  let database: Promise<Database> | undefined;
  return async () => {
    database ??= openMigrated();
    const db = (await database).connect<LedgerTables>();
    await empty(db);
    return attachLedger(db, false);
  };
};

/**
 * Returns an empty ledger. The test files of one process share its database, since opening one takes two seconds, so
 * this call also empties all earlier ledgers. If two gateways of a test share a ledger, set `isShared`, since each
 * gateway caches the epochs.
 */
export const openTestLedger = createLedgers();

/** As `openTestLedger`, in a second database, for a gateway that is compared with another one. */
export const openSecondLedger = createLedgers();
