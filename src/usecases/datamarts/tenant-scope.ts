/** Whose rows a client's questions to a datamart read. */
import type { Datamart } from '../../domain/datamart/datamart.js';
import { type ClientDatabase, type TenantScope, tenantScope } from '../../domain/datamart/tenant.js';
import type { ContentStore } from '../../domain/store/store.js';

const findListed = async (
  store: Pick<ContentStore, 'datasources'>,
  { tenancy, datasourceId }: Datamart,
  clientId: string,
): Promise<ClientDatabase | undefined> =>
  tenancy === null || tenancy.tenancyLevel === 'TABLE'
    ? undefined
    : store.datasources.findClientDatabase(datasourceId, tenancy.tenancyLevel, clientId);

/**
 * The client's scope in the datamart. A whole database of a client's is taken from the datasource's synced list alone, by exact match. Throws
 * CLIENT_ID_ERROR where id and datamart do not fit.
 */
export const loadTenantScope = async (
  store: Pick<ContentStore, 'datasources'>,
  datamart: Datamart,
  clientId: string,
): Promise<TenantScope> => tenantScope(datamart, clientId, await findListed(store, datamart, clientId));
