/** Ledgers for tests: embedded databases in memory, one for each process of tests, emptied for each ledger that is asked for. */
import { type Kysely, sql } from 'kysely';
import { attachLedger, type Ledger, type LedgerTables, openLedger } from '../../src/gateway/ledger/ledger.js';
import { schemaName } from '../../src/gateway/ledger/tables.js';
import { type Database, openDatabase } from '../../src/platform/database.js';

let emptying: string | undefined;

const emptyingOf = async (db: Kysely<LedgerTables>): Promise<string> => {
  const { rows } = await sql<{ name: string }>`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_schema = ${schemaName} and table_name not like 'kysely%' and table_name <> 'audit_head'`.execute(db);
  // Cheaper than to truncate: the tables are nearly empty, and each would get a new file. The audit refuses any lesser means.
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

/** One database of its own, emptied for each ledger that is asked for. */
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
 * An empty ledger. Test files of one process share its database, since opening one takes two seconds: this empties every
 * earlier ledger too. Two gateways of one test share one ledger, with `isShared` set, as each keeps a copy of the epochs.
 */
export const openTestLedger = createLedgers();

/**
 * Call it after a test that changed `Date`. PGlite arms a timer for the time 10 seconds after its last statement, by `Date`:
 * where `Date` then goes back by weeks, Node cannot wait so long, and the timer fires every millisecond.
 */
export const rearmLedgerTimer = async (): Promise<void> => {
  await openTestLedger();
};

/** The same in a second database: for a gateway that is compared with another. */
export const openSecondLedger = createLedgers();
