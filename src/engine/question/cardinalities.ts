import {
  type Cardinality,
  type ColumnRef,
  type Datamart,
  findTable,
  type Relationship,
  tableKey,
} from '../../model/datamart/datamart.js';
import { type Catalog, typeOf } from '../dialect/catalog.js';
import type { SqlType } from '../dialect/sql-type.js';

/**
 * The datamart with a cardinality for every relationship: the declared one, else the one that keys of the datasource
 * prove, else ManyToMany.
 */
export const withCardinalities = (datamart: Datamart, catalog: Catalog): Datamart => ({
  ...datamart,
  relationships: datamart.relationships.map((relationship) =>
    relationship.cardinality === null
      ? { ...relationship, cardinality: provenBy(relationship, datamart, catalog) }
      : relationship,
  ),
});

type Side = 'one' | 'many';

/** By the parent's side, then the child's. */
const proven: Readonly<Record<Side, Readonly<Record<Side, Cardinality>>>> = {
  one: { one: 'OneToOne', many: 'OneToMany' },
  many: { one: 'ManyToOne', many: 'ManyToMany' },
};

/**
 * A key is unique under its own type's equality. Under another type's, two keys may be equal: a float may equal two
 * decimals.
 */
const provenBy = ({ parent, child }: Relationship, datamart: Datamart, catalog: Catalog): Cardinality =>
  isComparedAlike(typeOf(catalog, parent), typeOf(catalog, child))
    ? proven[sideOf(parent, datamart, catalog)][sideOf(child, datamart, catalog)]
    : 'ManyToMany';

const isComparedAlike = (parent: SqlType | undefined, child: SqlType | undefined): boolean =>
  equalityOf(parent) === equalityOf(child) && parent?.isAmbiguous !== true && child?.isAmbiguous !== true;

const equalityOf = (type: SqlType | undefined): string | undefined => {
  switch (type?.kind) {
    case 'integer':
    case 'decimal':
      return 'number';
    case 'text':
    case 'enum':
      return 'text';
    case 'date':
    case 'timestamp':
    case 'instant':
      return 'time';
    default:
      return type?.kind;
  }
};

/** A key that includes the client column is unique within one client's rows, and a leaf holds no others. */
const sideOf = (column: ColumnRef, datamart: Datamart, { uniqueKeys }: Catalog): Side => {
  const isSeparated = datamart.tenancy?.tenancyLevel === 'TABLE';
  const clientColumn = isSeparated ? findTable(datamart, column)?.clientColumn : null;
  const keys = uniqueKeys?.get(tableKey(column)) ?? [];
  const isKey = (key: readonly string[]): boolean =>
    key.length > 0 && key.every((name) => name === column.columnName || name === clientColumn);
  return keys.some(isKey) ? 'one' : 'many';
};
