/** Erasing a client of a data app: a customer has left, or asks for it. */
import type { ApiKeyCaller } from '../domain/guest/caller.js';
import type { Engine } from '../domain/query/engine.js';
import type { ErasedClient } from '../domain/store/organization.js';
import type { Store } from '../domain/store/store.js';

/** Everything that the key's own data app holds for the client. A client that it does not know has nothing to erase. */
export const eraseClient =
  ({ store, engine }: { readonly store: Pick<Store, 'clients'>; readonly engine: Pick<Engine, 'forgetClient'> }) =>
  async ({ dataAppId }: ApiKeyCaller, { clientId }: { readonly clientId: string }): Promise<ErasedClient> => {
    const erased = await store.clients.erase(dataAppId, clientId);
    // Also where there was nothing to erase: rows may be kept of a client that has nothing else here.
    await engine.forgetClient(dataAppId, clientId);
    return erased;
  };
