/** Whether a user and a tenant may have tokens at all just now, whatever the policy grants. */
import type { Session } from './identity.js';

/** Throws TENANT_SUSPENDED for a tenant that is suspended or deleted, SESSION_INVALID for a session that was revoked. */
export type Standing = (session: Session, clientId: string) => Promise<void> | void;

/** Everybody stands. */
export const createStanding = (): Standing => () => {};
