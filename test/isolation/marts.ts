/** The datamart of a random case: its tables and joins. Its cardinalities are true for the data. */
import type { Cardinality, Datamart, Relationship } from '../../src/model/datamart/datamart.js';
import { byClients, datamart, relationship, table } from '../engine/world.js';
import type { ACase, AnEdge } from './cases.js';
import {
  clientColumns,
  columns,
  type Dataset,
  ownTables,
  parentOf,
  shardOf,
  sharedTables,
  type TableName,
  tenants,
} from './dataset.js';

const pairs: readonly (readonly [string, string])[] = [
  ['ref', 'id'],
  ['id', 'ref'],
  ['code', 'code'],
  ['tenant', 'tenant'],
  ['id', 'id'],
  ['ref', 'ref'],
];

const isUnique = (dataset: Dataset, name: TableName, column: string): boolean =>
  tenants.every((tenant) => {
    const values = (shardOf(dataset, tenant).get(name) ?? []).flatMap((row) => row[column] ?? []);
    return new Set(values).size === values.length;
  });

const cardinalities = (isParentUnique: boolean, isChildUnique: boolean): readonly (Cardinality | null)[] => [
  ...(isParentUnique && isChildUnique ? (['OneToOne'] as const) : []),
  ...(isChildUnique ? (['ManyToOne'] as const) : []),
  ...(isParentUnique ? (['OneToMany'] as const) : []),
  'ManyToMany',
  null,
];

const knownUnique = new WeakMap<Dataset, Map<string, boolean>>();
const isKnownUnique = (dataset: Dataset, name: TableName, column: string): boolean => {
  const known = knownUnique.get(dataset) ?? new Map<string, boolean>();
  knownUnique.set(dataset, known);
  const key = `${name}.${column}`;
  const answer = known.get(key) ?? isUnique(dataset, name, column);
  known.set(key, answer);
  return answer;
};

const joinable = (name: TableName, column: string, isNumber: boolean): string => {
  if (name === 'clients') return isNumber ? 'no' : 'id';
  return isNumber && column === 'tenant' ? 'tenant_no' : column;
};

const relationshipsOf = (
  dataset: Dataset,
  { tables: all, edges, flaw, isNumber, derived }: ACase,
): readonly Relationship[] => {
  const tables = flaw === 'keys' ? all.filter((name) => name !== 'clients') : all;
  const made = tables.slice(1).flatMap((name, index): readonly Relationship[] => {
    const edge = edges[index];
    const other = tables[(edge?.to ?? 0) % (index + 1)];
    const above = derived.includes(name) ? parentOf[name] : undefined;
    if (edge !== undefined && above !== undefined) return [toParent(name, above, edge)];
    if (edge === undefined || other === undefined || (flaw === 'gap' && index === 0)) return [];
    const [left, right] = (name === 'clients' || other === 'clients'
      ? ['tenant', 'tenant']
      : pairs[edge.pair % pairs.length]) ?? ['id', 'id'];
    const [parent, child] = edge.isFlipped ? [other, name] : [name, other];
    const ends = [joinable(parent, left, isNumber), joinable(child, right, isNumber)] as const;
    const true_ = cardinalities(isKnownUnique(dataset, parent, ends[0]), isKnownUnique(dataset, child, ends[1]));
    const said = flaw === 'untrue' ? 'OneToOne' : (true_[edge.cardinality % true_.length] ?? null);
    return [relationship(`${parent}.${ends[0]}`, `${child}.${ends[1]}`, edge.join, said)];
  });
  if (flaw === 'keys') return [...made, ...keysOfClients(all, isNumber, derived)];
  const [first] = made;
  return flaw === 'loop' && first !== undefined
    ? [...made, { ...first, relationshipName: 'another way', join: 'LEFT JOIN' }]
    : made;
};

/** Keys of the table of clients, one from each table that has a client column. */
const keysOfClients = (
  tables: readonly TableName[],
  isNumber: boolean,
  derived: readonly TableName[],
): readonly Relationship[] => {
  const [own, key] = isNumber ? ['tenant_no', 'no'] : ['tenant', 'id'];
  return ownTables
    .filter((name) => tables.includes('clients') && tables.includes(name) && !derived.includes(name))
    .map((name) => relationship(`${name}.${own}`, `clients.${key}`, 'LEFT JOIN', 'ManyToOne'));
};

/** A relationship to the parent, declared as many-to-one, since the test's tables have no keys that would prove it. */
const toParent = (name: TableName, above: TableName, { isFlipped, join }: AnEdge): Relationship => {
  const [own, other] = [`${name}.up`, `${above}.uid`];
  const made = isFlipped ? relationship(other, own, join, 'OneToMany') : relationship(own, other, join, 'ManyToOne');
  return { ...made, relationshipName: wayUp(name) };
};
const wayUp = (name: TableName): string => `${name} belong to`;

export const martOf = (dataset: Dataset, aCase: ACase, isTenanted: boolean): Datamart => {
  const client = aCase.isNumber ? 'tenant_no' : 'tenant';
  const owned = ownTables as readonly TableName[];
  const tenancy = byClients(aCase.isNumber ? 'NUMBER' : 'STRING');
  return datamart({
    tenancy: isTenanted
      ? ({ ...tenancy, tablePrimaryKeyColumn: aCase.isNumber ? 'no' : 'id' } as NonNullable<Datamart['tenancy']>)
      : null,
    tables: aCase.tables.map((name) => {
      const isDerived = aCase.derived.includes(name);
      const own = isTenanted && owned.includes(name) && !isDerived ? client : null;
      const made = table(name, name === 'clients' ? clientColumns : columns, own);
      // Other relationships of the case may also lead to a client, so the path is declared.
      return isDerived ? { ...made, tenancyPath: wayUp(name) } : made;
    }),
    relationships: relationshipsOf(dataset, aCase),
    sharedTables: sharedTables.map((name) => `main.${name}`),
  });
};
