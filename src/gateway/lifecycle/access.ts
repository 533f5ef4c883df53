/** Whether a user and a tenant may have tokens at all just now, whatever the policy grants. */
import { createLru } from '../../platform/lru.js';
import { createSingleFlight } from '../../platform/single-flight.js';
import { refuseRevoked, type Session } from '../authenticate/signed-session.js';
import type { ForgetClient } from '../common/eraser.js';
import { tenantSuspended } from '../lease/tenant-lease.js';
import type { TenantState } from '../ledger/ledger.js';
import type { Epochs, KnownEpochs } from '../revocation/epochs.js';
import type { Scope, Scopes } from '../revocation/scopes.js';
import type { TenantRecords } from '../tenant/records.js';
import { unavailable } from '../upstream/upstream.js';

/** Throws TENANT_SUSPENDED for a tenant that is suspended or deleted, SESSION_INVALID for a session that was revoked. */
export type AssertAccess = (session: Session, clientId: string) => Promise<void> | void;

export type TenantAccess = {
  readonly assert: AssertAccess;
  /** Another one for every change of the tenant's state that this process knows of: tokens of before are not answered after. */
  readonly generationOf: (clientId: string) => string;
  /** What is held of the tenant to answer faster. */
  readonly forget: ForgetClient;
};

export type TenantAccessOptions = {
  readonly tenants: Pick<TenantRecords, 'find'>;
  readonly epochs: Pick<Epochs, 'current'>;
  readonly scopes: Pick<Scopes, 'tenant'>;
};

/** `mark`: the tenant's epoch as it was known before the ledger was asked. */
type Held = { readonly state: TenantState; readonly generation: string; readonly mark: string; readonly scope: Scope };

/** Goes by the epochs of now: at once where they are known. */
const whenKnown = (
  { current }: Pick<Epochs, 'current'>,
  check: (known: KnownEpochs) => Promise<void> | void,
): Promise<void> | void => {
  const known = current();
  return known instanceof Promise ? known.then(check) : check(known);
};

/**
 * The ledger is asked once for a tenant and its epoch, and what it said is held in this process: whoever changes a tenant's state
 * raises its epoch in the same transaction.
 */
export const createTenantAccess = ({ tenants, epochs, scopes }: TenantAccessOptions): TenantAccess => {
  const held = createLru<string, Held>(100_000);
  const flight = createSingleFlight<Held>();
  const read = async (clientId: string, scope: Scope, mark: string): Promise<Held> => {
    try {
      const tenant = await tenants.find(clientId);
      // An erasure that is owed comes before a new life.
      const state = tenant?.isErasureOwed === true ? 'deleted' : (tenant?.state ?? 'active');
      const found = { state, generation: tenant?.changes ?? '0', mark, scope };
      held.set(clientId, found);
      return found;
    } catch (error) {
      throw unavailable('ledger-not-readable', error);
    }
  };
  const decide = ({ state }: Held): void => {
    if (state !== 'active') throw tenantSuspended(state);
  };
  return {
    assert: (_, clientId) =>
      whenKnown(epochs, (epochsNow) => {
        const known = held.get(clientId);
        const scope = known?.scope ?? scopes.tenant(clientId);
        const mark = epochsNow.markOf([scope]);
        if (known?.mark === mark) return decide(known);
        return flight(`${mark} ${clientId}`, () => read(clientId, scope, mark)).then(decide);
      }),
    generationOf: (clientId) => held.get(clientId)?.generation ?? '0',
    forget: (clientId) => Number(held.delete(clientId)),
  };
};

/** All of them, in this order; at once where each answers at once. */
export const allAccessChecks = ([first, ...others]: readonly AssertAccess[]): AssertAccess => {
  if (first === undefined) return () => {};
  const rest = allAccessChecks(others);
  return (session, clientId) => {
    const later = first(session, clientId);
    return later === undefined ? rest(session, clientId) : later.then(() => rest(session, clientId));
  };
};

/**
 * Refuses sessions from before a revocation of their user, or of everybody's sessions. A session that does not say since when it is
 * there is taken for an older one, and one within the difference of the clocks too: who logs in after that is let in.
 */
export const createSessionAccess =
  ({ epochs, scopes }: { readonly epochs: Pick<Epochs, 'current'>; readonly scopes: Scopes }): AssertAccess =>
  ({ issuedAtMs, userIdentifier }, clientId) =>
    whenKnown(epochs, (known) => {
      const revokedAtMs = known.revokedAtMs([scopes.all, ...scopes.ofSubject({ clientId, userIdentifier })]);
      if (revokedAtMs !== null && (issuedAtMs === null || issuedAtMs <= revokedAtMs)) refuseRevoked();
    });
