/** Holds of clients, as gateways set them. */
import type { ApiKeyCaller } from '../../model/guest/caller.js';
import type { Store } from '../store/store.js';

/** Replaces the holds of the gateway in the key's own data app. An older version changes nothing. Returns the version in force. */
export const holdClients =
  ({ store }: { readonly store: Pick<Store, 'retention'> }) =>
  async (
    { dataAppId, gateway }: ApiKeyCaller,
    {
      version,
      isAll,
      clientIds,
    }: { readonly version: string; readonly isAll: boolean; readonly clientIds: readonly string[] },
  ): Promise<{ readonly version: string }> => ({
    version: await store.retention.hold({ dataAppId, gateway: gateway ?? '', version, isAll, clientIds }),
  });
