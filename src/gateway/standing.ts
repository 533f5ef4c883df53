/** Whether a user and a tenant may have tokens at all just now, whatever the policy grants. */
import { LRUCache } from 'lru-cache';
import { createSingleFlight } from '../platform/single-flight.js';
import type { Session } from './identity.js';
import type { TenantState } from './ledger/ledger.js';
import type { Tenants } from './tenants/tenants.js';
import { suspended } from './tenants/works.js';
import { unavailable } from './upstream.js';

/** Throws TENANT_SUSPENDED for a tenant that is suspended or deleted, SESSION_INVALID for a session that was revoked. */
export type Standing = (session: Session, clientId: string) => Promise<void> | void;

export type TenantStanding = {
  readonly assert: Standing;
  /** Another one for every change of the tenant's state that this process knows of: tokens of before are not answered after. */
  readonly generationOf: (clientId: string) => string;
  /** The next request asks the ledger. */
  readonly forget: (clientId: string) => void;
};

export type StandingOptions = {
  readonly tenants: Pick<Tenants, 'find'>;
  /** Another one whenever the tenant's state may have changed, in whichever process, within a second. */
  readonly epochOf: (clientId: string) => string;
};

type Held = { readonly state: TenantState; readonly generation: string; readonly epoch: string };

/** The ledger is asked once for a tenant and an epoch, and what it said is held in this process. */
export const createStanding = ({ tenants, epochOf }: StandingOptions): TenantStanding => {
  const held = new LRUCache<string, Held>({ max: 100_000 });
  const flight = createSingleFlight<Held>();
  let changes = 0;
  const read = async (clientId: string, epoch: string): Promise<Held> => {
    const before = changes;
    try {
      const tenant = await tenants.find(clientId);
      // An erasure that is owed comes before a new life.
      const state = tenant?.isErasureOwed === true ? 'deleted' : (tenant?.state ?? 'active');
      const found = { state, generation: tenant?.changes ?? '0', epoch };
      // What was read before a change is for the requests of before.
      if (before === changes) held.set(clientId, found);
      return found;
    } catch (error) {
      throw unavailable('ledger-not-readable', error);
    }
  };
  const decide = ({ state }: Held): void => {
    if (state !== 'active') throw suspended(state);
  };
  return {
    assert: (_, clientId) => {
      const epoch = epochOf(clientId);
      const known = held.get(clientId);
      if (known?.epoch === epoch) return decide(known);
      return flight(`${changes} ${epoch} ${clientId}`, () => read(clientId, epoch)).then(decide);
    },
    generationOf: (clientId) => held.get(clientId)?.generation ?? '0',
    forget: (clientId) => {
      changes += 1;
      held.delete(clientId);
    },
  };
};
