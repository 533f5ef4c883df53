import { type Cardinality, type ColumnRef, type Datamart, findTable, tableKey } from '../domain/datamart.js';
import type { Catalog } from './catalog.js';

/** The datamart, where a relationship without cardinality has the one that keys of the datasource prove; without any, it is ManyToMany. */
export const withCardinalities = (datamart: Datamart, catalog: Catalog): Datamart => ({
  ...datamart,
  relationships: datamart.relationships.map((relationship) =>
    relationship.cardinality === null
      ? {
          ...relationship,
          cardinality:
            proven[sideOf(relationship.parent, datamart, catalog)][sideOf(relationship.child, datamart, catalog)],
        }
      : relationship,
  ),
});

type Side = 'one' | 'many';

/** By the parent's side, then the child's. */
const proven: Readonly<Record<Side, Readonly<Record<Side, Cardinality>>>> = {
  one: { one: 'OneToOne', many: 'OneToMany' },
  many: { one: 'ManyToOne', many: 'ManyToMany' },
};

/** A key that holds the client column too is one of each client's rows, and there are no others in a leaf. */
const sideOf = (column: ColumnRef, datamart: Datamart, { uniqueKeys }: Catalog): Side => {
  const isSeparated = datamart.tenancy?.tenancyLevel === 'TABLE';
  const clientColumn = isSeparated ? findTable(datamart, column)?.clientColumn : null;
  const keys = uniqueKeys?.get(tableKey(column)) ?? [];
  const isKey = (key: readonly string[]): boolean =>
    key.length > 0 && key.every((name) => name === column.columnName || name === clientColumn);
  return keys.some(isKey) ? 'one' : 'many';
};
