/**
 * The end of a tenant's tokens, by the same way as an operator's revocation: what the service cannot be told now is noted in the
 * ledger, so that it is told even where the event that asked for it never comes again.
 */

import type { Erased, Eraser } from '../common/eraser.js';
import { tenantBusy } from '../lease/tenant-lock.js';
import type { Ledger } from '../ledger/ledger.js';
import { type PendingRow, takePendingOf } from '../ledger/pending-revocations.js';
import type { RevocationAnswer, Revocations } from '../revocation/revocations.js';
import { unavailable } from '../upstream/unavailable.js';

export type TenantRevocation = {
  /** Ends every guest token of the client. Rejects with UPSTREAM_UNAVAILABLE where the service could not be told yet. */
  readonly revoke: (clientId: string) => Promise<Erased>;
  /** The same, where it was noted with the tenant's state. */
  readonly resume: (noted: PendingRow) => Promise<Erased>;
};

const why = { reason: 'the tenant was suspended or deleted' };

const erasedBy = ({ service, revoked }: RevocationAnswer): Erased => {
  if (service === 'pending') {
    throw unavailable('revocation-pending', new Error('the service could not be told to revoke'));
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

/** As the report of an erasure names it. */
export const guestTokens = 'guest tokens';

/**
 * The first of all erasers: tokens end before the data that they open is deleted. It also ends the revocations of the tenant's users that
 * are not done yet, and waits for those that another process is sending to the service: each of them names the tenant there.
 */
export const createRevocationEraser = (ledger: Ledger, { revoke }: Pick<TenantRevocation, 'revoke'>): Eraser => ({
  where: guestTokens,
  erase: async ({ clientId }) => {
    const pending = await takePendingOf(ledger, clientId);
    if (pending === null) throw tenantBusy('tenant-revocation-under-way');
    const { erased, left = [] } = await revoke(clientId);
    return { erased: pending === 0 ? erased : { ...erased, 'pending revocations': pending }, left };
  },
});
