import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { createLeases, type Lease, LeaseLost } from '../ledger/leases.js';
import type { Ledger } from '../ledger/ledger.js';

/**
 * The refusal while another operation has the tenant's lock or a lease. Data that was stored in the ledger stays, and a
 * retry completes the operation.
 */
export const tenantBusy = (reason: Reason): Refusal =>
  new Refusal(
    'UPSTREAM_UNAVAILABLE',
    'Another operation on this tenant is in progress. The event was saved; retry to complete it.',
    { reason },
  );

/**
 * The lock of a tenant. Only one operation over all replicas holds it while it applies a change of the tenant's state.
 */
export type TenantLock = {
  /**
   * Throws UPSTREAM_UNAVAILABLE if the lock was lost, because another process may hold it. Call it before each step that
   * changes something outside the ledger.
   */
  readonly assertHeld: () => Promise<void>;
  /**
   * Writes to the ledger. No other process can take the lock until the writes are stored. Throws UPSTREAM_UNAVAILABLE, and
   * writes nothing, if the lock was lost.
   */
  readonly write: Lease['write'];
  /** Rises with each taking of a lock. */
  readonly fence: Lease['fence'];
};

/** Runs `work` under the tenant's lock. Rejects with UPSTREAM_UNAVAILABLE (`tenant-locked`) if another process holds it. */
export type WithTenantLock = <T>(tenantRef: string, work: (lock: TenantLock) => Promise<T>) => Promise<T>;

export const createTenantLock = (ledger: Ledger): WithTenantLock => {
  const leases = createLeases(ledger);
  return async (tenantRef, work) => {
    const lease = await leases.take(`tenant/${tenantRef}`);
    if (lease === undefined) throw tenantBusy('tenant-locked');
    const assertHeld = async (): Promise<void> => {
      if (!(await lease.isHeld())) throw tenantBusy('tenant-lock-lost');
    };
    const write: Lease['write'] = async (inLedger) => {
      try {
        return await lease.write(inLedger);
      } catch (error) {
        if (error instanceof LeaseLost) throw tenantBusy('tenant-lock-lost');
        throw error;
      }
    };
    try {
      return await work({ assertHeld, write, fence: lease.fence });
    } finally {
      await lease.release();
    }
  };
};
