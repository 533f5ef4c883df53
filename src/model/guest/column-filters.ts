/**
 * Columns that a guest may filter by, if host and token allow end-user filters: any column of the datamart that is not
 * hidden or, if a list is given, the listed ones. A guest's filter can only add a condition, never remove one.
 */

import { abilitiesOf } from '../dashboard/abilities.js';
import type { FilterColumns } from '../dashboard/embed.js';
import { type ColumnRef, type Datamart, type DatamartTable, qualifiedName } from '../datamart/datamart.js';
import { columnKind } from '../datamart/datatypes.js';
import type { Moment } from '../filter/date-range.js';
import type { Condition, FilterDataType } from '../filter/filter.js';
import { readFilterValue } from '../filter/value.js';
import { Refusal } from '../refusal.js';
import type { FilterValues } from './grant.js';

export type FilterableColumn = { readonly column: ColumnRef; readonly dataType: FilterDataType };

/** Columns by key: `schema.table.column`, and `table.column` if the list names the table that way. */
export type FilterableColumns = ReadonlyMap<string, FilterableColumn>;

export const noColumns: FilterableColumns = new Map();

/** Returns the names that the list may use for the table. The bare name is allowed only if no other table has it. */
const namesOf = (datamart: Datamart, table: DatamartTable): readonly string[] =>
  datamart.tables.filter(({ tableName }) => tableName === table.tableName).length === 1
    ? [qualifiedName(table), table.tableName]
    : [qualifiedName(table)];

const keysOf = (
  datamart: Datamart,
  table: DatamartTable,
  columnName: string,
  list: readonly FilterColumns[] | null,
): readonly string[] => {
  const own = `${qualifiedName(table)}.${columnName}`;
  if (list === null) return [own];
  const listed = list
    .filter(({ tableName, columns }) => namesOf(datamart, table).includes(tableName) && columns.includes(columnName))
    .map(({ tableName }) => `${tableName}.${columnName}`);
  return listed.length === 0 ? [] : [...new Set([own, ...listed])];
};

/**
 * Returns the columns that may be filtered. `list` null: every column that is not hidden. A key that fits two columns
 * (names may contain dots) is removed.
 */
export const filterableColumns = (datamart: Datamart, list: readonly FilterColumns[] | null): FilterableColumns => {
  const entries = datamart.tables
    .filter(({ isHide }) => !isHide)
    .flatMap((table) =>
      table.columns
        .filter(({ isHide }) => !isHide)
        .flatMap((column) => {
          const { columnName } = column;
          const kind = columnKind(column);
          const dataType = kind && abilitiesOf[kind].filter;
          const { schemaName, tableName } = table;
          const found = dataType == null ? undefined : { column: { schemaName, tableName, columnName }, dataType };
          return found === undefined
            ? []
            : keysOf(datamart, table, columnName, list).map((key) => [key, found] as const);
        }),
    );
  const count = new Map<string, number>();
  for (const [key] of entries) count.set(key, (count.get(key) ?? 0) + 1);
  return new Map(entries.filter(([key]) => count.get(key) === 1));
};

/** Returns the columns as lists of the interface, by table. */
export const listColumns = (columns: FilterableColumns): readonly FilterColumns[] => {
  const byTable = new Map<string, Set<string>>();
  for (const { column } of columns.values()) {
    const name = qualifiedName(column);
    byTable.set(name, (byTable.get(name) ?? new Set()).add(column.columnName));
  }
  return [...byTable].map(([tableName, names]) => ({ tableName, columns: [...names] }));
};

/**
 * Returns the conditions for values that name such columns; `rest` has the other values. A filter of the same name
 * takes precedence (`isFilter`).
 */
export const takeColumns = (
  values: FilterValues,
  columns: FilterableColumns,
  isFilter: (key: string) => boolean,
  moment: Moment,
): { readonly conditions: readonly Condition[]; readonly rest: FilterValues } => {
  const entries = Object.entries(values).map(([key, value]) => {
    const found = isFilter(key) ? undefined : columns.get(key);
    return { key, value, found };
  });
  const conditions = entries.flatMap(({ key, value, found }): readonly Condition[] => {
    if (found === undefined) return [];
    const reading = readFilterValue(found.dataType, value, moment);
    if ('expected' in reading)
      throw new Refusal('INVALID_REQUEST_BODY', `Column ${JSON.stringify(key)} takes ${reading.expected}.`, {
        reason: 'filter-value',
      });
    return [{ column: found.column, predicate: reading.predicate }];
  });
  const rest = Object.fromEntries(
    entries.filter(({ found }) => found === undefined).map(({ key, value }) => [key, value]),
  );
  return { conditions, rest };
};
