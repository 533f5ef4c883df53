/**
 * Revokes all tokens of a tenant, like an operator's revocation. If the service cannot be reached, the revocation stays
 * in the ledger and is retried, even if the event is never sent again.
 */

import type { Erased, Eraser } from '../common/eraser.js';
import { tenantBusy } from '../lease/tenant-lock.js';
import type { Ledger } from '../ledger/ledger.js';
import { type PendingRow, takePendingOf } from '../ledger/pending-revocations.js';
import type { RevocationAnswer, Revocations } from '../revocation/revocations.js';
import { unavailable } from '../upstream/unavailable.js';

export type TenantRevocation = {
  /** Revokes every guest token of the client. Rejects with UPSTREAM_UNAVAILABLE if the service cannot be reached. */
  readonly revoke: (clientId: string) => Promise<Erased>;
  /** As `revoke`, for a revocation that was stored together with the tenant's state. */
  readonly resume: (noted: PendingRow) => Promise<Erased>;
};

const why = { reason: 'the tenant was suspended or deleted' };

const erasedBy = ({ service, revoked }: RevocationAnswer): Erased => {
  if (service === 'pending') {
    throw unavailable('revocation-pending', new Error('the service could not be reached to revoke tokens'));
  }
  return service === 'done'
    ? { erased: { 'revoked guest tokens': revoked ?? 0 } }
    : { erased: {}, left: ['guest tokens until they expire: this service has no operation that revokes them'] };
};

export const createTenantRevocation = ({
  revoke,
  resume,
}: Pick<Revocations, 'revoke' | 'resume'>): TenantRevocation => ({
  revoke: async (clientId) => erasedBy(await revoke({ by: 'tenant', clientId }, why)),
  resume: async (noted) => erasedBy(await resume(noted, why)),
});

/** The name of this storage in an erasure report. */
export const guestTokens = 'guest tokens';

/**
 * The first eraser, so that tokens are revoked before their data is deleted. Also deletes the pending revocations of
 * the tenant's users. Rejects while another process sends one of them to the service, since each contains the clientId.
 */
export const createRevocationEraser = (ledger: Ledger, { revoke }: Pick<TenantRevocation, 'revoke'>): Eraser => ({
  where: guestTokens,
  erase: async ({ clientId }, { write }) => {
    const pending = await write((db) => takePendingOf({ ...ledger, db }, clientId));
    if (pending === null) throw tenantBusy('tenant-revocation-under-way');
    const { erased, left = [] } = await revoke(clientId);
    return { erased: pending === 0 ? erased : { ...erased, 'pending revocations': pending }, left };
  },
});
