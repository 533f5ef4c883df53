/** Lists what end users' filters may name. */
import { type Datamart, visibleDatamart } from '../../model/datamart/datamart.js';
import type { ApiKeyCaller, ServiceCaller } from '../../model/guest/caller.js';
import type { Store } from '../store/store.js';
import { unknownDatamart } from './tenancy.js';

/** Returns the datamart without its hidden tables and columns. Throws INVALID_DATAMART. */
export const listDatamartColumns =
  ({ store }: { readonly store: Pick<Store, 'datamarts'> }) =>
  async (
    _caller: ApiKeyCaller | ServiceCaller,
    { datamartName }: { readonly datamartName: string },
  ): Promise<Datamart> => {
    const datamart = await store.datamarts.findByName(datamartName);
    if (datamart === undefined) throw unknownDatamart(datamartName);
    return visibleDatamart(datamart);
  };
