/** Dashboard filters that map to columns of several tables: decides which of the columns restrict a metric. */
import { type ColumnRef, sameColumn, sameTable, type TableRef } from '../datamart/datamart.js';
import type { Condition } from '../filter/filter.js';
import type { DashboardFilter } from './dashboard.js';
import type { MetricDefinition } from './metric.js';

/** Returns every column that the filter maps to, without duplicates. */
export const mappedColumns = ({ applyOnTables }: DashboardFilter): readonly ColumnRef[] =>
  applyOnTables
    .map(({ schemaName, tableName, columnName }) => ({ schemaName, tableName, columnName }))
    .filter((column, index, all) => all.findIndex((other) => sameColumn(other, column)) === index);

/**
 * Returns the conditions that apply to a metric. Of one filter's columns, those on tables that the metric reads apply;
 * if it reads none of these tables, all apply. A token's condition is never removed: if it is not selected, it becomes
 * `whereRead`.
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

/**
 * Whether the metric's answer reads the table, as far as the definition shows. Only the engine knows exactly which
 * tables expressions and SQL read.
 */
export const isReadBy = (definition: MetricDefinition, table: TableRef): boolean => {
  if (definition.kind === 'sql') return false;
  const { from, dimensions, measures } = definition;
  const tables = [from, ...[...dimensions, ...measures].flatMap(({ column }) => column ?? [])];
  return tables.some((one) => sameTable(one, table)) || measures.some((measure) => names(measure.expression, table));
};

/** Whether the expression may read the table: its text contains the table's name. */
const names = (expression: string | undefined, { tableName }: TableRef): boolean =>
  expression?.toLowerCase().includes(tableName.toLowerCase()) ?? false;

/**
 * Returns the columns whose values are the filter's options for this metric, selected by the same rule as in
 * `heldConditions`.
 */
export const optionColumns = (filter: DashboardFilter, definition: MetricDefinition): readonly ColumnRef[] => {
  const columns = mappedColumns(filter);
  const near = columns.filter((column) => isReadBy(definition, column));
  return near.length > 0 ? near : columns;
};
