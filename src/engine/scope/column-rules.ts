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

type Table = Pick<DatamartTable, 'schemaName' | 'tableName' | 'columns' | 'hiddenColumns'>;
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

export const ruledColumns = (table: Table, { catalog, maskKey }: Rules): readonly RuledColumn[] => {
  const ruled = ruledOf(table);
  if (ruled.length === 0) return [];
  const present = columnsOf(catalog, table);
  const nameOf = storedNames(table);
  return ruled.flatMap(({ columnName, mask }): readonly RuledColumn[] => {
    const type = present.get(columnName);
    if (type === undefined) return [];
    const stored = nameOf(columnName);
    if (mask === undefined || typeOfMasked(mask, type, maskKey) === undefined) {
      return [{ columnName, stored, mask: null }];
    }
    const { schemaName, tableName } = table;
    const ref: ColumnRef = { schemaName, tableName, columnName };
    const masked = { ref, type, key: maskKey ?? '' };
    return [{ columnName, stored, mask: (dialect, column) => maskSql(dialect, column, mask, masked) }];
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

/** The datamart as the token's own conditions and the joins read it. */
export const storedDatamart = (datamart: Datamart): Datamart => datamart.ruled?.stored ?? datamart;
