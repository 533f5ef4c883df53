/**
 * Proposes relationships, tenant tables, client columns, bridges, base filters and amounts of money for the tables of a
 * datasource: from foreign keys first, then from names. An operator accepts or rejects them; a proposal alone makes nothing readable.
 */
import { counted } from '../texts/counted.js';
import {
  dividesPeople,
  identifiedBy,
  isMarkOfRemoval,
  isMarkOfTest,
  isMembership,
  isPerson,
  isPersonal,
  isTimeOfRemoval,
  singularName,
  tenantRank,
  tenantWordOf,
  wordsOf,
} from './column-names.js';
import {
  type BaseFilter,
  type ColumnRef,
  type Relationship,
  sameColumn,
  sameTable,
  type TableRef,
  type Through,
  tableKey,
} from './datamart.js';
import { columnKind, isOfKind, mayBeBoolean } from './datatypes.js';
import { type ProposedAmount, proposeAmounts } from './proposed-amounts.js';
import type { SourceTable } from './source-schema.js';

export type ProposedRelationship = Relationship & {
  readonly basis: 'foreignKey' | 'name';
  readonly reason: string;
};

/** A table whose rows may be the tenants. */
export type ProposedTenantTable = TableRef & {
  readonly keyColumn: string;
  /** The column with the tenant's name; the key column if there is none. */
  readonly nameColumn: string;
  /**
   * Number of other tables that have a client column for this tenant table, or a many-to-one path to a table that has
   * one.
   */
  readonly tablesReached: number;
  readonly reason: string;
};

export type ProposedClientColumn = ColumnRef & {
  /** The tenant table that the column refers to; null if it is not known. */
  readonly tenantTable: TableRef | null;
  readonly reason: string;
};

/** How tenants may read a table of people whose rows belong to several tenants. The table itself is the ref. */
export type ProposedBridge = TableRef & {
  /** The relationship, and the columns with the key, the name and the kinds of people, in this order. */
  readonly through: Through;
  /** The table whose rows say which tenant reads which person. */
  readonly bridge: TableRef;
  /** Other columns about the person, such as e-mail addresses: to be asked for each. */
  readonly askedColumns: readonly string[];
  readonly reason: string;
};

/** A base filter. The ref is the table. */
export type ProposedBaseFilter = TableRef & {
  readonly filter: BaseFilter;
  /** False: to be asked. The filter also leaves out rows where the column is NULL, or names that other rows need. */
  readonly isCertain: boolean;
  readonly reason: string;
};

export type SourceProposals = {
  readonly relationships: readonly ProposedRelationship[];
  /** Ordered by likelihood, the most likely first. */
  readonly tenantTables: readonly ProposedTenantTable[];
  readonly clientColumns: readonly ProposedClientColumn[];
  /** For the most likely tenant table. */
  readonly bridges: readonly ProposedBridge[];
  readonly baseFilters: readonly ProposedBaseFilter[];
  /** For the most likely tenant table. */
  readonly amounts: readonly ProposedAmount[];
};

const columnText = ({ tableName, columnName }: ColumnRef): string => `${tableName}.${columnName}`;

const refOf = ({ schemaName, tableName }: TableRef, columnName: string): ColumnRef => ({
  schemaName,
  tableName,
  columnName,
});

/** Whether this column alone is the primary key or a unique key. */
const isKey = ({ primaryKey, uniqueKeys }: SourceTable, columnName: string): boolean =>
  [primaryKey, ...uniqueKeys].some((key) => key.length === 1 && key[0] === columnName);

const kindOf = (table: SourceTable, columnName: string) =>
  columnKind(table.columns.find((column) => column.columnName === columnName) ?? { datatype: '' });

/**
 * Returns unique names for the relationships. If tables of two schemas have the same name, the schema becomes part of
 * the relationship's name.
 */
const relationshipNames = (tables: readonly SourceTable[]): ((near: ColumnRef) => string) => {
  const names = tables.map(({ tableName }) => tableName);
  const isRepeated = (name: string): boolean => names.indexOf(name) !== names.lastIndexOf(name);
  return (near) => (isRepeated(near.tableName) ? `${near.schemaName}.${columnText(near)}` : columnText(near));
};

type Edge = Pick<ProposedRelationship, 'parent' | 'child' | 'basis' | 'reason' | 'cardinality'>;

/**
 * Returns the relationships of foreign keys. Left out are keys of several columns, which a relationship cannot express,
 * and tables that refer to themselves.
 */
const edgesOfKeys = (tables: readonly SourceTable[]): readonly Edge[] =>
  tables.flatMap((table) =>
    table.foreignKeys.flatMap(({ columns: [column, ...others], references, referencedColumns: [referenced] }) => {
      if (column === undefined || referenced === undefined || others.length > 0) return [];
      if (sameTable(table, references) || !tables.some((one) => sameTable(one, references))) return [];
      const parent = refOf(table, column);
      const child = refOf(references, referenced);
      const reason = `foreign key of ${columnText(parent)} to ${columnText(child)}`;
      const cardinality = isKey(table, column) ? ('OneToOne' as const) : ('ManyToOne' as const);
      return [{ parent, child, basis: 'foreignKey' as const, reason, cardinality }];
    }),
  );

/**
 * Returns the columns that a column of this name may refer to: the table's key, or its id column if the database
 * declares no keys.
 */
const targetsOf = (table: SourceTable, columnName: string): readonly string[] => {
  const subject = identifiedBy(columnName);
  if (subject === null) return [];
  const isOwn = singularName(table.tableName) === subject;
  const hasKeys = table.primaryKey.length > 0 || table.uniqueKeys.length > 0;
  return table.columns
    .map((column) => column.columnName)
    .filter((name) => {
      const isSameName = wordsOf(name).join(' ') === wordsOf(columnName).join(' ');
      const isPlainId = isOwn && wordsOf(name).length === 1 && identifiedBy(`x_${name}`) !== null;
      if (!hasKeys) return isOwn && (isSameName || isPlainId);
      return isKey(table, name) && (isSameName || isPlainId);
    });
};

const edgesOfNames = (tables: readonly SourceTable[], known: readonly Edge[]): readonly Edge[] =>
  tables.flatMap((table) =>
    table.columns.flatMap(({ columnName }) => {
      const parent = refOf(table, columnName);
      if (
        known.some((edge) => sameColumn(edge.parent, parent)) ||
        (table.primaryKey[0] === columnName && table.primaryKey.length === 1)
      )
        return [];
      const found = tables
        .filter((other) => !sameTable(other, table))
        .flatMap((other) => targetsOf(other, columnName).map((name) => ({ other, child: refOf(other, name) })))
        .filter(({ other, child }) => kindOf(other, child.columnName) === kindOf(table, columnName));
      const [only, second] = found;
      if (only === undefined || second !== undefined) return [];
      const isUnique = isKey(only.other, only.child.columnName);
      const note = isUnique ? '' : '; no key says that it is unique: declare the cardinality if it is';
      const reason = `${columnText(parent)} is named like ${columnText(only.child)}${note}`;
      return [
        { parent, child: only.child, basis: 'name' as const, reason, cardinality: isUnique ? 'ManyToOne' : null },
      ];
    }),
  );

/**
 * Returns the relationships that foreign keys declare. For columns without a foreign key, also those that names
 * suggest.
 */
const proposeRelationships = (tables: readonly SourceTable[]): readonly ProposedRelationship[] => {
  const nameOf = relationshipNames(tables);
  const keys = edgesOfKeys(tables);
  const edges = [...keys, ...edgesOfNames(tables, keys)];
  const seen = new Map<string, number>();
  return edges.map((edge) => {
    const name = nameOf(edge.parent);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return { relationshipName: count === 1 ? name : `${name} (${count})`, join: null, ...edge };
  });
};

/** Returns the column that best names a row of the table; null if no column looks like a name. */
export const labelColumnOf = (table: SourceTable): string | null => {
  const texts = table.columns.filter((column) => isOfKind(column, 'text', 'enum'));
  const own = singularName(table.tableName);
  const wanted = [
    (words: readonly string[]) => words.join(' ') === 'name',
    (words: readonly string[]) => words.join(' ') === `${own} name`,
    (words: readonly string[]) => words.at(-1) === 'name' && words[0] === 'company',
    (words: readonly string[]) => ['title', 'label', 'subject'].includes(words.join(' ')),
    (words: readonly string[]) =>
      words.at(-1) === 'name' && !['first', 'last', 'contact', 'user', 'file'].includes(words[0] ?? ''),
    (words: readonly string[]) => words.join(' ') === `${own} description` || words.join(' ') === own,
  ];
  for (const fits of wanted) {
    const found = texts.find(({ columnName }) => fits(wordsOf(columnName)));
    if (found !== undefined) return found.columnName;
  }
  return null;
};

/** Returns the column by which other tables refer to a row: the primary key, or the only unique key. */
const singleKeyOf = (table: SourceTable, relationships: readonly ProposedRelationship[]): string | null => {
  const referenced = relationships.find(({ child }) => sameTable(child, table))?.child.columnName;
  if (referenced !== undefined) return referenced;
  if (table.primaryKey.length === 1) return table.primaryKey[0] ?? null;
  const [unique, ...others] = table.uniqueKeys.filter((key) => key.length === 1);
  return others.length === 0 ? (unique?.[0] ?? null) : null;
};

/**
 * Returns the table's client column for these tenants: a foreign key to them, or a column of the same type as their key
 * that has the given name or is named after them. Null if there is none, or if several foreign keys refer to them.
 */
export const clientColumnOf = (
  table: SourceTable,
  tenants: { readonly table: SourceTable; readonly keyColumn: string; readonly clientColumn?: string | undefined },
  relationships: readonly Pick<ProposedRelationship, 'parent' | 'child'>[],
): string | 'several' | null => {
  const named = table.columns.find(({ columnName }) => columnName === tenants.clientColumn)?.columnName;
  const isAlike = (name: string): boolean => kindOf(table, name) === kindOf(tenants.table, tenants.keyColumn);
  const own = refOf(tenants.table, tenants.keyColumn);
  const leading = relationships
    .filter(({ parent, child }) => sameTable(parent, table) && sameColumn(child, own))
    .map(({ parent }) => parent.columnName);
  // A column with another name than the given one may refer to the tenant in another role, so it is not proposed. The
  // same holds if several columns fit.
  if (named !== undefined && isAlike(named)) return named;
  const [only, second] = [...new Set(leading)];
  if (second !== undefined) return 'several';
  return only ?? null;
};

/** Returns how many other tables lead to this one by many-to-one relationships, directly or through others. */
export const countLeadingTo = (
  table: TableRef,
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
): number => keysLeadingTo(table, tables, relationships).size - 1;

/** The keys of the table and of those that lead to it. */
const keysLeadingTo = (
  table: TableRef,
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
): ReadonlySet<string> => {
  const owned = new Set([tableKey(table)]);
  const isOwned = (table: TableRef): boolean => owned.has(tableKey(table));
  for (let before = 0; before < owned.size; ) {
    before = owned.size;
    for (const { parent, child, cardinality } of relationships) {
      if (cardinality !== null && isOwned(child) && tables.some((table) => sameTable(table, parent)))
        owned.add(tableKey(parent));
    }
  }
  return owned;
};

/**
 * Whether the table is the tenants by its keys alone: at least half of the other tables lead to it, it leads to none, and
 * it holds no people, whose keys say who did something.
 */
const isTenantsByKeys = (
  table: SourceTable,
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
): boolean =>
  !isPerson(table.tableName) &&
  !relationships.some(({ parent }) => sameTable(parent, table)) &&
  countLeadingTo(table, tables, relationships) >= Math.max(2, (tables.length - 1) / 2);

/** The tables that are named like tenants. Where there is none: the only table that is the tenants by its keys. */
const proposeTenantTables = (
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
): readonly ProposedTenantTable[] => {
  const proposedBy = (table: SourceTable, why: string): readonly ProposedTenantTable[] => {
    const keyColumn = singleKeyOf(table, relationships);
    if (keyColumn === null) return [];
    const tablesReached = countLeadingTo(table, tables, relationships);
    const { schemaName, tableName } = table;
    const reason = `${why}; ${counted(tablesReached, 'other table leads', 'other tables lead')} to it`;
    return [{ schemaName, tableName, keyColumn, nameColumn: labelColumnOf(table) ?? keyColumn, tablesReached, reason }];
  };
  const named = tables
    .flatMap((table) => {
      const word = singularName(table.tableName).split(' ').at(-1) ?? '';
      const rank = tenantRank(word);
      return rank === null
        ? []
        : proposedBy(table, `named like tenants (${word})`).map((proposed) => ({ rank, proposed }));
    })
    .sort((a, b) => b.proposed.tablesReached - a.proposed.tablesReached || a.rank - b.rank)
    .map(({ proposed }) => proposed);
  if (named.length > 0) return named;
  const [only, second] = tables.filter((table) => isTenantsByKeys(table, tables, relationships));
  return only === undefined || second !== undefined ? [] : proposedBy(only, 'no table is named like tenants');
};

/** The table that a person names, whatever its name and keys propose. */
const givenTenants = (
  table: SourceTable,
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
): ProposedTenantTable => {
  const { schemaName, tableName, primaryKey, columns } = table;
  const keyColumn = singleKeyOf(table, relationships) ?? primaryKey[0] ?? columns[0]?.columnName ?? '';
  const tablesReached = countLeadingTo(table, tables, relationships);
  const nameColumn = labelColumnOf(table) ?? keyColumn;
  return { schemaName, tableName, keyColumn, nameColumn, tablesReached, reason: 'chosen' };
};

const proposeClientColumns = (
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
  tenantTables: readonly ProposedTenantTable[],
): readonly ProposedClientColumn[] =>
  tables.flatMap((table) =>
    table.columns.flatMap(({ columnName }): readonly ProposedClientColumn[] => {
      const column = refOf(table, columnName);
      const to = relationships.find(({ parent }) => sameColumn(parent, column));
      const tenants = to && tenantTables.find((one) => sameColumn(to.child, refOf(one, one.keyColumn)));
      if (to !== undefined && tenants !== undefined) {
        const { schemaName, tableName } = tenants;
        const how = to.basis === 'foreignKey' ? 'foreign key' : 'named like the key';
        return [{ ...column, tenantTable: { schemaName, tableName }, reason: `${how} of ${tableName}` }];
      }
      const word = tenantWordOf(columnName);
      const isOwnTable = tenantTables.some((one) => sameTable(one, table));
      if (word === null || to !== undefined || isOwnTable) return [];
      return [{ ...column, tenantTable: null, reason: `named like a tenant (${word})` }];
    }),
  );

/** The columns that name a person: one whole name, or the parts of it. */
const personNames = (table: SourceTable): readonly string[] => {
  const texts = table.columns.filter((column) => isOfKind(column, 'text'));
  const named = (...names: readonly string[]): readonly string[] =>
    names.flatMap((name) => texts.find(({ columnName }) => wordsOf(columnName).join(' ') === name)?.columnName ?? []);
  const [whole] = [...named('name', 'full name', 'display name'), labelColumnOf(table) ?? []].flat();
  return whole === undefined ? named('first name', 'last name', 'given name', 'family name', 'surname') : [whole];
};

/** Whether the keys say that a row of the table pairs these two columns, as a membership does. */
const isPairing = ({ primaryKey, uniqueKeys }: SourceTable, columns: readonly string[]): boolean =>
  [primaryKey, ...uniqueKeys].some((key) => key.length === 2 && columns.every((name) => key.includes(name)));

/** The columns by which people are divided, such as departments. */
const personKinds = ({ columns }: SourceTable): readonly string[] =>
  columns
    .filter((column) => isOfKind(column, 'text', 'enum') && dividesPeople(column.columnName))
    .map(({ columnName }) => columnName);

/**
 * Proposes how tenants read tables of people who belong to several of them: a table with a key to the tenants and one
 * to the people, which pairs the two or is named like memberships. Nothing is proposed for people who have a tenant.
 */
export const proposeBridges = (
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
  tenants: TableRef,
): readonly ProposedBridge[] => {
  const owned = keysLeadingTo(tenants, tables, relationships);
  return tables.flatMap((people): readonly ProposedBridge[] => {
    if (owned.has(tableKey(people)) || !isPerson(people.tableName)) return [];
    const found = relationships.flatMap((relationship) => {
      const { parent, child, cardinality } = relationship;
      const bridge = tables.find((one) => sameTable(one, parent));
      const toTenants = relationships.filter((one) => sameTable(one.parent, parent) && sameTable(one.child, tenants));
      if (bridge === undefined || !sameTable(child, people) || cardinality === null) return [];
      const isPair = toTenants.some((one) => isPairing(bridge, [parent.columnName, one.parent.columnName]));
      const isMeant = toTenants.length > 0 && (isPair || isMembership(bridge.tableName));
      return isMeant ? [{ relationship, bridge, isPair }] : [];
    });
    const [best] = found.toSorted((a, b) => Number(b.isPair) - Number(a.isPair));
    return best === undefined ? [] : [bridgeOf(people, best, tenants)];
  });
};

const bridgeOf = (
  people: SourceTable,
  { relationship, bridge, isPair }: { relationship: ProposedRelationship; bridge: TableRef; isPair: boolean },
  tenants: TableRef,
): ProposedBridge => {
  const { schemaName, tableName } = people;
  const columns = [...new Set([relationship.child.columnName, ...personNames(people), ...personKinds(people)])];
  const why = isPair ? 'each row pairs one with' : 'named like memberships, with a key to';
  return {
    ...{ schemaName, tableName },
    through: { relationship: relationship.relationshipName, columns },
    bridge: { schemaName: bridge.schemaName, tableName: bridge.tableName },
    askedColumns: people.columns
      .map(({ columnName }) => columnName)
      .filter((name) => isPersonal(name) && !columns.includes(name)),
    reason: `rows of ${tableName} belong to several tenants by ${bridge.tableName} (${why} ${tenants.tableName})`,
  };
};

/** Whether rows of the table are people, or things that have a name of their own. */
const hasNames = (table: SourceTable): boolean =>
  isPerson(table.tableName) || wordsOf(labelColumnOf(table) ?? '').includes('name');

/** The tables whose rows are called by names of this table; memberships only say who belongs to what. */
const namedBy = (table: SourceTable, relationships: readonly ProposedRelationship[]): readonly string[] =>
  hasNames(table)
    ? relationships
        .filter(({ parent, child }) => sameTable(child, table) && !isMembership(parent.tableName))
        .map(({ parent }) => parent.tableName)
    : [];

/**
 * Base filters by the names of columns: times of deletion, which are NULL while a row is in use, and marks of deletions
 * and tests. Without its deleted rows, a table of people or names would leave the rows of other tables nameless.
 */
const proposeBaseFilters = (
  table: SourceTable,
  relationships: readonly ProposedRelationship[],
): readonly ProposedBaseFilter[] =>
  table.columns.flatMap((column): readonly ProposedBaseFilter[] => {
    const { columnName, isNullable } = column;
    const { schemaName, tableName } = table;
    const [named] = namedBy(table, relationships);
    const nameless =
      named === undefined ? '' : `; rows of ${named} would lose the names of deleted ${wordsOf(tableName).join(' ')}`;
    if (isOfKind(column, 'date') && isNullable && isTimeOfRemoval(columnName)) {
      const reason = `${columnName} is empty while a row is in use${nameless}`;
      const filter: BaseFilter = { columnName, predicate: { kind: 'isNull' } };
      return [{ schemaName, tableName, filter, isCertain: nameless === '', reason }];
    }
    const isBoolean = isOfKind(column, 'boolean') || mayBeBoolean(column);
    const isRemoval = isMarkOfRemoval(columnName);
    if (!isBoolean || !(isRemoval || isMarkOfTest(columnName))) return [];
    const filter: BaseFilter = { columnName, predicate: { kind: 'compare', operator: '=', value: false } };
    const nulls = isNullable ? '; rows without a value are left out too' : '';
    const lost = isRemoval ? nameless : '';
    const reason = `${columnName} marks rows that are not to be counted${nulls}${lost}`;
    return [{ schemaName, tableName, filter, isCertain: nulls === '' && lost === '', reason }];
  });

/** As `proposeAmounts`, for these tenants; undefined: they are not known. */
export const amountsFor = (
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
  tenants: TableRef | undefined,
): readonly ProposedAmount[] =>
  proposeAmounts(
    tables,
    relationships,
    tenants && { table: tenants, owned: keysLeadingTo(tenants, tables, relationships) },
  );

/** Names of columns that may hold one of these tenants, with how many tables have each; most first. */
export const clientColumnNames = (
  tenants: TableRef,
  { clientColumns }: Pick<SourceProposals, 'clientColumns'>,
): readonly (readonly [name: string, count: number])[] => {
  const counts = new Map<string, number>();
  for (const { columnName, tenantTable } of clientColumns) {
    if (tenantTable !== null && !sameTable(tenantTable, tenants)) continue;
    counts.set(columnName, (counts.get(columnName) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a);
};

/** The proposals. `tenants`: the table of tenants that a person chose; it counts as the most likely. */
export const proposeFor = (tables: readonly SourceTable[], tenants?: SourceTable): SourceProposals => {
  const relationships = proposeRelationships(tables);
  const found = proposeTenantTables(tables, relationships);
  const tenantTables =
    tenants === undefined
      ? found
      : [givenTenants(tenants, tables, relationships), ...found.filter((one) => !sameTable(one, tenants))];
  return {
    relationships,
    tenantTables,
    clientColumns: proposeClientColumns(tables, relationships, tenantTables),
    bridges: tenantTables.slice(0, 1).flatMap((one) => proposeBridges(tables, relationships, one)),
    baseFilters: tables.flatMap((table) => proposeBaseFilters(table, relationships)),
    amounts: amountsFor(tables, relationships, tenantTables[0]),
  };
};
