/** Operations 5, 6 and 7, and the listing of data apps. */
import type { Embed } from '../domain/dashboard/embed.js';
import type { ApiKeyCaller, ServiceCaller } from '../domain/guest/caller.js';
import type { DataApp } from '../domain/organization.js';
import type { Clock, Ids } from '../domain/ports.js';
import type { Engine } from '../domain/query/engine.js';
import { Refusal } from '../domain/refusal.js';
import type { ErasedClient } from '../domain/store/organization.js';
import type { Store } from '../domain/store/store.js';
import { pageOf } from './paging.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids };

const alreadyExists = (name: string): Refusal =>
  new Refusal(
    'DATA_APP_ALREADY_EXISTS',
    `A data app named ${JSON.stringify(name)} exists already; choose another name.`,
  );

const notFound = (name: string): Refusal =>
  new Refusal(
    'DATA_APP_NOT_FOUND',
    `There is no data app named ${JSON.stringify(name)}; list them by GET /api/v2/data-app.`,
  );

/** The data app of that name; `held`: it can't be deleted until the transaction of `store` ends. Throws DATA_APP_NOT_FOUND. */
export const loadDataApp = async (store: Store, name: string, how?: 'held'): Promise<DataApp> => {
  const dataApp = await store.dataApps.findByName(name);
  if (dataApp === undefined || (how === 'held' && !(await store.dataApps.hold(dataApp.id)))) throw notFound(name);
  return dataApp;
};

/** Keeps the key's data app from being deleted until the transaction ends. Throws INVALID_REQUEST_BODY where it is gone by now. */
export const holdDataApp = async (store: Store, { dataAppId }: ApiKeyCaller): Promise<void> => {
  if (await store.dataApps.hold(dataAppId)) return;
  throw new Refusal('INVALID_REQUEST_BODY', 'The data app was deleted meanwhile.', { reason: 'deleted-meanwhile' });
};

/** Operation 5. Throws DATA_APP_ALREADY_EXISTS; of two simultaneous calls with one name, one succeeds. */
export const createDataApp =
  ({ store, clock, ids }: Deps) =>
  async (_caller: ServiceCaller, { name }: { readonly name: string }): Promise<DataApp> => {
    const now = clock.now();
    const dataApp: DataApp = { id: ids.uuid(), name, createdAt: now, updatedAt: now };
    if (!(await store.dataApps.insert(dataApp))) throw alreadyExists(name);
    return dataApp;
  };

/** Operation 6. Its keys and tokens stay what they are. Throws DATA_APP_NOT_FOUND or DATA_APP_ALREADY_EXISTS. */
export const updateDataApp =
  ({ store, clock }: Pick<Deps, 'store' | 'clock'>) =>
  async (
    _caller: ServiceCaller,
    { name, updateName }: { readonly name: string; readonly updateName: string },
  ): Promise<DataApp> => {
    const there = await loadDataApp(store, name);
    const dataApp: DataApp = { ...there, name: updateName, updatedAt: clock.now() };
    const outcome = await store.dataApps.rename(there, dataApp);
    if (outcome === 'gone') throw notFound(name);
    if (outcome === 'taken') throw alreadyExists(updateName);
    return dataApp;
  };

/** Operation 7. Everything that belongs to it goes with it, in one statement. Throws DATA_APP_NOT_FOUND. */
export const deleteDataApp =
  ({ store, engine }: Pick<Deps, 'store'> & { readonly engine: Pick<Engine, 'forgetClient'> }) =>
  async (_caller: ServiceCaller, { name }: { readonly name: string }): Promise<DataApp> => {
    const dataApp = await loadDataApp(store, name);
    if (!(await store.dataApps.delete(dataApp.id))) throw notFound(name);
    await engine.forgetClient(dataApp.id, null);
    return dataApp;
  };

export type ListedDataApp = { readonly dataApp: DataApp; readonly embeds: readonly Embed[] };

/** By name, each with its embeds. */
export const listDataApps =
  ({ store }: Pick<Deps, 'store'>) =>
  async (
    _caller: ServiceCaller,
    paging: { readonly isPagination: boolean; readonly pageNumber: number },
  ): Promise<readonly ListedDataApp[]> => {
    const dataApps = await store.dataApps.list(pageOf(paging));
    return Promise.all(
      dataApps.map(async (dataApp) => ({ dataApp, embeds: await store.embeds.listByDataApp(dataApp.id, null) })),
    );
  };

/** Everything that the key's own data app holds for the client. A client that it does not know has nothing to erase. */
export const eraseClient =
  ({ store, engine }: { readonly store: Pick<Store, 'clients'>; readonly engine: Pick<Engine, 'forgetClient'> }) =>
  async ({ dataAppId }: ApiKeyCaller, { clientId }: { readonly clientId: string }): Promise<ErasedClient> => {
    const erased = await store.clients.erase(dataAppId, clientId);
    // Also where there was nothing to erase: rows may be kept of a client that has nothing else here.
    await engine.forgetClient(dataAppId, clientId);
    return erased;
  };
