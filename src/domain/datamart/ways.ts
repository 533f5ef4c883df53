/** Ways between two tables along the relationships of a datamart. A relationship of a table with itself leads nowhere. */
import { type Relationship, sameTable, type TableRef } from './datamart.js';

export type Way = readonly Relationship[];

/** The table at the other end; undefined where the relationship does not lead away from the table. */
export const otherEnd = ({ parent, child }: Relationship, table: TableRef): TableRef | undefined => {
  if (sameTable(parent, child)) return undefined;
  if (sameTable(parent, table)) return child;
  return sameTable(child, table) ? parent : undefined;
};

/** Returns the shortest way; undefined if there is none. */
export const shortestWay = (relationships: Way, from: TableRef, to: TableRef): Way | undefined => {
  const reached: { readonly table: TableRef; readonly way: Way }[] = [{ table: from, way: [] }];
  for (const { table, way } of reached) {
    if (sameTable(table, to)) return way;
    for (const relationship of relationships) {
      const next = otherEnd(relationship, table);
      if (next === undefined || reached.some((seen) => sameTable(seen.table, next))) continue;
      reached.push({ table: next, way: [...way, relationship] });
    }
  }
  return undefined;
};

/** A relationship of the way, and another way that avoids it. */
export type Bypass = { readonly avoided: Relationship; readonly way: Way };

/** Returns a bypass of the way; undefined if the way is the only one: without any of its parts, none leads there. */
export const bypassOf = (relationships: Way, way: Way, from: TableRef, to: TableRef): Bypass | undefined => {
  for (const avoided of way) {
    const others = relationships.filter((relationship) => relationship !== avoided);
    const other = shortestWay(others, from, to);
    if (other !== undefined) return { avoided, way: other };
  }
  return undefined;
};
