import { type TableRef, tableKey } from '../../model/datamart/datamart.js';
import { sourceKind } from '../../model/datamart/datatypes.js';
import type { SourceTable, SourceTableKind } from '../../model/datamart/source-schema.js';
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

type Described = { readonly kind: SourceTableKind; readonly estimatedRows: number | null };

const emptyTable = (ref: TableRef, described: Described): Draft => ({
  ...ref,
  columns: [],
  primaryKey: [],
  uniqueKeys: [],
  foreignKeys: [],
  ...described,
});

const kinds: readonly SourceTableKind[] = ['table', 'view', 'partition'];
const unlisted: Described = { kind: 'table', estimatedRows: null };

const describedBy = (rows: readonly (readonly Cell[])[]): ReadonlyMap<string, Described> =>
  new Map(
    rows.map(([schema, table, count, kind]) => [
      tableKey({ schemaName: String(schema), tableName: String(table) }),
      {
        kind: kinds.find((one) => one === kind) ?? 'table',
        estimatedRows: count === null || count === undefined ? null : Number(count),
      },
    ]),
  );

/**
 * Builds tables. `columns` are rows of schema, table, column, datatype and nullability, in the wanted order. `described` are rows of
 * schema, table, estimated number of rows and kind.
 */
export const buildSourceTables = (
  database: DatasourceType,
  columns: readonly (readonly Cell[])[],
  keys: readonly SourceKey[],
  described: readonly (readonly Cell[])[],
): readonly SourceTable[] => {
  const known = describedBy(described);
  const tables = new Map<string, Draft>();
  for (const [schema, table, column, datatype, isNullable] of columns) {
    const ref = { schemaName: String(schema), tableName: String(table) };
    const draft = tables.get(tableKey(ref)) ?? emptyTable(ref, known.get(tableKey(ref)) ?? unlisted);
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
