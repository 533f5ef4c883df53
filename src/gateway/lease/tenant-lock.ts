/** One at a time, over all replicas, brings about what a tenant's state asks for. */
import { createLeases } from '../ledger/leases.js';
import type { Ledger } from '../ledger/ledger.js';
import { busy } from './tenant-busy.js';

export type Turn = {
  /** Throws UPSTREAM_UNAVAILABLE where the turn was lost: somebody else may be at it. Call it before each step. */
  readonly assertHeld: () => Promise<void>;
};

/** Rejects with UPSTREAM_UNAVAILABLE where somebody else has the turn. */
export type TakeTurn = <T>(tenantRef: string, work: (turn: Turn) => Promise<T>) => Promise<T>;

export const createTurns = (ledger: Ledger): TakeTurn => {
  const leases = createLeases(ledger);
  return async (tenantRef, work) => {
    const lease = await leases.take(`tenant/${tenantRef}`);
    if (lease === undefined) throw busy('tenant-turn-taken');
    const assertHeld = async (): Promise<void> => {
      if (!(await lease.isHeld())) throw busy('tenant-turn-lost');
    };
    try {
      return await work({ assertHeld });
    } finally {
      await lease.release();
    }
  };
};
