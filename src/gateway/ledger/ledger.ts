/**
 * The ledger: the gateway's durable storage of its tenants, their dashboards, revocations and the audit. Its tables
 * have their own schema, so that gateway and service can be deployed separately. Never call the upstream inside a
 * transaction of the ledger: the embedded database has one connection, and the built-in service would wait for it
 * forever.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import { assertWritable, migrateSchema } from '../../platform/databases/migrate.js';
import { ledgerMigrations } from './migrations.js';
import { joinProcesses, type OwnProcess } from './processes.js';
import { type LedgerTables, schemaName } from './tables.js';

export type { ItemState, LedgerTables, RolloutState, TenantState } from './tables.js';

export type Ledger = {
  /** The database. Its statements contain the schema's name. */
  readonly db: Kysely<LedgerTables>;
  /** Whether other processes may write to the ledger. */
  readonly isShared: boolean;
  readonly self: OwnProcess;
  /**
   * Returns the reference under which a tenant's rows are stored: HMAC-SHA256 in hex. Without the installation's key,
   * it reveals nothing about the clientId.
   */
  readonly refOf: (clientId: string) => string;
  /** The id of the gateway's deployment, for what the service keeps: the same for all processes on this ledger, for ever. */
  readonly gatewayId: string;
};

const tenantKeyOf = async (db: Kysely<LedgerTables>): Promise<Buffer> => {
  await db
    .insertInto('installation')
    .values({ tenant_key: randomBytes(32).toString('base64') })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { tenant_key } = await db.selectFrom('installation').select('tenant_key').executeTakeFirstOrThrow();
  return Buffer.from(tenant_key, 'base64');
};

/** Returns what makes the references of tenants (see Ledger). `db` names the ledger's schema. */
export const loadRefOf = async (db: Kysely<LedgerTables>): Promise<Ledger['refOf']> => {
  const key = await tenantKeyOf(db);
  return (text) => createHmac('sha256', key).update(text, 'utf8').digest('hex');
};

/** Migrates the tables and opens the ledger. Safe if several gateways start at once. Rejects as `migrateSchema` does. */
export const openLedger = async (connected: Kysely<LedgerTables>, isShared = true): Promise<Ledger> => {
  await migrateSchema({
    db: connected,
    schema: schemaName,
    migrations: ledgerMigrations,
    what: "gateway's ledger",
  });
  return attachLedger(connected, isShared);
};

/** Rejects if the ledger cannot be written now. */
export const assertLedgerWritable = ({ db }: Ledger): Promise<void> => assertWritable(db, schemaName);

/**
 * Opens a ledger whose tables are already migrated.
 *
 * @internal Tests only: their databases are copies that have all tables.
 */
export const attachLedger = async (connected: Kysely<LedgerTables>, isShared: boolean): Promise<Ledger> => {
  const db = connected.withSchema(schemaName);
  const refOf = await loadRefOf(db);
  const self = await joinProcesses(db, isShared);
  const gatewayId = refOf('guestlist: gateway id').slice(0, 32);
  return { db, isShared, self, refOf, gatewayId };
};
