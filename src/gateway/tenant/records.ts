/**
 * Stores the tenants in the ledger and applies events to them. A change raises the tenant's revocation epoch in the
 * same transaction, so no gateway uses the earlier state for longer than a second. Must not call the upstream or touch
 * tokens.
 */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { Clock } from '../../model/ports.js';
import { raiseEpochs } from '../ledger/epochs.js';
import type { Ledger, LedgerTables, TenantState } from '../ledger/ledger.js';
import { notePending, type PendingRow } from '../ledger/pending-revocations.js';
import type { RevocationTarget } from '../revocation/revocations.js';
import { tenantScopeOf } from '../revocation/scopes.js';
import { newestOf, stateOf, type TenantEventKind, type TenantMoments, withEvent } from './state.js';

export type TenantEvent = { readonly kind: TenantEventKind; readonly clientId: string; readonly occurredAt: Date };

export type Tenant = {
  readonly tenantRef: string;
  readonly state: TenantState;
  readonly moments: TenantMoments;
  /**
   * Whether the tenant was deleted and its erasure is not complete. Until then nothing may be made for it, even after a
   * new sign-up.
   */
  readonly isErasureOwed: boolean;
  /** Changes whenever the tenant's state changes. Part of the token cache key, so earlier tokens miss. */
  readonly changes: string;
};

export type TenantRecords = {
  /** Returns undefined if the tenant is unknown. */
  readonly find: (clientId: string) => Promise<Tenant | undefined>;
  /** Stores the event and returns the tenant's new state. Storing an event twice changes only `tokens`. */
  readonly note: (event: TenantEvent) => Promise<Noted>;
  /** Returns the clientIds of deleted tenants whose erasure is not complete. */
  readonly listOwed: () => Promise<readonly string[]>;
};

/**
 * `tokens`: the pending revocation of a suspended tenant's tokens at the service. Stored with the state, so that it is completed
 * after a crash.
 */
export type Noted = { readonly tenant: Tenant; readonly tokens: PendingRow | null };

const owedAtOnce = 100;

type Row = Selectable<LedgerTables['tenants']>;

const decode = (row: Row): Tenant => ({
  tenantRef: row.tenant_ref,
  state: row.state,
  moments: {
    'signed-up': row.signed_up_at,
    resumed: row.resumed_at,
    suspended: row.suspended_at,
    deleted: row.deleted_at,
  },
  isErasureOwed: row.is_erasure_owed,
  // Some drivers return a number.
  changes: String(row.changes),
});

/** Inserts the tenant's row if it is missing. The row of an erased tenant stays without its clientId. */
export const insertTenant = async (
  db: Kysely<LedgerTables>,
  tenant: { readonly tenantRef: string; readonly clientId: string; readonly now: Date },
): Promise<void> => {
  const { tenantRef, clientId, now } = tenant;
  await db
    .insertInto('tenants')
    .values({ tenant_ref: tenantRef, client_id: clientId, state: 'active', created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.column('tenant_ref').doNothing())
    .execute();
};

const change = async (
  db: Kysely<LedgerTables>,
  before: Tenant,
  { kind, clientId, occurredAt }: TenantEvent,
  now: Date,
): Promise<Tenant> => {
  const moments = withEvent(before.moments, kind, occurredAt);
  if (moments === before.moments) return before;
  const state = stateOf(moments);
  const isErasureOwed = before.isErasureOwed || (kind === 'deleted' && state === 'deleted');
  const row = await db
    .updateTable('tenants')
    .set({
      state,
      occurred_at: newestOf(moments),
      updated_at: now,
      signed_up_at: moments['signed-up'],
      resumed_at: moments.resumed,
      suspended_at: moments.suspended,
      deleted_at: moments.deleted,
      is_erasure_owed: isErasureOwed,
      changes: sql<string>`changes + 1`,
      // The row of a deleted tenant gets its clientId back only at a new sign-up.
      ...(state === 'deleted' ? {} : { client_id: clientId }),
    })
    .where('tenant_ref', '=', before.tenantRef)
    .returningAll()
    .executeTakeFirstOrThrow();
  return decode(row);
};

const noteEvent = async (db: Kysely<LedgerTables>, { self }: Ledger, event: TenantEvent, before: Tenant, now: Date) => {
  const tenant = await change(db, before, event, now);
  const raise = { scopes: [tenantScopeOf(tenant.tenantRef)], revokedAt: null };
  // A pending erasure revokes the tokens itself, as its first step.
  if (tenant.state === 'suspended' && !tenant.isErasureOwed) {
    const target: RevocationTarget = { by: 'tenant', clientId: event.clientId };
    return { tenant, tokens: await notePending(db, self, raise, { target: JSON.stringify(target), now }) };
  }
  if (tenant !== before) await raiseEpochs(db, raise);
  return { tenant, tokens: null };
};

const findLocked = (db: Kysely<LedgerTables>, tenantRef: string) =>
  db.selectFrom('tenants').selectAll().where('tenant_ref', '=', tenantRef).forUpdate().executeTakeFirstOrThrow();

/**
 * Applies an event in a transaction that also changes what the tenant has. Revokes no tokens: the caller knows that none
 * are there.
 */
export const applyTenantEvent = async (
  db: Kysely<LedgerTables>,
  tenantRef: string,
  event: TenantEvent,
  now: Date,
): Promise<Tenant> => {
  await insertTenant(db, { tenantRef, clientId: event.clientId, now });
  const tenant = await change(db, decode(await findLocked(db, tenantRef)), event, now);
  await raiseEpochs(db, { scopes: [tenantScopeOf(tenantRef)], revokedAt: null });
  return tenant;
};

export const createTenantRecords = (ledger: Ledger, clock: Clock): TenantRecords => ({
  find: async (clientId) => {
    const rows = ledger.db.selectFrom('tenants').selectAll().where('tenant_ref', '=', ledger.refOf(clientId));
    const row = await rows.executeTakeFirst();
    return row && decode(row);
  },
  listOwed: async () => {
    const owed = ledger.db.selectFrom('tenants').select('client_id').where('is_erasure_owed', '=', true);
    return (await owed.limit(owedAtOnce).execute()).flatMap(({ client_id }) => client_id ?? []);
  },
  note: (event) =>
    ledger.db.transaction().execute(async (inner) => {
      const { clientId } = event;
      const [tenantRef, now] = [ledger.refOf(clientId), clock.now()];
      await insertTenant(inner, { tenantRef, clientId, now });
      return noteEvent(inner, ledger, event, decode(await findLocked(inner, tenantRef)), now);
    }),
});
