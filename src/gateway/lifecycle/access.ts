/** Checks whether a session and its tenant may have tokens. This check precedes the policy. */
import { createLru } from '../../platform/work/lru.js';
import { createSingleFlight } from '../../platform/work/single-flight.js';
import { refuseRevoked, type Session } from '../authenticate/signed-session.js';
import type { ForgetClient } from '../common/eraser.js';
import { tenantSuspended } from '../lease/tenant-lease.js';
import type { TenantState } from '../ledger/ledger.js';
import type { Epochs, KnownEpochs } from '../revocation/epochs.js';
import type { Scope, Scopes } from '../revocation/scopes.js';
import type { TenantRecords } from '../tenant/records.js';
import { unavailable } from '../upstream/unavailable.js';

/** Throws TENANT_SUSPENDED if the tenant is suspended or deleted, and SESSION_INVALID if the session was revoked. */
export type AssertAccess = (session: Session, clientId: string) => Promise<void> | void;

export type TenantAccess = {
  readonly assert: AssertAccess;
  /** As `assert`, for a tenant without a session. */
  readonly assertTenant: (clientId: string) => Promise<void> | void;
  /** Changes whenever the tenant's state changes. Part of the token cache key, so earlier tokens miss. */
  readonly generationOf: (clientId: string) => string;
  /** Deletes this process's copy of the tenant's state. */
  readonly forget: ForgetClient;
};

export type TenantAccessOptions = {
  readonly tenants: Pick<TenantRecords, 'find'>;
  readonly epochs: Pick<Epochs, 'current'>;
  readonly scopes: Pick<Scopes, 'tenant'>;
};

/** A cached tenant state. `mark` is the tenant's epoch in this process's copy before the ledger was read. */
type Held = { readonly state: TenantState; readonly generation: string; readonly mark: string; readonly scope: Scope };

/** Runs the check with the current epochs. Synchronous if this process has them. */
const whenKnown = (
  { current }: Pick<Epochs, 'current'>,
  check: (known: KnownEpochs) => Promise<void> | void,
): Promise<void> | void => {
  const known = current();
  return known instanceof Promise ? known.then(check) : check(known);
};

/**
 * Reads a tenant's state from the ledger once for each value of its epoch, and caches it in this process. This is
 * sufficient, because every change of a tenant's state raises the tenant's epoch in the same transaction.
 */
export const createTenantAccess = ({ tenants, epochs, scopes }: TenantAccessOptions): TenantAccess => {
  const held = createLru<string, Held>(100_000);
  const flight = createSingleFlight<Held>();
  const read = async (clientId: string, scope: Scope, mark: string): Promise<Held> => {
    try {
      const tenant = await tenants.find(clientId);
      // A pending erasure completes before the tenant can sign up again.
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
  const assertTenant: TenantAccess['assertTenant'] = (clientId) =>
    whenKnown(epochs, (epochsNow) => {
      const known = held.get(clientId);
      const scope = known?.scope ?? scopes.tenant(clientId);
      const mark = epochsNow.markOf([scope]);
      if (known?.mark === mark) return decide(known);
      return flight(`${mark} ${clientId}`, () => read(clientId, scope, mark)).then(decide);
    });
  return {
    assert: (_, clientId) => assertTenant(clientId),
    assertTenant,
    generationOf: (clientId) => held.get(clientId)?.generation ?? '0',
    forget: (clientId) => Number(held.delete(clientId)),
  };
};

/** Returns a check that runs all checks in this order. It is synchronous if each of them is. */
export const allAccessChecks = ([first, ...others]: readonly AssertAccess[]): AssertAccess => {
  if (first === undefined) return () => {};
  const rest = allAccessChecks(others);
  return (session, clientId) => {
    const later = first(session, clientId);
    return later === undefined ? rest(session, clientId) : later.then(() => rest(session, clientId));
  };
};

/**
 * Refuses sessions that were issued before a revocation of their user, or of all sessions. A session without an issue
 * time counts as older. A new session can be refused too if the issuer's clock is behind; a later login is accepted.
 */
export const createSessionAccess =
  ({ epochs, scopes }: { readonly epochs: Pick<Epochs, 'current'>; readonly scopes: Scopes }): AssertAccess =>
  ({ issuedAtMs, userIdentifier }, clientId) =>
    whenKnown(epochs, (known) => {
      const revokedAtMs = known.revokedAtMs([scopes.all, ...scopes.ofSubject({ clientId, userIdentifier })]);
      if (revokedAtMs !== null && (issuedAtMs === null || issuedAtMs <= revokedAtMs)) refuseRevoked();
    });
