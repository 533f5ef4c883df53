/** Narrows the tables of a datasource to those that a text names, and the proposals to listed tables. */
import { sameTable, type TableRef } from './datamart.js';
import type { SourceProposals } from './source-proposals.js';
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

/**
 * Returns the proposals that concern these tables: relationships with one of them at either end, and tenant tables and
 * client columns among them. Proposals are made from all tables first, because a name is clear or not only among all.
 */
export const proposalsAbout = (proposals: SourceProposals, tables: readonly TableRef[]): SourceProposals => {
  const isListed = (table: TableRef): boolean => tables.some((one) => sameTable(one, table));
  return {
    relationships: proposals.relationships.filter(({ parent, child }) => isListed(parent) || isListed(child)),
    tenantTables: proposals.tenantTables.filter(isListed),
    clientColumns: proposals.clientColumns.filter(isListed),
  };
};
