/** What a source has, and what the service proposes about it. */
import type { Api } from './api.js';
import type { Relationship } from './relationship.js';

export type SourceColumn = { readonly columnName: string; readonly datatype: string; readonly kind: string };
export type SourceTable = {
  readonly schemaName: string;
  readonly tableName: string;
  readonly estimatedRows: number | null;
  readonly columns: readonly SourceColumn[];
  readonly primaryKey: readonly string[];
};
export type Catalogue = {
  readonly name: string;
  readonly datasourceType: string;
  readonly tables: readonly SourceTable[];
  readonly proposals: {
    readonly relationships: readonly {
      readonly relationship: Relationship;
      readonly basis: string;
      readonly reason: string;
    }[];
    readonly tenantTables: readonly {
      readonly schemaName: string;
      readonly tableName: string;
      readonly keyColumn: string;
      readonly nameColumn: string | null;
      readonly reason: string;
    }[];
    readonly clientColumns: readonly {
      readonly schemaName: string;
      readonly tableName: string;
      readonly columnName: string;
      readonly tenantTable: string;
      readonly reason: string;
    }[];
  };
};

export const readCatalogue = async (api: Api, name: string, signal?: AbortSignal): Promise<Catalogue> => {
  const given = signal === undefined ? {} : { signal };
  const { data } = await api.call<{ data: Catalogue }>('GET', 'datasource/tables', { query: { name }, ...given });
  return data;
};
