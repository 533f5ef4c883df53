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

/** Returns the tables whose rows the metric is about, the first of its measures first. SQL names none. */
export const ownTables = (definition: MetricDefinition): readonly TableRef[] =>
  definition.kind === 'sql' ? [] : [...definition.measures.flatMap(({ column }) => column ?? []), definition.from];

/** Returns those columns that are on the first own table that has one; undefined if no own table has. */
const ownAmong = (columns: readonly ColumnRef[], own: readonly TableRef[]): readonly ColumnRef[] | undefined =>
  own.map((table) => columns.filter((column) => sameTable(column, table))).find(({ length }) => length > 0);

/**
 * Returns the conditions that apply to a metric. Of the columns of a filter that a guest sets, those on a table of
 * `own` apply. Where there are none, and for a token's filter, those on all tables that the metric reads apply; if it
 * reads none of these tables, all apply. A token's condition is never removed: if it is not selected, it becomes
 * `whereRead`.
 */
export const heldConditions = (
  conditions: readonly Condition[],
  own: readonly TableRef[],
  isRead: (table: TableRef, condition: Condition) => boolean,
): readonly Condition[] =>
  conditions.flatMap((condition): readonly Condition[] => {
    const { column, mappedTo, restriction } = condition;
    const chosen = restriction === undefined ? ownAmong(mappedTo ?? [], own) : undefined;
    if (chosen !== undefined) return chosen.some((one) => sameColumn(one, column)) ? [condition] : [];
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
  const own = ownAmong(columns, ownTables(definition));
  if (own !== undefined) return own;
  const near = columns.filter((column) => isReadBy(definition, column));
  return near.length > 0 ? near : columns;
};
