/** The relationship that a table follows to its tenant, as a caller names it. */
import type { DatamartTable, Relationship } from './datamart.js';
import { sameTable } from './datamart.js';
import type { NamedTables } from './datamart-relationships.js';
import { faultOf } from './fault.js';

type Whole = {
  readonly tables: readonly DatamartTable[];
  readonly named: NamedTables;
  readonly relationships: readonly Relationship[];
  readonly sharedTables: readonly string[];
};

const quote = (name: string): string => JSON.stringify(name);

/** What contradicts a `tenancyPath`: the rows would belong to somebody by two declarations. */
const contradiction = (table: DatamartTable, { named, sharedTables }: Whole): string | undefined => {
  if (table.clientColumn !== null) return `clientColumn ${quote(table.clientColumn)}`;
  const entry = sharedTables.find((name) => named.get(name)?.some((meant) => sameTable(meant, table)));
  return entry === undefined ? undefined : `the entry ${quote(entry)} of sharedTables`;
};

/**
 * Tables whose `tenancyPath` names no relationship of theirs to another table, or stands beside another declaration of whose the rows are. `isKept`: the
 * tables were there before, and something else of the datamart changed.
 */
export const tenancyPathFaults = (whole: Whole, isKept: boolean): readonly string[] =>
  whole.tables.flatMap((table, index) => {
    const { tableName, tenancyPath } = table;
    if (tenancyPath == null) return [];
    const path = `tableList[${index}].tenancyPath`;
    const kept = `table ${quote(tableName)} has the tenancyPath ${quote(tenancyPath)}`;
    const other = contradiction(table, whole);
    if (other !== undefined) {
      return [
        isKept ? `${kept}, which cannot stand beside ${other}` : faultOf(path, tenancyPath, `none beside ${other}`),
      ];
    }
    const names = whole.relationships
      .filter(({ parent, child }) => sameTable(parent, table) !== sameTable(child, table))
      .map(({ relationshipName }) => relationshipName);
    if (names.includes(tenancyPath)) return [];
    if (isKept) {
      return [
        `relationships: ${kept}, which is no relationship of that table in the list; add it, or send tableList with another tenancyPath`,
      ];
    }
    const known = names.length === 0 ? 'it has none' : `it has ${names.map(quote).join(', ')}`;
    return [faultOf(path, tenancyPath, `a relationshipName of table ${quote(tableName)}; ${known}`)];
  });
