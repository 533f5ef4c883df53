/** The base filters of a table, as tests of the rows that a leaf or a bridge reads from the datasource. */

import { type BaseFilter, type DatamartTable, qualifiedName } from '../../model/datamart/datamart.js';
import { comparesBooleans } from '../../model/query/base-filters.js';
import { Refusal } from '../../model/refusal.js';
import { type Catalog, columnName, typeOf } from '../dialect/catalog.js';
import type { Column, RowTest } from '../dialect/dialect.js';
import { refuseQuery } from '../dialect/refuse.js';
import type { SqlType } from '../dialect/sql-type.js';
import { bindPredicate } from '../plan/values.js';
import { columnPredicateSql } from '../sql/predicates.js';

/** With the types of columns as they are stored. */
type Source = { readonly catalog: Catalog };

/** Throws METRIC_QUERY_ERROR for a filter that does not fit the datasource. */
export const baseTests = (table: DatamartTable, source: Source): readonly RowTest[] =>
  (table.baseFilters ?? []).map((filter) => baseTest(table, filter, source));

const baseTest = (table: DatamartTable, filter: BaseFilter, { catalog }: Source): RowTest => {
  const { schemaName, tableName } = table;
  const ref = { schemaName, tableName, columnName: filter.columnName };
  const stored = typeOf(catalog, ref);
  if (stored === undefined) {
    return refuseQuery(
      `A base filter of ${qualifiedName(table)} is on column ${columnName(ref)}, which is not in the datasource; correct the datamart.`,
      'base-filter-unfit',
    );
  }
  const type = typeFor(stored, filter);
  const column: Column = { ref, type, zone: type.kind === 'instant' ? 'UTC' : null };
  const predicate = bound(filter, column);
  return (dialect, name) => columnPredicateSql(dialect, name(filter.columnName), column, predicate);
};

/** A `tinyint(1)` that is compared with true or false holds booleans. */
const typeFor = (type: SqlType, filter: BaseFilter): SqlType =>
  type.mayBeBoolean === true && comparesBooleans(filter) ? { kind: 'boolean', cast: 'BOOLEAN' } : type;

/** The refusal gets a reason of its own, because a guest must not see its names. */
const bound = ({ predicate }: BaseFilter, column: Column) => {
  try {
    return bindPredicate(predicate, column);
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    throw new Refusal('METRIC_QUERY_ERROR', `A base filter of the datamart does not fit: ${cause.message}`, {
      reason: 'base-filter-unfit',
      cause,
    });
  }
};
