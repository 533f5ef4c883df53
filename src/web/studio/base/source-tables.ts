/** What a source has, and what the service proposes about it. */
import type { Relationship } from './relationship.js';

export type SourceColumn = { readonly columnName: string; readonly datatype: string; readonly kind: string };
export type SourceTable = {
  readonly schemaName: string;
  readonly tableName: string;
  readonly estimatedRows: number | null;
  readonly columns: readonly SourceColumn[];
  readonly primaryKey: readonly string[];
  readonly uniqueKeys: readonly (readonly string[])[];
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
