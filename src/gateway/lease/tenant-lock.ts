import { Refusal } from '../../domain/refusal.js';
import { createLeases } from '../ledger/leases.js';
import type { Ledger } from '../ledger/ledger.js';

/** It cannot be done just now, and nothing is half done that the next attempt would not finish. */
export const tenantBusy = (reason: string): Refusal =>
  new Refusal(
    'UPSTREAM_UNAVAILABLE',
    'This tenant is being worked on just now. What the event says is noted; send it again shortly for the rest.',
    { reason },
  );

/** One at a time, over all replicas, brings about what a tenant's state asks for. */
export type TenantLock = {
  /** Throws UPSTREAM_UNAVAILABLE where the turn was lost: somebody else may be at it. Call it before each step. */
  readonly assertHeld: () => Promise<void>;
};

/** Rejects with UPSTREAM_UNAVAILABLE where somebody else has the turn. */
export type WithTenantLock = <T>(tenantRef: string, work: (turn: TenantLock) => Promise<T>) => Promise<T>;

export const createTenantLock = (ledger: Ledger): WithTenantLock => {
  const leases = createLeases(ledger);
  return async (tenantRef, work) => {
    const lease = await leases.take(`tenant/${tenantRef}`);
    if (lease === undefined) throw tenantBusy('tenant-locked');
    const assertHeld = async (): Promise<void> => {
      if (!(await lease.isHeld())) throw tenantBusy('tenant-lock-lost');
    };
    try {
      return await work({ assertHeld });
    } finally {
      await lease.release();
    }
  };
};
