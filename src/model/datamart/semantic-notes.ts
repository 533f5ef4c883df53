/** Checks notes about a datamart's tables as a caller sends them, and merges them into the semantic layer. */
import { assertNoFaults, faultOf, repeatedAt } from '../faults.js';
import { Refusal } from '../refusal.js';
import { type Datamart, type DatamartTable, tableKey } from './datamart.js';
import { type NamedTables, nameTables } from './relationships.js';
import {
  type ColumnNotes,
  columnTypeNames,
  findDuplicateSynonym,
  fitsColumnType,
  mergeTable,
  type SemanticLayer,
  type SemanticTable,
  type TableNotes,
  viewSemanticTables,
} from './semantic-layer.js';

const loadTable = ({ name }: TableNotes, index: number, tables: NamedTables): DatamartTable => {
  const meant = tables.get(name) ?? [];
  const [table] = meant;
  if (table !== undefined && meant.length === 1) return table;
  const rule = table === undefined ? 'a table of the datamart (case counts)' : 'schema.table, since there are several';
  throw new Refusal('INVALID_TABLE', `${faultOf(`tables[${index}].name`, name, rule)}.`);
};

const assertColumnType = (path: string, columnType: string, column: DatamartTable['columns'][number]): void => {
  if (fitsColumnType(columnType, column)) return;
  const { columnName, datatype } = column;
  const rule = columnTypeNames.includes(columnType)
    ? `a type that goes with datatype ${datatype} of column ${JSON.stringify(columnName)}`
    : `one of ${columnTypeNames.join(', ')}`;
  throw new Refusal('INVALID_COLUMN_TYPE', `${faultOf(`${path}.columnType`, columnType, rule)}.`);
};

const assertColumns = (path: string, notes: readonly ColumnNotes[], table: DatamartTable): void => {
  const columns = new Map(table.columns.map((column) => [column.columnName, column]));
  for (const [index, { name, columnType }] of notes.entries()) {
    const column = columns.get(name);
    if (column === undefined) {
      const rule = `a column of table ${JSON.stringify(table.tableName)} in the datamart (case counts)`;
      throw new Refusal('INVALID_COLUMN', `${faultOf(`${path}.columns[${index}].name`, name, rule)}.`);
    }
    if (columnType != null && columnType !== '') assertColumnType(`${path}.columns[${index}]`, columnType, column);
  }
  assertNoFaults(
    repeatedAt(notes.map(({ name }) => name)).map((at) =>
      faultOf(`${path}.columns[${at}].name`, notes[at]?.name ?? '', 'a column that is not in the list yet'),
    ),
    'semantic-column-twice',
  );
};

const assertDistinct = (path: string, table: SemanticTable): void => {
  const synonym = findDuplicateSynonym(table);
  if (synonym === undefined) return;
  throw new Refusal(
    'DUPLICATE_SYNONYM',
    `${path}: ${JSON.stringify(synonym)} is a synonym twice in table ${JSON.stringify(table.tableName)} with its columns (case does not count); keep one.`,
  );
};

const isFilled = (notes: Pick<SemanticTable, 'description' | 'synonyms'>): boolean =>
  notes.description !== null || notes.synonyms.length > 0;

/** Returns only the tables and columns that have any note. */
const compact = (tables: readonly SemanticTable[]): readonly SemanticTable[] =>
  tables
    .map((table) => ({
      ...table,
      columns: table.columns.filter((column) => isFilled(column) || column.columnType !== null || column.isIdentifier),
    }))
    .filter((table) => isFilled(table) || table.columns.length > 0);

/**
 * Returns the layer's tables with the notes merged. Throws INVALID_TABLE, INVALID_COLUMN, INVALID_COLUMN_TYPE,
 * DUPLICATE_SYNONYM, or INVALID_REQUEST_BODY if the notes name a table or column twice.
 */
export const writeSemanticTables = (
  datamart: Pick<Datamart, 'tables'>,
  layer: SemanticLayer | undefined,
  notes: readonly TableNotes[],
): readonly SemanticTable[] => {
  const named = nameTables(datamart.tables);
  const meant = notes.map((item, index) => loadTable(item, index, named));
  assertNoFaults(
    repeatedAt(meant.map(tableKey)).map((at) =>
      faultOf(`tables[${at}].name`, notes[at]?.name ?? '', 'a table that is not in the list yet'),
    ),
    'semantic-table-twice',
  );
  const merged = new Map(viewSemanticTables(datamart, layer).map((table) => [tableKey(table), table]));
  for (const [index, item] of notes.entries()) {
    const table = meant[index];
    const current = table && merged.get(tableKey(table));
    if (table === undefined || current === undefined) continue;
    assertColumns(`tables[${index}]`, item.columns ?? [], table);
    const next = mergeTable(current, item);
    assertDistinct(`tables[${index}]`, next);
    merged.set(tableKey(table), next);
  }
  return compact([...merged.values()]);
};
