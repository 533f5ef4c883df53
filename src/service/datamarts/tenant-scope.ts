/** Loads the tenant scope of a client's queries on a datamart. */
import type { Datamart } from '../../model/datamart/datamart.js';
import { type ClientDatabase, type TenantScope, tenantScope } from '../../model/datamart/tenant.js';
import type { ContentStore } from '../store/content.js';

const findListed = async (
  store: Pick<ContentStore, 'datasources'>,
  { tenancy, datasourceId }: Datamart,
  clientId: string,
): Promise<ClientDatabase | undefined> =>
  tenancy === null || tenancy.tenancyLevel === 'TABLE'
    ? undefined
    : store.datasources.findClientDatabase(datasourceId, tenancy.tenancyLevel, clientId);

/**
 * Returns the client's scope in the datamart. A client database is taken only from the datasource's synced list, by
 * exact match. Throws CLIENT_ID_ERROR if id and datamart do not fit.
 */
export const loadTenantScope = async (
  store: Pick<ContentStore, 'datasources'>,
  datamart: Datamart,
  clientId: string,
): Promise<TenantScope> => tenantScope(datamart, clientId, await findListed(store, datamart, clientId));
