/**
 * Ways between two tables along the relationships of a datamart. A relationship of a table with itself leads nowhere.
 *
 * Most tables have a key of the tenants' own table, so that any two of them are related through it: by the tenant alone,
 * which says nothing. So a way that avoids that table wins over one through it, and a way to it takes the key of the
 * first table that has one. A way from it, or through it, is still the only one or none: the rows that a token hides are
 * found by the ways from each table, and these must agree with the way of the question.
 */
import { type Datamart, type Relationship, sameTable, type TableRef } from './datamart.js';

export type Way = readonly Relationship[];

/** The part of a datamart that ways are found in. */
export type Ways = Pick<Datamart, 'relationships' | 'tables' | 'tenancy'>;

export type FoundWay =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly way: Way }
  /** `avoided` is a part of the first way that the second does without. */
  | { readonly kind: 'several'; readonly ways: readonly [Way, Way]; readonly avoided: Relationship };

/** The table at the other end; undefined where the relationship does not lead away from the table. */
export const otherEnd = ({ parent, child }: Relationship, table: TableRef): TableRef | undefined => {
  if (sameTable(parent, child)) return undefined;
  if (sameTable(parent, table)) return child;
  return sameTable(child, table) ? parent : undefined;
};

const besideTenants = (
  relationships: readonly Relationship[],
  tenants: TableRef,
  from: TableRef,
  to: TableRef,
): FoundWay =>
  search(
    relationships.filter((one) => otherEnd(one, tenants) === undefined),
    from,
    to,
  );

/** Whether two tables have nothing in common but the tenants' own table: every way between them leads through it. */
export const isByTenantAlone = (datamart: Ways, from: TableRef, to: TableRef): boolean => {
  const tenants = tenantsOf(datamart);
  if (tenants === undefined || sameTable(from, tenants) || sameTable(to, tenants)) return false;
  return besideTenants(datamart.relationships, tenants, from, to).kind === 'none';
};

/** Finds the only way between two tables, or says that there is none or that there are several. */
export const findWay = (datamart: Ways, from: TableRef, to: TableRef): FoundWay => {
  const { relationships } = datamart;
  const tenants = tenantsOf(datamart);
  if (tenants === undefined) return search(relationships, from, to);
  const isKey = (relationship: Relationship): boolean => otherEnd(relationship, tenants) !== undefined;
  if (sameTable(to, tenants)) {
    const hasKey = (table: TableRef): boolean =>
      relationships.some((one) => isKey(one) && otherEnd(one, table) !== undefined);
    return search(relationships, from, to, (relationship, table) => isKey(relationship) || !hasKey(table));
  }
  const beside = besideTenants(relationships, tenants, from, to);
  return beside.kind === 'none' ? search(relationships, from, to) : beside;
};

/**
 * The tenants' own table, where every relationship with it is the key by which a table's rows belong to a tenant.
 * Undefined where clients are not separated by table, and where a relationship says something else.
 */
export const tenantsOf = ({ relationships, tables, tenancy }: Ways): TableRef | undefined => {
  if (tenancy?.tenancyLevel !== 'TABLE') return undefined;
  const isOfTenant = (relationship: Relationship): boolean => {
    const table = otherEnd(relationship, tenancy);
    if (table === undefined) return true;
    const { parent, child } = relationship;
    const [own, key] = sameTable(parent, table) ? [parent, child] : [child, parent];
    const { clientColumn, isClientColumnOfEmbed } = tables.find((one) => sameTable(one, table)) ?? {};
    return (
      key.columnName === tenancy.tablePrimaryKeyColumn &&
      own.columnName === clientColumn &&
      isClientColumnOfEmbed !== true
    );
  };
  return relationships.every(isOfTenant) ? tenancy : undefined;
};

/** Whether a way may leave the table by the relationship. */
type Leaves = (relationship: Relationship, table: TableRef) => boolean;

const search = (relationships: Way, from: TableRef, to: TableRef, leaves: Leaves = () => true): FoundWay => {
  const way = shortestWay(relationships, from, to, leaves);
  if (way === undefined) return { kind: 'none' };
  for (const avoided of way) {
    const others = relationships.filter((relationship) => relationship !== avoided);
    const other = shortestWay(others, from, to, leaves);
    if (other !== undefined) return { kind: 'several', ways: [way, other], avoided };
  }
  return { kind: 'one', way };
};

const shortestWay = (relationships: Way, from: TableRef, to: TableRef, leaves: Leaves): Way | undefined => {
  const reached: { readonly table: TableRef; readonly way: Way }[] = [{ table: from, way: [] }];
  for (const { table, way } of reached) {
    if (sameTable(table, to)) return way;
    for (const relationship of relationships) {
      const next = otherEnd(relationship, table);
      if (next === undefined || !leaves(relationship, table)) continue;
      if (!reached.some((seen) => sameTable(seen.table, next))) {
        reached.push({ table: next, way: [...way, relationship] });
      }
    }
  }
  return undefined;
};
