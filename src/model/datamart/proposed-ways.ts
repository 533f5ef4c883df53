/**
 * Which of several ways is proposed: from a table to a tenant, and between two tables of a model. An operator may choose
 * another. Pure.
 */
import { isPerson, singularName, wordsOf } from './column-names.js';
import { type ColumnRef, type Datamart, type Relationship, sameTable, type TableRef, tableKey } from './datamart.js';
import type { ProposedRelationship } from './source-proposals.js';
import type { SourceColumn, SourceTable } from './source-schema.js';
import type { TableOwnership } from './table-ownership.js';
import { tenantsOf } from './ways.js';

/** A relationship that leads from a table to one with a tenant. */
export type WayToTenant = {
  readonly relationshipName: string;
  readonly text: string;
  /** Why it is better or worse than others. */
  readonly reason: string;
};

/** Words of people who may change over the life of a row, beside those of any person. */
const changing: ReadonlySet<string> = new Set(['customer', 'agent', 'author', 'owner']);
const isOfPeople = ({ tableName }: TableRef): boolean =>
  isPerson(tableName) || changing.has(singularName(tableName).split(' ').at(-1) ?? '');

/** What ways are judged by, of the tables of a source. */
type Columns = TableRef & { readonly columns: readonly Pick<SourceColumn, 'columnName' | 'isNullable'>[] };

const isNullable = (tables: readonly Columns[], column: ColumnRef): boolean =>
  tables.find((table) => sameTable(table, column))?.columns.find(({ columnName }) => columnName === column.columnName)
    ?.isNullable ?? true;

/** Whether the table is named after the other one: `invoice_lines` after `invoices`. */
const isNamedAfter = ({ tableName }: TableRef, other: TableRef): boolean =>
  wordsOf(tableName).length > 1 &&
  wordsOf(tableName)
    .join(' ')
    .startsWith(`${singularName(other.tableName)} `);

const isNamedLike = ({ columnName }: ColumnRef, { tableName }: TableRef): boolean =>
  wordsOf(columnName).slice(0, -1).join(' ') === singularName(tableName);

/** Number of joins from a row of the table to the column that holds its tenant; undefined: none is known. */
const distanceOf = (table: TableRef, owned: readonly TableOwnership[]): number | undefined => {
  const tenancy = owned.find((one) => sameTable(one.table, table))?.tenancy;
  if (tenancy?.kind === 'path') return tenancy.steps.length;
  return tenancy?.kind === 'column' || tenancy?.kind === 'master' ? 0 : undefined;
};

/** Compares lists of numbers by their first difference. */
const inOrder = (a: readonly number[], b: readonly number[]): number => {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
};

/**
 * Returns the ways from a table to a tenant, the best first. A column that may be NULL comes last, since its rows would
 * have no tenant. Then the shortest way, that to a table which gave this one its name, and that to a thing rather than
 * to a person, who may change.
 */
export const waysToTenant = (
  table: TableRef,
  from: readonly Relationship[],
  tables: readonly Columns[],
  owned: readonly TableOwnership[],
): readonly WayToTenant[] =>
  from
    .flatMap(({ relationshipName, parent, child, cardinality }) => {
      const distance = distanceOf(child, owned);
      if (cardinality === null || distance === undefined) return [];
      const isOptional = isNullable(tables, parent);
      const place = tables.find((one) => sameTable(one, table))?.columns.map(({ columnName }) => columnName) ?? [];
      const rank = [
        Number(isOptional),
        distance,
        Number(!isNamedAfter(table, child)),
        Number(isOfPeople(child)),
        place.indexOf(parent.columnName),
      ];
      const reason = `${distance + 1} ${distance === 0 ? 'step' : 'steps'}${isOptional ? ', may be empty' : ''}`;
      return [{ relationshipName, text: `${parent.columnName} → ${child.tableName}`, reason, rank }];
    })
    .toSorted((a, b) => inOrder(a.rank, b.rank))
    .map(({ rank: _, ...way }) => way);

/**
 * Proposes a relationship for each table from which several lead to a tenant. One table follows the other, since a
 * choice may settle the tables behind it. `openFor` returns the open tables under the choices so far.
 */
export const choosePaths = (
  given: ReadonlyMap<string, string>,
  openFor: (
    paths: ReadonlyMap<string, string>,
  ) => readonly { readonly name: string; readonly ways: readonly WayToTenant[] }[],
): ReadonlyMap<string, string> => {
  const paths = new Map(given);
  for (;;) {
    const open = openFor(paths).find(({ name, ways }) => ways.length > 1 && !paths.has(name));
    const [best] = open?.ways ?? [];
    if (open === undefined || best === undefined) return paths;
    paths.set(open.name, best.relationshipName);
  }
};

type Readable = {
  readonly tables: readonly SourceTable[];
  readonly owned: readonly TableOwnership[];
  readonly tenancy: Datamart['tenancy'];
};

/** The relationships by which tables get their tenant. */
const followed = (owned: readonly TableOwnership[]): ReadonlySet<string> =>
  new Set(
    owned
      .flatMap(({ tenancy }) => (tenancy.kind === 'path' || tenancy.kind === 'bridge' ? tenancy.steps : []))
      .map((step) => step.relationshipName),
  );

/** How much is lost without a relationship, the least first: a list of numbers to compare. */
const rankOf = (
  { relationshipName, parent, child, cardinality, basis }: ProposedRelationship,
  { tables, owned }: Readable,
): readonly number[] => [
  Number(!followed(owned).has(relationshipName)),
  Number(cardinality === null),
  Number(basis === 'name'),
  Number(isOfPeople(child)),
  Number(isNullable(tables, parent)),
  Number(!isNamedLike(parent, child)),
];

/**
 * Returns the relationships of a model without second ways between the same tables, because a metric over tables that
 * several ways join is refused. Kept first are those by which rows get their tenant. The key of a tenant makes no
 * second way, so every one of these is kept.
 */
export const singleWays = (
  relationships: readonly ProposedRelationship[],
  readable: Readable,
): readonly ProposedRelationship[] => {
  const { owned, tenancy } = readable;
  const tables = owned.map(({ table }) => table);
  const isOfTenants = ({ parent, child }: ProposedRelationship): boolean =>
    tenancy?.tenancyLevel === 'TABLE' && [parent, child].some((end) => sameTable(end, tenancy));
  const ofTenants = relationships.filter(isOfTenants);
  const needed = followed(owned);
  const own = ofTenants.filter(
    (one) => needed.has(one.relationshipName) || tenantsOf({ relationships: [one], tables, tenancy }) !== undefined,
  );
  const areKeys = tenantsOf({ relationships: own, tables, tenancy }) !== undefined;
  const groups = new Map<string, string>();
  const groupOf = (table: TableRef): string => {
    let key = tableKey(table);
    for (let next = groups.get(key); next !== undefined; next = groups.get(key)) key = next;
    return key;
  };
  const joins = (areKeys ? [] : own).concat(relationships.filter((one) => !ofTenants.includes(one)));
  const kept = new Set(areKeys ? own : []);
  for (const one of joins.toSorted((a, b) => inOrder(rankOf(a, readable), rankOf(b, readable)))) {
    const [near, far] = [groupOf(one.parent), groupOf(one.child)];
    if (near === far) continue;
    groups.set(near, far);
    kept.add(one);
  }
  return relationships.filter((one) => kept.has(one));
};
