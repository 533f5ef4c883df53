/** Whether a user and a tenant may have tokens at all just now, whatever the policy grants. */
import type { Scopes } from './epoch-scopes.js';
import type { Epochs } from './epochs.js';
import { refuseRevoked, type Session } from './identity.js';

/** Throws TENANT_SUSPENDED for a tenant that is suspended or deleted, SESSION_INVALID for a session that was revoked. */
export type Standing = (session: Session, clientId: string) => Promise<void> | void;

/** All of them, in this order. */
export const createStanding =
  (checks: readonly Standing[]): Standing =>
  async (session, clientId) => {
    for (const check of checks) await check(session, clientId);
  };

/**
 * Refuses sessions from before a revocation of their user, or of everybody's sessions. A session that does not say since when it is
 * there is taken for an older one, and one within the difference of the clocks too: who logs in after that is let in.
 */
export const createSessionStanding =
  ({ epochs, scopes }: { readonly epochs: Epochs; readonly scopes: Scopes }): Standing =>
  async ({ issuedAtMs, userIdentifier }, clientId) => {
    const known = await epochs.current();
    const revokedAtMs = known.revokedAtMs([scopes.all, ...scopes.ofSubject({ clientId, userIdentifier })]);
    if (revokedAtMs !== null && (issuedAtMs === null || issuedAtMs <= revokedAtMs)) refuseRevoked();
  };
