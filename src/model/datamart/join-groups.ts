/**
 * Which tables one metric may join: those between which `findWay` finds one way. A search for each pair would take long,
 * so tables are put in groups: one way leads from a table to another exactly if relationships lead there that no other
 * way bypasses.
 */
import { type Datamart, findTable, type Relationship, sameTable, type TableRef, tableKey } from './datamart.js';
import { findWay, tenantsOf } from './ways.js';

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

/** Keeps the set of each table, and that of each table in it. */
const setsOf = (edges: Edges): ((table: TableRef) => ReadonlySet<string>) => {
  const sets = new Map<string, ReadonlySet<string>>();
  return (table) => {
    const key = tableKey(table);
    const found = sets.get(key) ?? reachedFrom(edges, key);
    for (const member of found) sets.set(member, found);
    return found;
  };
};

/** The relationships between two open tables that no other way bypasses, and the tables that each table reaches. */
const groupsAlong = (relationships: readonly Relationship[], open: (table: TableRef) => boolean) => {
  const edges = edgesByTable(relationships);
  const joined = relationships.filter((relationship) => {
    const [parent, child] = endsOf(relationship);
    const isOnlyWay = !reachedFrom(edges, parent, relationship).has(child);
    return isOnlyWay && open(relationship.parent) && open(relationship.child);
  });
  return { joined, groupOf: setsOf(edgesByTable(joined)), relatedTo: setsOf(edges) };
};

/** How the tables of a datamart may be joined. */
export type JoinGroups = {
  /** Whether a metric that starts from the first table may read the other. */
  readonly isJoinable: (from: TableRef, to: TableRef) => boolean;
  /** Whether a worksheet that starts from the table can be read: it joins every table that relationships reach. */
  readonly isWorksheet: (table: TableRef) => boolean;
  /** The relationships along which tables are joined. */
  readonly relationships: readonly Relationship[];
};

/** Returns the join groups of the datamart. No query may read a table that is not `isReadable`. */
export const joinGroups = (datamart: Datamart, isReadable: (table: TableRef) => boolean): JoinGroups => {
  const open = (ref: TableRef): boolean => findTable(datamart, ref) !== undefined && isReadable(ref);
  const tenants = tenantsOf(datamart);
  const isTenants = (table: TableRef): boolean => tenants !== undefined && sameTable(table, tenants);
  const all = datamart.relationships.filter(({ parent, child }) => !sameTable(parent, child));
  const isBeside = ({ parent, child }: Relationship): boolean => !isTenants(parent) && !isTenants(child);
  const whole = groupsAlong(all, open);
  const beside = tenants === undefined ? whole : groupsAlong(all.filter(isBeside), open);
  const leadsToTenants = (from: TableRef, to: TableRef): boolean => {
    const found = findWay(datamart, from, to);
    return found.kind === 'one' && found.way.every(({ parent, child }) => open(parent) && open(child));
  };
  const isJoinable = (from: TableRef, to: TableRef): boolean => {
    if (isTenants(to) && !isTenants(from)) return leadsToTenants(from, to);
    const groups = beside.relatedTo(from).has(tableKey(to)) ? beside : whole;
    return groups.groupOf(from).has(tableKey(to));
  };
  const ends = all.flatMap(({ parent, child }) => [parent, child]);
  return {
    isJoinable,
    isWorksheet: (table) => {
      const reached = whole.relatedTo(table);
      return ends.every((end) => !reached.has(tableKey(end)) || isJoinable(table, end));
    },
    relationships: all.filter((one) =>
      isBeside(one)
        ? beside.joined.includes(one)
        : isJoinable(one.parent, one.child) || isJoinable(one.child, one.parent),
    ),
  };
};
