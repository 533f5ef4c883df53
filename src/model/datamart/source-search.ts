/** Narrows the tables of a datasource to those that a text names. */
import type { SourceTable } from './source-schema.js';

/**
 * Returns the tables of which each word of `search` is part of `schema.table` or of a column's name, in their order.
 * Case is ignored. A text without words finds all tables.
 */
export const findTables = (tables: readonly SourceTable[], search: string): readonly SourceTable[] => {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return tables.filter(({ schemaName, tableName, columns }) => {
    const names = [`${schemaName}.${tableName}`, ...columns.map(({ columnName }) => columnName)];
    const lowered = names.map((name) => name.toLowerCase());
    return words.every((word) => lowered.some((name) => name.includes(word)));
  });
};
