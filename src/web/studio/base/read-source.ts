/** Asks the service about a source: what it has, and how often values of its columns repeat. */
import type { Api } from './api.js';
import type { Checked, End, Ends } from './cardinality.js';
import { keyOf, type StoredModel } from './model-edit.js';
import type { Catalogue } from './source-tables.js';

export const readCatalogue = async (api: Api, name: string, signal?: AbortSignal): Promise<Catalogue> => {
  const { data } = await api.call('listDatasourceTables', { name }, signal);
  return data;
};

/** Counts the values that repeat in two columns, in the rows of all tenants. */
export const countRepeats = async (
  api: Api,
  name: string,
  { datamartTables }: Pick<StoredModel, 'datamartTables'>,
  { from, to }: Ends,
): Promise<Checked> => {
  const placeOf = ({ table, column: columnName }: End) => {
    const { schemaName = '', tableName = '' } = datamartTables.find((one) => keyOf(one) === table) ?? {};
    return { schemaName, tableName, columnName };
  };
  const { data } = await api.call('compareDatasourceColumns', { name, from: placeOf(from), to: placeOf(to) });
  return data;
};
