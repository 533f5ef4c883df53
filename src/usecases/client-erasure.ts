/** Erasing a client of a data app: a customer has left, or asks for it. */
import type { ApiKeyCaller } from '../domain/caller.js';
import type { ErasedClient, Store } from '../domain/ports.js';

/** Everything that the key's own data app holds for the client. A client that it does not know has nothing to erase. */
export const eraseClient =
  ({ store }: { readonly store: Pick<Store, 'clients'> }) =>
  ({ dataAppId }: ApiKeyCaller, { clientId }: { readonly clientId: string }): Promise<ErasedClient> =>
    store.clients.erase(dataAppId, clientId);
