/**
 * The measures of a datamart that a guest may choose. A measure tells something about each column that it reads, so a
 * measure that reads a hidden column is hidden too. What cannot be parsed is hidden.
 */
import { type Datamart, type DatamartTable, isMeasureColumn } from '../../domain/datamart/datamart.js';
import type { DatasourceType } from '../../domain/organization.js';
import type { SqlRewriter } from '../../domain/query/sql-rewriter.js';

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Whether all columns that the expression names are shown. Of several columns with one name, all must be. */
const readsShown = async (
  { check }: Pick<SqlRewriter, 'check'>,
  dialect: DatasourceType,
  sql: string,
  { columns }: DatamartTable,
): Promise<boolean> => {
  const checked = await check(dialect, sql, 'expression');
  if ('fault' in checked || !checked.isAggregate) return false;
  return checked.names.every((path) => {
    const named = columns.filter(({ columnName }) => isSame(columnName, path.at(-1) ?? ''));
    return named.length > 0 && named.every(({ isHide, isCustomColumn }) => !isHide && isCustomColumn !== true);
  });
};

/** Returns the datamart with the measures hidden that read what is hidden. */
export const withOpenMeasures = async (
  checks: Pick<SqlRewriter, 'check'>,
  dialect: DatasourceType,
  datamart: Datamart,
): Promise<Datamart> => {
  if (!datamart.tables.some(({ columns }) => columns.some(isMeasureColumn))) return datamart;
  const tables: DatamartTable[] = [];
  for (const table of datamart.tables) {
    const columns: DatamartTable['columns'][number][] = [];
    for (const column of table.columns) {
      const isClosed =
        isMeasureColumn(column) && !column.isHide && !(await readsShown(checks, dialect, column.sql ?? '', table));
      columns.push(isClosed ? { ...column, isHide: true } : column);
    }
    tables.push({ ...table, columns });
  }
  return { ...datamart, tables };
};
