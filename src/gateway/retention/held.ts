/** The conditions under which a hold keeps a row of the ledger. Rows are named `t`. */
import { type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import type { LedgerTables } from '../ledger/tables.js';

/** A row of a table without tenants: only a hold on all tenants keeps it. */
export const isAllHeld: RawBuilder<SqlBool> = sql`exists (
  select from guestlist_gateway.holds where tenant_ref is null)`;

/** A row with the reference of its tenant. */
export const isTenantHeld: RawBuilder<SqlBool> = sql`exists (
  select from guestlist_gateway.holds where tenant_ref is null or holds.tenant_ref = t.tenant_ref)`;

/** An entry of the audit, which has the pseudonym of its tenant. */
export const isEntryHeld: RawBuilder<SqlBool> = sql`(${isAllHeld} or coalesce(t.tenant in (
  select tenant_keys.pseudonym from guestlist_gateway.tenant_keys
  join guestlist_gateway.holds on holds.tenant_ref = tenant_keys.tenant_ref), false))`;

/** Whether a hold keeps everything. */
export const isEverythingHeld = async (db: Transaction<LedgerTables>): Promise<boolean> => {
  const held = await db.selectFrom('holds').select('id').where('tenant_ref', 'is', null).limit(1).executeTakeFirst();
  return held !== undefined;
};
