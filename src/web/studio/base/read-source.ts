/** Asks the service about a source: what it has, and how often values of its columns repeat. */
import type { Api } from './api.js';
import type { Checked, End, Ends } from './cardinality.js';
import { keyOf, type StoredModel } from './model-edit.js';
import type { Catalogue } from './source-tables.js';

export const readCatalogue = async (api: Api, name: string, signal?: AbortSignal): Promise<Catalogue> => {
  const given = signal === undefined ? {} : { signal };
  const { data } = await api.call<{ data: Catalogue }>('GET', 'datasource/tables', { query: { name }, ...given });
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
    const { schemaName, tableName } = datamartTables.find((one) => keyOf(one) === table) ?? {};
    return { schemaName, tableName, columnName };
  };
  const body = { name, from: placeOf(from), to: placeOf(to) };
  const { data } = await api.call<{ data: Checked }>('POST', 'datasource/columns/compare', { body });
  return data;
};
