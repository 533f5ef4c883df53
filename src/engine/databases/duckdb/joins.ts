import { sql } from 'kysely';
import { columnName } from '../../dialect/catalog.js';
import type { Side, Sql } from '../../dialect/dialect.js';
import { refuseQuery } from '../../dialect/refuse.js';
import { asDecimal, integerRanges, type SqlType } from '../../dialect/sql-type.js';
import { timeOf } from './times.js';

/**
 * DuckDB casts both columns of a comparison to one type, and may apply a filter on one column to the other before the
 * tenant predicate. So no value may fail in the cast.
 */
export const join = (near: Side, far: Side): Sql => {
  if (!isHeldByOne(near.type, far.type)) {
    refuseQuery(
      `Columns ${columnName(near.ref)} and ${columnName(far.ref)} are joined, but DuckDB has no type that holds the numbers of both. Join columns of one type.`,
      'join-of-different-types',
    );
  }
  return sql`${sideOf(near, far)} = ${sideOf(far, near)}`;
};

/** A time with nanoseconds is read to the microsecond: DuckDB would cast the other side to nanoseconds, and fail. */
const sideOf = ({ column, type }: Side, other: Side): Sql => {
  if (type.readAs === 'timestamp') return sql`CAST(${column} AS TIMESTAMP)`;
  return type.kind === 'date' && other.type.kind === 'timestamp' ? timeOf(column) : exactText(column, type);
};

/**
 * The collation of text columns in a file that declares collations anywhere: DuckDB does not report of which columns.
 */
export const unknownCollation = 'unknown';

/** Text compared byte by byte. Written only where needed, because it doubles the time of a join. */
export const exactText = (column: Sql, { collation }: SqlType): Sql =>
  collation === unknownCollation ? sql`(${column} COLLATE "c")` : column;

const isHeldByOne = (a: SqlType, b: SqlType): boolean => {
  const [left, right] = [asDecimal(a.cast), asDecimal(b.cast)];
  if (a.cast === b.cast || left === undefined || right === undefined) return true;
  if (a.kind === 'integer' && b.kind === 'integer') return !isWidestBesideSigned(a, b) && !isWidestBesideSigned(b, a);
  const scale = Math.max(left.scale, right.scale);
  return Math.max(left.width - left.scale, right.width - right.scale) + scale <= (a.greatestDigits ?? 0);
};

const isWidestBesideSigned = (a: SqlType, b: SqlType): boolean =>
  a.cast === 'UHUGEINT' && (integerRanges.get(b.cast)?.[0] ?? 0n) < 0n;
