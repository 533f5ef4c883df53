/**
 * The measures and calculated columns of a datamart that a guest may choose. Each tells something about every column that
 * its expression reads, so one that reads a hidden column is hidden too. What cannot be parsed is hidden.
 */
import type { Datamart, DatamartColumn, DatamartTable } from '../../model/datamart/datamart.js';
import type { DatasourceType } from '../../model/organization.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Whether all columns that the expression names are shown. Of several columns with one name, all must be. */
const readsShown = async (
  { check }: Pick<SqlRewriter, 'check'>,
  dialect: DatasourceType,
  { sql = '', isAggregate = false }: DatamartColumn,
  { columns }: DatamartTable,
): Promise<boolean> => {
  const checked = await check(dialect, sql, 'expression');
  if ('fault' in checked || checked.isAggregate !== isAggregate) return false;
  return checked.names.every((path) => {
    const named = columns.filter(({ columnName }) => isSame(columnName, path.at(-1) ?? ''));
    return named.length > 0 && named.every(({ isHide, isCustomColumn }) => !isHide && isCustomColumn !== true);
  });
};

/** Returns the datamart with the measures and calculated columns hidden that read what is hidden. */
export const withOpenColumns = async (
  checks: Pick<SqlRewriter, 'check'>,
  dialect: DatasourceType,
  datamart: Datamart,
): Promise<Datamart> => {
  if (!datamart.tables.some(({ columns }) => columns.some(({ isCustomColumn }) => isCustomColumn === true)))
    return datamart;
  const tables: DatamartTable[] = [];
  for (const table of datamart.tables) {
    const columns: DatamartTable['columns'][number][] = [];
    for (const column of table.columns) {
      const isClosed =
        column.isCustomColumn === true && !column.isHide && !(await readsShown(checks, dialect, column, table));
      columns.push(isClosed ? { ...column, isHide: true } : column);
    }
    tables.push({ ...table, columns });
  }
  return { ...datamart, tables };
};
