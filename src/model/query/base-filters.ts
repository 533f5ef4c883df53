/** Checks the base filters of tables: their columns, and values that fit the types of the datasource. */
import { predicateFaults, wordsOfKind } from '../dashboard/type-faults.js';
import type { BaseFilter, DatamartTable } from '../datamart/datamart.js';
import { columnKind, mayBeBoolean } from '../datamart/datatypes.js';
import type { SourceColumn } from '../datamart/source-schema.js';
import type { SourceView } from '../datamart/tables.js';
import { faultOf } from '../faults.js';

/** Whether the filter compares with true or false: a `tinyint(1)` then holds booleans. */
export const comparesBooleans = ({ predicate }: BaseFilter): boolean => {
  const values = 'values' in predicate ? predicate.values : 'value' in predicate ? [predicate.value] : [];
  return values.some((value) => typeof value === 'boolean');
};

const typedOf = (column: SourceColumn, filter: BaseFilter) => {
  const kind = mayBeBoolean(column) && comparesBooleans(filter) ? 'boolean' : columnKind(column);
  return {
    kind,
    says: `column ${JSON.stringify(column.columnName)} holds ${wordsOfKind(kind ?? 'other')} (${column.datatype})`,
  };
};

const filterFaults = (
  path: string,
  filter: BaseFilter,
  { tableName }: DatamartTable,
  columns: readonly SourceColumn[],
): readonly string[] => {
  const { columnName, predicate } = filter;
  const column = columns.find((one) => one.columnName === columnName);
  if (column !== undefined) return predicateFaults(`${path}.predicate`, predicate, typedOf(column, filter));
  const like = columns.find((one) => one.columnName.toLowerCase() === columnName.toLowerCase());
  const hint = like === undefined ? '' : ` (case counts: ${JSON.stringify(like.columnName)})`;
  const rule = `a column of table ${JSON.stringify(tableName)} in the datasource${hint}`;
  return [faultOf(`${path}.columnName`, columnName, rule)];
};

/** Returns the faults of all base filters of the list. A table that the datasource lacks has a fault of its own. */
export const baseFilterFaults = (tables: readonly DatamartTable[], source: SourceView): readonly string[] =>
  tables.flatMap((table, index) => {
    const found = source.find(table);
    if (found === undefined) return [];
    return (table.baseFilters ?? []).flatMap((filter, at) =>
      filterFaults(`tableList[${index}].baseFilters[${at}]`, filter, table, found.columns),
    );
  });
