/** What a source has, and what the service proposes about it. */
import type { Api, OperationAnswer } from './api.js';

export type Catalogue = OperationAnswer<'listDatasourceTables'>['data'];
export type SourceTable = Catalogue['tables'][number];
export type SourceColumn = SourceTable['columns'][number];

export const readCatalogue = async (api: Api, name: string, signal?: AbortSignal): Promise<Catalogue> => {
  const { data } = await api.call('listDatasourceTables', { name }, signal);
  return data;
};
