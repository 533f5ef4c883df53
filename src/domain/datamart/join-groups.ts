/**
 * Which tables one metric may join. The engine refuses a metric if several ways lead between two of its tables, so
 * tables are joined only along relationships that no other way bypasses.
 */
import { type Datamart, findTable, type Relationship, sameTable, type TableRef, tableKey } from './datamart.js';

type Edges = ReadonlyMap<string, readonly Relationship[]>;

const endsOf = ({ parent, child }: Relationship): readonly [string, string] => [tableKey(parent), tableKey(child)];

const edgesByTable = (relationships: readonly Relationship[]): Edges => {
  const edges = new Map<string, Relationship[]>();
  for (const relationship of relationships) {
    for (const end of endsOf(relationship)) {
      const known = edges.get(end);
      if (known === undefined) edges.set(end, [relationship]);
      else known.push(relationship);
    }
  }
  return edges;
};

/** Returns the keys of all tables that relationships reach from a table, with its own. `closed` is not followed. */
const reachedFrom = (edges: Edges, start: string, closed?: Relationship): ReadonlySet<string> => {
  const reached = new Set([start]);
  for (const near of reached) {
    for (const relationship of edges.get(near) ?? []) {
      if (relationship !== closed) for (const end of endsOf(relationship)) reached.add(end);
    }
  }
  return reached;
};

/** How the tables of a datamart may be joined. */
export type JoinGroups = {
  /** Whether one metric may read both tables. */
  readonly areJoinable: (a: TableRef, b: TableRef) => boolean;
  /** Whether a worksheet that starts from the table can be read: it joins every table that relationships reach. */
  readonly isWorksheet: (table: TableRef) => boolean;
  /** The relationships along which tables are joined. */
  readonly relationships: readonly Relationship[];
};

/** Returns the join groups of the datamart. No query may read a table that is not `isReadable`. */
export const joinGroups = (datamart: Datamart, isReadable: (table: TableRef) => boolean): JoinGroups => {
  const all = datamart.relationships.filter(({ parent, child }) => !sameTable(parent, child));
  const every = edgesByTable(all);
  const open = (ref: TableRef): boolean => findTable(datamart, ref) !== undefined && isReadable(ref);
  const relationships = all.filter((relationship) => {
    const [parent, child] = endsOf(relationship);
    const isOnlyWay = !reachedFrom(every, parent, relationship).has(child);
    return isOnlyWay && open(relationship.parent) && open(relationship.child);
  });
  const joined = edgesByTable(relationships);
  const groups = new Map<string, ReadonlySet<string>>();
  const groupOf = (table: TableRef): ReadonlySet<string> => {
    const key = tableKey(table);
    const group = groups.get(key) ?? reachedFrom(joined, key);
    for (const member of group) groups.set(member, group);
    return group;
  };
  return {
    areJoinable: (a, b) => groupOf(a).has(tableKey(b)),
    isWorksheet: (table) => reachedFrom(every, tableKey(table)).size === groupOf(table).size,
    relationships,
  };
};
