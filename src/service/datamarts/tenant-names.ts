/** Which clients there are, and their names. A datasource that is slow or away must not delay a list of clients: the answer then has none. */
import type { Datamart } from '../../model/datamart/datamart.js';
import { type FoundTenant, namesAtOnce, type TenantNames } from '../../model/datamart/tenant-name.js';
import type { ApiKeyCaller } from '../../model/guest/caller.js';
import type { Datasource } from '../../model/organization.js';
import type { Engine, RequestSignal, TenantNamesQuestion } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import type { Store } from '../store/store.js';
import { findOfDatasource } from './of-datasource.js';
import { unknownDatamart } from './tenancy.js';

type Deps = {
  readonly store: Pick<Store, 'datasources' | 'datamarts'>;
  readonly engine: Pick<Engine, 'tenantNames'>;
};

type MasterTenancy = Extract<Datamart['tenancy'], { readonly tenancyLevel: 'TABLE' }>;

/**
 * The clients of the datasource's master table. Undefined: the datasource did not answer in time, or refused. The engine
 * has logged why.
 */
export const readMasterNames = async (
  { engine }: Pick<Deps, 'engine'>,
  datasource: Datasource,
  { schemaName, tableName, clientColumnType, ...columns }: MasterTenancy,
  asked: Pick<TenantNamesQuestion, 'wanted' | 'timeoutMs'>,
  signal: RequestSignal,
): Promise<readonly FoundTenant[] | undefined> => {
  const [keyColumn, nameColumn] = [columns.tablePrimaryKeyColumn, columns.tableClientNameColumn];
  const master = { schemaName, tableName, keyColumn, nameColumn, clientColumnType };
  try {
    return await engine.tenantNames({ datasource, master, limit: namesAtOnce, ...asked }, signal);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
};

type Asked = {
  readonly datamartName: string;
  readonly datasourceName?: string | undefined;
  readonly clientIds?: readonly string[] | undefined;
  readonly words?: readonly string[] | undefined;
  readonly timeoutMs: number;
};

const wantedOf = ({ clientIds, words }: Asked): TenantNamesQuestion['wanted'] =>
  clientIds === undefined ? { by: 'name', words: words ?? [] } : { by: 'id', clientIds: [...new Set(clientIds)] };

/**
 * The datamart that a token reads which names the datasource, for an embed of the named datamart. Undefined: none. Throws
 * INVALID_DATAMART or DATASOURCE_NAME_ERROR.
 */
const findDatamart = async (
  { datamarts, datasources }: Deps['store'],
  { datamartName, datasourceName }: Asked,
): Promise<Datamart | undefined> => {
  const datamart = await datamarts.findByName(datamartName);
  if (datamart === undefined) throw unknownDatamart(datamartName);
  if (datasourceName === undefined) return datamart;
  const datasource = await datasources.findByName(datasourceName);
  if (datasource === undefined)
    throw new Refusal('DATASOURCE_NAME_ERROR', `There is no datasource named ${JSON.stringify(datasourceName)}.`);
  return findOfDatasource(datamarts, datasource.id, datamart);
};

/**
 * Returns the clients that the datamart's master table has, with their names. Throws INVALID_DATAMART or
 * DATASOURCE_NAME_ERROR.
 */
export const listTenantNames =
  ({ store, engine }: Deps) =>
  async (_caller: ApiKeyCaller, asked: Asked, signal: RequestSignal): Promise<TenantNames> => {
    const datamart = await findDatamart(store, asked);
    const tenancy = datamart?.tenancy;
    const datasource = datamart === undefined ? undefined : await store.datasources.findById(datamart.datasourceId);
    if (tenancy?.tenancyLevel !== 'TABLE' || datasource === undefined)
      return { column: null, found: [], isWhole: true };
    const question = { wanted: wantedOf(asked), timeoutMs: asked.timeoutMs };
    const found = await readMasterNames({ engine }, datasource, tenancy, question, signal);
    const { schemaName, tableName, tableClientNameColumn: columnName } = tenancy;
    const column = { schemaName, tableName, columnName };
    return { column, found: found ?? [], isWhole: found !== undefined };
  };
