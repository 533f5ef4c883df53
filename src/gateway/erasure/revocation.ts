/**
 * The end of a tenant's tokens, by the same way as an operator's revocation: what the service cannot be told now is noted in the
 * ledger, so that it is told even where the event that asked for it never comes again.
 */
import type { Ledger } from '../ledger/ledger.js';
import { deletePendingOf } from '../ledger/pending-revocations.js';
import type { Revocations } from '../tokens/revocations.js';
import { unavailable } from '../upstream/unavailable.js';
import type { Erased, Eraser } from './eraser.js';

/** Ends every guest token of the client. Rejects with UPSTREAM_UNAVAILABLE where the service could not be told yet. */
export type RevokeTenant = (clientId: string) => Promise<Erased>;

export const createTenantRevocation =
  ({ revoke }: Pick<Revocations, 'revoke'>): RevokeTenant =>
  async (clientId) => {
    const { service, revoked } = await revoke(
      { by: 'tenant', clientId },
      { reason: 'the tenant was suspended or deleted' },
    );
    if (service === 'pending') {
      throw unavailable('revocation-pending', new Error('the service could not be told to revoke'));
    }
    return service === 'done'
      ? { erased: { 'revoked guest tokens': revoked ?? 0 } }
      : { erased: {}, left: ['guest tokens until they expire: this service has no operation that revokes them'] };
  };

/** Comes first of all erasers: tokens end before what they open goes. What is still owed of the tenant's users is done with it. */
export const createRevocationEraser = (ledger: Ledger, revoke: RevokeTenant): Eraser => ({
  where: 'guest tokens',
  erase: async ({ clientId }) => {
    const { erased, left = [] } = await revoke(clientId);
    const pending = await deletePendingOf(ledger, clientId);
    return { erased: pending === 0 ? erased : { ...erased, 'pending revocations': pending }, left };
  },
});
