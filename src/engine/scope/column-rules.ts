/**
 * The token's rules for columns, by the types that the datasource has. A mask that does not suit the column's type, or
 * that has no key, hides the column.
 */

import type { ColumnRef, Datamart, DatamartColumn, DatamartTable } from '../../model/datamart/datamart.js';
import { tableKey } from '../../model/datamart/datamart.js';
import type { Mask } from '../../model/datamart/masks.js';
import { type Catalog, columnsOf } from '../dialect/catalog.js';
import type { SqlType } from '../dialect/sql-type.js';
import type { RuledColumn } from '../plan/plan.js';
import { maskedType, maskSql } from '../sql/masks.js';
import { scaledSql, scaledType } from '../sql/scales.js';

type Table = Pick<DatamartTable, 'schemaName' | 'tableName' | 'columns' | 'hiddenColumns'>;
type Write = NonNullable<RuledColumn['shown']>;
type Rules = { readonly catalog: Catalog; readonly maskKey?: string | undefined };

const isPlain = ({ isCustomColumn }: DatamartColumn): boolean => isCustomColumn !== true;

/** The masked and hidden columns that the datasource has. */
const ruledOf = ({ columns, hiddenColumns = [] }: Table): readonly DatamartColumn[] =>
  [...columns.filter(({ mask }) => mask !== undefined), ...hiddenColumns].filter(isPlain);

/** No other column of the table has such a name. */
const storedNames = (table: Table): ((columnName: string) => string) => {
  const names = ruledOf(table).map(({ columnName }) => columnName);
  const taken = new Set([...table.columns, ...(table.hiddenColumns ?? [])].map((one) => one.columnName.toLowerCase()));
  let prefix = 'gl_stored';
  while ([...taken].some((name) => name.startsWith(prefix))) prefix += '_';
  return (columnName) => `${prefix}_${names.indexOf(columnName)}`;
};

/** The leaf's name for the stored values of a masked or hidden column; undefined for another column. */
export const storedName = (table: Table | undefined, columnName: string): string | undefined =>
  table !== undefined && ruledOf(table).some((one) => one.columnName === columnName)
    ? storedNames(table)(columnName)
    : undefined;

const typeOfMasked = (mask: Mask | undefined, type: SqlType, maskKey: string | undefined): SqlType | undefined =>
  mask === undefined || (mask.kind === 'hash' && maskKey === undefined) ? undefined : maskedType(mask, type);

/** The columns that a leaf writes in another way than they are stored. `catalog`: of `withScales`. */
export const ruledColumns = (table: Table, { catalog, maskKey }: Rules): readonly RuledColumn[] => {
  const ruled = ruledOf(table);
  const present = columnsOf(catalog, table);
  const scaled = table.columns.filter(
    (column) => !ruled.includes(column) && present.get(column.columnName)?.scaled !== undefined,
  );
  const nameOf = storedNames(table);
  return [...ruled, ...scaled].flatMap((column): readonly RuledColumn[] => {
    const { columnName, mask } = column;
    const type = present.get(columnName);
    if (type === undefined) return [];
    const write: Write = (dialect, value) => scaledSql(dialect, value, type);
    if (scaled.includes(column)) return [{ columnName, shown: write, stored: null }];
    const stored = { name: nameOf(columnName), write };
    if (mask === undefined || typeOfMasked(mask, type, maskKey) === undefined) {
      return [{ columnName, shown: null, stored }];
    }
    const { schemaName, tableName } = table;
    const ref: ColumnRef = { schemaName, tableName, columnName };
    const masked = { ref, type, key: maskKey ?? '' };
    return [{ columnName, shown: (dialect, value) => maskSql(dialect, write(dialect, value), mask, masked), stored }];
  });
};

/** The catalog as questions see it: without hidden columns, and with the types of masked values. */
export const shownCatalog = (catalog: Catalog, { tables }: Datamart, maskKey: string | undefined): Catalog => {
  const ruled = tables.filter((table) => ruledOf(table).length > 0);
  if (ruled.length === 0) return catalog;
  const shown = new Map(catalog.tables);
  for (const table of ruled) {
    const types = new Map(columnsOf(catalog, table));
    for (const { columnName, mask } of ruledOf(table)) {
      const type = types.get(columnName);
      const masked = type === undefined ? undefined : typeOfMasked(mask, type, maskKey);
      if (masked === undefined) types.delete(columnName);
      else types.set(columnName, masked);
    }
    shown.set(tableKey(table), types);
  }
  return { ...catalog, tables: shown };
};

/** The catalog with the types of values that have a scale. A column whose type takes none is left out. */
export const withScales = (catalog: Catalog, { tables }: Pick<Datamart, 'tables'>): Catalog => {
  const scaled = tables.filter(({ columns }) => columns.some(({ numbers }) => numbers?.scale !== undefined));
  if (scaled.length === 0) return catalog;
  const read = new Map(catalog.tables);
  for (const table of scaled) {
    const types = new Map(columnsOf(catalog, table));
    for (const { columnName, numbers } of table.columns.filter(isPlain)) {
      const stored = types.get(columnName);
      if (numbers?.scale === undefined || stored === undefined) continue;
      const type = scaledType(stored, numbers.scale);
      if (type === undefined) types.delete(columnName);
      else types.set(columnName, type);
    }
    read.set(tableKey(table), types);
  }
  return { ...catalog, tables: read };
};

/** The datamart as the token's own conditions and the joins read it. */
export const storedDatamart = (datamart: Datamart): Datamart => datamart.ruled?.stored ?? datamart;
