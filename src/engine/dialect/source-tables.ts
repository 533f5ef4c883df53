import { type TableRef, tableKey } from '../../model/datamart/datamart.js';
import { sourceKind } from '../../model/datamart/datatypes.js';
import type { SourceTable } from '../../model/datamart/source-schema.js';
import type { DatasourceType } from '../../model/organization.js';
import type { Cell } from '../../model/query/engine.js';
import type { Statement } from './dialect.js';

/** Runs a statement on an open database and returns its rows. */
export type Ask = (text: string, parameters?: Statement['parameters']) => Promise<readonly (readonly Cell[])[]>;

/** A key as a catalog lists it. `references` has a meaning for FOREIGN KEY only. */
export type SourceKey = TableRef & {
  /** `PRIMARY KEY`, `UNIQUE` or `FOREIGN KEY`. */
  readonly kind: string;
  readonly columns: readonly string[];
  readonly references: TableRef;
  readonly referencedColumns: readonly string[];
};

type Draft = {
  -readonly [Name in keyof SourceTable]: SourceTable[Name] extends readonly (infer Item)[] ? Item[] : SourceTable[Name];
};

const emptyTable = (ref: TableRef, estimatedRows: number | null): Draft => ({
  ...ref,
  columns: [],
  primaryKey: [],
  uniqueKeys: [],
  foreignKeys: [],
  estimatedRows,
});

/**
 * Builds tables. `columns` are rows of schema, table, column, datatype and nullability, in the wanted order. `estimates` are rows of
 * schema, table and estimated number of rows.
 */
export const buildSourceTables = (
  database: DatasourceType,
  columns: readonly (readonly Cell[])[],
  keys: readonly SourceKey[],
  estimates: readonly (readonly Cell[])[],
): readonly SourceTable[] => {
  const counts = new Map(
    estimates.map(([schema, table, count]) => [
      tableKey({ schemaName: String(schema), tableName: String(table) }),
      count === null || count === undefined ? null : Number(count),
    ]),
  );
  const tables = new Map<string, Draft>();
  for (const [schema, table, column, datatype, isNullable] of columns) {
    const ref = { schemaName: String(schema), tableName: String(table) };
    const draft = tables.get(tableKey(ref)) ?? emptyTable(ref, counts.get(tableKey(ref)) ?? null);
    draft.columns.push({
      columnName: String(column),
      datatype: String(datatype),
      kind: sourceKind(database, String(datatype)),
      isNullable: isNullable === true,
    });
    tables.set(tableKey(ref), draft);
  }
  for (const { kind, columns: names, references, referencedColumns, ...table } of keys) {
    const draft = tables.get(tableKey(table));
    if (draft === undefined) continue;
    if (kind === 'PRIMARY KEY') draft.primaryKey = [...names];
    else if (kind === 'UNIQUE') draft.uniqueKeys.push(names);
    else draft.foreignKeys.push({ columns: names, references, referencedColumns });
  }
  return [...tables.values()];
};

/** Reads a list that a catalog returns as JSON text. */
export const namesIn = (json: Cell | undefined): readonly string[] => {
  const names: unknown = json === null || json === undefined ? [] : JSON.parse(String(json));
  return Array.isArray(names) ? names.map(String) : [];
};
