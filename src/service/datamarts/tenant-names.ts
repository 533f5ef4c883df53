/** Names of clients. A datasource that is slow or away must not delay a list of clients: the answer then has no names. */
import { namesAtOnce, type TenantName, type TenantNames } from '../../model/datamart/tenant-name.js';
import type { ApiKeyCaller } from '../../model/guest/caller.js';
import type { Engine, RequestSignal, TenantNamesQuestion } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import type { Store } from '../store/store.js';
import { unknownDatamart } from './tenancy.js';

type Deps = {
  readonly store: Pick<Store, 'datasources' | 'datamarts'>;
  readonly engine: Pick<Engine, 'tenantNames'>;
};

/** Undefined: the datasource did not answer in time, or refused. The engine has logged why. */
const readNames = async (
  { tenantNames }: Deps['engine'],
  question: TenantNamesQuestion,
  signal: RequestSignal,
): Promise<readonly TenantName[] | undefined> => {
  try {
    return await tenantNames(question, signal);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
};

type Asked = {
  readonly datamartName: string;
  readonly clientIds?: readonly string[] | undefined;
  readonly words?: readonly string[] | undefined;
};

const wantedOf = ({ clientIds, words }: Asked): TenantNamesQuestion['wanted'] =>
  clientIds === undefined ? { by: 'name', words: words ?? [] } : { by: 'id', clientIds: [...new Set(clientIds)] };

/** Returns the names that the datamart's master table has of the clients. Throws INVALID_DATAMART. */
export const listTenantNames =
  ({ store, engine }: Deps) =>
  async (_caller: ApiKeyCaller, asked: Asked, signal: RequestSignal): Promise<TenantNames> => {
    const datamart = await store.datamarts.findByName(asked.datamartName);
    if (datamart === undefined) throw unknownDatamart(asked.datamartName);
    const { tenancy, datasourceId } = datamart;
    const datasource = await store.datasources.findById(datasourceId);
    if (tenancy?.tenancyLevel !== 'TABLE' || datasource === undefined)
      return { column: null, names: [], isWhole: true };
    const { schemaName, tableName, clientColumnType } = tenancy;
    const [keyColumn, nameColumn] = [tenancy.tablePrimaryKeyColumn, tenancy.tableClientNameColumn];
    const master = { schemaName, tableName, keyColumn, nameColumn, clientColumnType };
    const question = { datasource, master, wanted: wantedOf(asked), limit: namesAtOnce };
    const names = await readNames(engine, question, signal);
    const column = { schemaName, tableName, columnName: nameColumn };
    return { column, names: names ?? [], isWhole: names !== undefined };
  };
