/**
 * What is being made for tenants at the upstream. Each work is noted before it begins, in one statement with the look at the
 * tenant's state: so an erasure, which sets the state first, either finds the work and waits for it, or the work never begins.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Call } from '../../contract/client.js';
import { createDashboardEmbed } from '../../contract/dashboard-embeds.js';
import { createGuestToken } from '../../contract/guest-tokens.js';
import type { Operation } from '../../contract/operation.js';
import type { Clock } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import type { Log } from '../../platform/log.js';
import type { Ledger, TenantState } from '../ledger/ledger.js';
import { busy } from './busy.js';
import { insertTenant } from './tenants.js';

/** The same for both: who is logged in to a tenant that was deleted need not learn which it is. */
export const suspended = (state: string): Refusal =>
  new Refusal(
    'TENANT_SUSPENDED',
    "This organisation's access to its analytics is suspended or has ended. Ask its administrator.",
    { reason: `tenant-${state}` },
  );

export type TenantWorks = {
  /** Throws TENANT_SUSPENDED, and does not begin, where the tenant is not active. */
  readonly during: <T>(clientId: string, work: () => Promise<T>) => Promise<T>;
  /** Throws UPSTREAM_UNAVAILABLE while anything is being made for the tenant. */
  readonly assertNone: (tenantRef: string) => Promise<void>;
};

/** Longer than any work takes: that of a gateway that died meanwhile is waited for. */
const longestSeconds = 300;

type Found = { readonly state: TenantState; readonly is_erasure_owed: boolean };

/**
 * Notes the work where the tenant is active; answers how it stands, undefined where it was never seen. One statement: the row is
 * held shared, so that works of one tenant do not wait for each other, and whoever changes the state waits for this one.
 */
const noteWork = async (db: Ledger['db'], tenantRef: string, workId: string): Promise<Found | undefined> => {
  const { rows } = await sql<Found>`
    with tenant as materialized (
      select state, is_erasure_owed from guestlist_gateway.tenants where tenant_ref = ${tenantRef} for share
    ), work as (
      insert into guestlist_gateway.tenant_works (work_id, tenant_ref, expires_at)
      select ${workId}, ${tenantRef}, now() + make_interval(secs => ${longestSeconds})
      from tenant where state = 'active' and not is_erasure_owed
    )
    select state, is_erasure_owed from tenant`.execute(db);
  return rows[0];
};

const assertActive = (found: Found | undefined): void => {
  if (found === undefined) throw new Error('a tenant that was just noted is not there');
  if (found.state !== 'active' || found.is_erasure_owed) throw suspended(found.state);
};

export const createTenantWorks = ({ db, refOf }: Ledger, clock: Clock, log: Log): TenantWorks => {
  const begin = async (clientId: string, workId: string): Promise<void> => {
    const tenantRef = refOf(clientId);
    const found = await noteWork(db, tenantRef, workId);
    if (found !== undefined) return assertActive(found);
    await insertTenant(db, { tenantRef, clientId, now: clock.now() });
    return assertActive(await noteWork(db, tenantRef, workId));
  };
  const end = async (workId: string): Promise<void> => {
    try {
      await db.deleteFrom('tenant_works').where('work_id', '=', workId).execute();
    } catch (err) {
      // The work is done, and its note ends by itself.
      log.warn(
        { err, workId },
        'the end of a work for a tenant could not be noted: a deletion may have to wait for it',
      );
    }
  };
  return {
    during: async (clientId, work) => {
      const workId = randomUUID();
      await begin(clientId, workId);
      try {
        return await work();
      } finally {
        await end(workId);
      }
    },
    assertNone: async (tenantRef) => {
      const ofTenant = db.deleteFrom('tenant_works').where('tenant_ref', '=', tenantRef);
      await ofTenant.where('expires_at', '<', sql<Date>`now()`).execute();
      const running = db.selectFrom('tenant_works').select('work_id').where('tenant_ref', '=', tenantRef);
      if ((await running.limit(1).executeTakeFirst()) !== undefined) throw busy('tenant-works-under-way');
    },
  };
};

const making: readonly Operation[] = [createDashboardEmbed, createGuestToken];

/** The upstream, with everything that makes something for a client as a work of that tenant. */
export const guardUpstream =
  (upstream: Call, works: TenantWorks): Call =>
  async (operation, input) => {
    const clientId: unknown = Reflect.get(Object(input), 'clientId');
    if (!making.includes(operation)) return upstream(operation, input);
    if (typeof clientId !== 'string') throw new Error(`${operation.name} names no client`);
    return works.during(clientId, () => upstream(operation, input));
  };
