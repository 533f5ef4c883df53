import type { ServiceCaller } from '../domain/caller.js';
import type { DataApp } from '../domain/organization.js';
import type { Clock, Ids, Store } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids };

/** Operation 5. Throws DATA_APP_ALREADY_EXISTS; of two simultaneous calls with one name, one succeeds. */
export const createDataApp =
  ({ store, clock, ids }: Deps) =>
  async (_caller: ServiceCaller, { name }: { readonly name: string }): Promise<DataApp> => {
    const now = clock.now();
    const dataApp: DataApp = { id: ids.uuid(), name, createdAt: now, updatedAt: now };
    if (!(await store.dataApps.insert(dataApp))) {
      throw new Refusal(
        'DATA_APP_ALREADY_EXISTS',
        `A data app named ${JSON.stringify(name)} exists already; choose another name.`,
      );
    }
    return dataApp;
  };
