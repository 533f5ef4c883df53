/** A dashboard filter that maps to columns of several tables: which of them restrict one metric. */
import { type ColumnRef, sameColumn, sameTable, type TableRef } from '../datamart/datamart.js';
import type { Condition } from '../filter/filter.js';
import type { DashboardFilter } from './dashboard.js';
import type { MetricDefinition } from './metric.js';

/** Every column that the filter maps to, each once. */
export const mappedColumns = ({ applyOnTables }: DashboardFilter): readonly ColumnRef[] =>
  applyOnTables
    .map(({ schemaName, tableName, columnName }) => ({ schemaName, tableName, columnName }))
    .filter((column, index, all) => all.findIndex((other) => sameColumn(other, column)) === index);

/**
 * The conditions that hold for a metric. Of one filter's columns, those on tables that the metric reads; where it reads none of these tables, all of them.
 * A token's condition is never dropped: what is not picked becomes `whereRead`.
 */
export const heldConditions = (
  conditions: readonly Condition[],
  isRead: (table: TableRef, condition: Condition) => boolean,
): readonly Condition[] =>
  conditions.flatMap((condition): readonly Condition[] => {
    const { column, mappedTo, restriction } = condition;
    if (mappedTo === undefined || isRead(column, condition)) return [condition];
    if (!mappedTo.some((other) => isRead(other, condition))) return [condition];
    return restriction === undefined ? [] : [{ ...condition, restriction: 'whereRead' }];
  });

/** Whether the metric's answer is made of the table. Of expressions and SQL, only the engine knows for certain what they read. */
export const isReadBy = (definition: MetricDefinition, table: TableRef): boolean => {
  if (definition.kind === 'sql') return false;
  const { from, dimensions, measures } = definition;
  const tables = [from, ...[...dimensions, ...measures].flatMap(({ column }) => column ?? [])];
  return tables.some((one) => sameTable(one, table)) || measures.some((measure) => names(measure.expression, table));
};

/** An expression reads a table beyond the metric's own by its name alone. */
const names = (expression: string | undefined, { tableName }: TableRef): boolean =>
  expression?.toLowerCase().includes(tableName.toLowerCase()) ?? false;

/** The columns whose values are the filter's options for this metric: by the same rule. */
export const optionColumns = (filter: DashboardFilter, definition: MetricDefinition): readonly ColumnRef[] => {
  const columns = mappedColumns(filter);
  const near = columns.filter((column) => isReadBy(definition, column));
  return near.length > 0 ? near : columns;
};
