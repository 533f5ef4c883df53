/**
 * Tenant leases. A process holds one while it creates something for a tenant at the upstream (a dashboard or a token).
 * One statement reads the tenant's state and inserts the lease. An erasure first sets the state, then looks for leases.
 * So either the erasure finds the lease and waits for its end, or the lease is refused. A tenant can have several
 * leases at once.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { Call } from '../../platform/http/interface/client.js';
import type { Operation } from '../../platform/http/interface/operation.js';
import { createDashboardEmbed } from '../../service/dashboards/contract/embeds.js';
import type { Ledger, TenantState } from '../ledger/ledger.js';
import { isAlive, tenantLeasePrefix } from '../ledger/processes.js';
import { insertTenant } from '../tenant/records.js';
import { tenantBusy } from './tenant-lock.js';

/**
 * The refusal for a tenant that is not active. The message is the same for a suspended and a deleted tenant, because
 * the user must not learn which it is.
 */
export const tenantSuspended = (state: TenantState): Refusal =>
  new Refusal(
    'TENANT_SUSPENDED',
    "This organisation's access to its analytics is suspended or has ended. Ask its administrator.",
    { reason: `tenant-${state}` },
  );

export type TenantLeases = {
  /** Runs `work` under a lease of the tenant. Throws TENANT_SUSPENDED, without running it, if the tenant is not active. */
  readonly withLease: <T>(clientId: string, work: () => Promise<T>) => Promise<T>;
  /** Throws UPSTREAM_UNAVAILABLE (`tenant-lease-held`) while a live process holds a lease of the tenant. */
  readonly assertNoLease: (tenantRef: string) => Promise<void>;
};

type Found = { readonly state: TenantState; readonly is_erasure_owed: boolean; readonly isAlive: boolean };

const leasePrefixOf = (tenantRef: string): string => `${tenantLeasePrefix}${tenantRef}/`;

/**
 * Inserts a lease if the tenant is active. Returns the tenant's state, or undefined if the ledger has no row of it.
 * Because of `for share`, leases of one tenant do not wait for each other, and a change of the tenant's state waits for
 * this statement.
 */
const insertLease = async ({ db, self }: Ledger, tenantRef: string, workId: string): Promise<Found | undefined> => {
  const id = self.id();
  const { rows } = await sql<Found>`
    with tenant as materialized (
      select state, is_erasure_owed, ${isAlive(sql`${id}`)} as "isAlive"
      from guestlist_gateway.tenants where tenant_ref = ${tenantRef} for share
    ), work as (
      insert into guestlist_gateway.leases (name, holder, process_id)
      select ${leasePrefixOf(tenantRef) + workId}, ${workId}, ${id}
      from tenant where state = 'active' and not is_erasure_owed and "isAlive"
    )
    select * from tenant`.execute(db);
  return rows[0];
};

const assertActive = (found: Found | undefined): void => {
  if (found === undefined) throw new Error('the row of a tenant that was just inserted is missing');
  if (found.state !== 'active' || found.is_erasure_owed) throw tenantSuspended(found.state);
  // This process was silent for so long that another process declared it dead. Its next heartbeat gives it a new id.
  if (!found.isAlive) throw tenantBusy('process-was-silent');
};

export const createTenantLeases = (ledger: Ledger, clock: Clock): TenantLeases => {
  const { db, refOf, self } = ledger;
  const note = async (clientId: string, workId: string): Promise<Found | undefined> => {
    const tenantRef = refOf(clientId);
    const found = await insertLease(ledger, tenantRef, workId);
    if (found !== undefined) return found;
    await insertTenant(db, { tenantRef, clientId, now: clock.now() });
    return insertLease(ledger, tenantRef, workId);
  };
  const begin = async (clientId: string, workId: string): Promise<void> => {
    const found = await note(clientId, workId);
    if (found?.isAlive !== false) return assertActive(found);
    await self.beat(false);
    return assertActive(await note(clientId, workId));
  };
  return {
    withLease: async (clientId, work) => {
      const workId = randomUUID();
      try {
        await begin(clientId, workId);
        return await work();
      } finally {
        await self.release(workId);
      }
    },
    assertNoLease: async (tenantRef) => {
      const { rows } = await sql`
        select from guestlist_gateway.leases where starts_with(name, ${leasePrefixOf(tenantRef)})
          and ${isAlive(sql.ref('process_id'))} limit 1`.execute(db);
      if (rows.length > 0) throw tenantBusy('tenant-lease-held');
    },
  };
};

/**
 * Operations that need a lease here. A mint has its own lease, which it holds until the token is audited (token.ts).
 */
const making: readonly Operation[] = [createDashboardEmbed];

/** Returns an upstream that runs these operations under a lease of the client's tenant. */
export const leaseUpstream =
  (upstream: Call, leases: TenantLeases): Call =>
  async (operation, input) => {
    const clientId: unknown = Reflect.get(Object(input), 'clientId');
    if (!making.includes(operation)) return upstream(operation, input);
    if (typeof clientId !== 'string') throw new Error(`${operation.name} names no client`);
    return leases.withLease(clientId, () => upstream(operation, input));
  };
