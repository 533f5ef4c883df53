/**
 * Refuses SUM and AVG of what is no number in custom SQL while a metric is written. PostgreSQL, DuckDB and ClickHouse refuse
 * them; MySQL would answer numbers that mean nothing. A stored metric goes on as before.
 */
import type { ColumnRef } from '../../model/datamart/datamart.js';
import { columnName, typeOf } from '../dialect/catalog.js';
import { refuseQuery } from '../dialect/refuse.js';
import type { SqlKind } from '../dialect/sql-type.js';
import type { SqlContext } from './context.js';

const kinds: Readonly<Partial<Record<SqlKind, string>>> = {
  text: 'text',
  enum: 'text',
  uuid: 'text',
  date: 'dates',
  timestamp: 'dates',
  instant: 'dates',
  json: 'JSON',
  other: 'values that are no numbers',
};

/** `columns`: those that the name may mean. All of them must be without a sum. */
export const assertSum = (
  { catalog }: Pick<SqlContext, 'catalog'>,
  aggregate: string,
  columns: readonly ColumnRef[],
): void => {
  const found = columns.map((ref) => {
    const type = typeOf(catalog, ref);
    return { ref, holds: type && kinds[type.kind] };
  });
  const [one] = found;
  if (one?.holds === undefined || found.some(({ holds }) => holds === undefined)) return;
  refuseQuery(
    `${aggregate} needs numbers, and column ${columnName(one.ref)} holds ${one.holds}; choose a column of numbers, or CAST the column to a number.`,
    'measure-type',
  );
};
