/** Erasing a client of a data app: a customer has left, or asks for it. */
import type { ApiKeyCaller } from '../domain/caller.js';
import type { Engine, ErasedClient, Store } from '../domain/ports.js';

/** Everything that the key's own data app holds for the client. A client that it does not know has nothing to erase. */
export const eraseClient =
  ({ store, engine }: { readonly store: Pick<Store, 'clients'>; readonly engine: Pick<Engine, 'forgetClient'> }) =>
  async ({ dataAppId }: ApiKeyCaller, { clientId }: { readonly clientId: string }): Promise<ErasedClient> => {
    const erased = await store.clients.erase(dataAppId, clientId);
    // Also where there was nothing to erase: rows may be kept of a client that has nothing else here.
    await engine.forgetClient(dataAppId, clientId);
    return erased;
  };
