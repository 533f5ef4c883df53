/** Data apps: operations 5, 6 and 7, the list of data apps, and the erasure of a client. */
import type { Embed } from '../../model/dashboard/embed.js';
import type { ApiKeyCaller, ServiceCaller } from '../../model/guest/caller.js';
import type { DataApp, ErasedClient } from '../../model/organization.js';
import { pageOf } from '../../model/page.js';
import type { Clock, Ids } from '../../model/ports.js';
import type { Engine } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import { type Slices, whole } from '../../model/slices.js';
import type { Store } from '../store/store.js';

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

/**
 * Returns the data app of that name. `held`: it cannot be deleted until the transaction of `store` ends. Throws
 * DATA_APP_NOT_FOUND.
 */
export const loadDataApp = async (store: Store, name: string, how?: 'held'): Promise<DataApp> => {
  const dataApp = await store.dataApps.findByName(name);
  if (dataApp === undefined || (how === 'held' && !(await store.dataApps.hold(dataApp.id)))) throw notFound(name);
  return dataApp;
};

/**
 * Prevents deletion of the key's data app until the transaction ends. Throws INVALID_REQUEST_BODY if it was deleted.
 */
export const holdDataApp = async (store: Store, { dataAppId }: ApiKeyCaller): Promise<void> => {
  if (await store.dataApps.hold(dataAppId)) return;
  throw new Refusal('INVALID_REQUEST_BODY', 'The data app was deleted meanwhile.', { reason: 'deleted-meanwhile' });
};

/**
 * Operation 5. Throws DATA_APP_ALREADY_EXISTS if the name is taken: of two simultaneous calls with one name, one
 * succeeds.
 */
export const createDataApp =
  ({ store, clock, ids }: Deps) =>
  async (_caller: ServiceCaller, { name }: { readonly name: string }): Promise<DataApp> => {
    const now = clock.now();
    const dataApp: DataApp = { id: ids.uuid(), name, createdAt: now, updatedAt: now };
    if (!(await store.dataApps.insert(dataApp))) throw alreadyExists(name);
    return dataApp;
  };

/**
 * Operation 6. Renames a data app; its keys and tokens stay valid. Throws DATA_APP_NOT_FOUND or
 * DATA_APP_ALREADY_EXISTS.
 */
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

/** Operation 7. Deletes the data app and everything that belongs to it, in one statement. Throws DATA_APP_NOT_FOUND. */
export const deleteDataApp =
  ({ store, engine }: Pick<Deps, 'store'> & { readonly engine: Pick<Engine, 'forgetClient'> }) =>
  async (_caller: ServiceCaller, { name }: { readonly name: string }): Promise<DataApp> => {
    const dataApp = await loadDataApp(store, name);
    if (!(await store.dataApps.delete(dataApp.id))) throw notFound(name);
    await engine.forgetClient(dataApp.id, null);
    return dataApp;
  };

export type ListedDataApp = { readonly dataApp: DataApp; readonly embeds: readonly Embed[] };

/** The embeds of one data app at a time are in memory. */
async function* withEmbeds(
  { embeds }: Pick<Store, 'embeds'>,
  dataApps: Slices<DataApp>,
): AsyncGenerator<readonly ListedDataApp[]> {
  for await (const slice of dataApps) {
    for (const dataApp of slice) yield [{ dataApp, embeds: await whole(embeds.listByDataApp(dataApp.id, null)) }];
  }
}

/** Returns the data apps with their embeds, ordered by name. */
export const listDataApps =
  ({ store }: Pick<Deps, 'store'>) =>
  async (
    _caller: ServiceCaller,
    paging: { readonly isPagination: boolean; readonly pageNumber: number },
  ): Promise<Slices<ListedDataApp>> =>
    withEmbeds(store, store.dataApps.list(pageOf(paging)));

/**
 * Deletes everything that the key's own data app holds for the client. An unknown client is not an error. Throws
 * INVALID_REQUEST_BODY if a later erasure has been here.
 */
export const eraseClient =
  ({
    store,
    engine,
  }: {
    readonly store: Pick<Store, 'clients'>;
    readonly engine: Pick<Engine, 'forgetClient' | 'eraseFromRollups'>;
  }) =>
  async (
    { dataAppId, gateway }: ApiKeyCaller,
    { clientId, fence }: { readonly clientId: string; readonly fence?: string | undefined },
  ): Promise<ErasedClient> => {
    const fenced = fence === undefined ? undefined : { gateway: gateway ?? null, number: Number(fence) };
    const erased = await store.clients.erase(dataAppId, clientId, fenced);
    if (erased === 'late') {
      const message = 'fence: a process with a larger number has erased this client; this call is late.';
      throw new Refusal('INVALID_REQUEST_BODY', message, { reason: 'erasure-is-late' });
    }
    // Also needed if nothing was erased: rows of the client may be cached although nothing else is stored.
    await engine.forgetClient(dataAppId, clientId);
    // Files of rollups have rows of all clients. An erasure that cannot remove them is not done, and is repeated.
    await engine.eraseFromRollups(clientId);
    return erased;
  };
