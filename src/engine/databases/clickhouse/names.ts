import { refuseUnknown } from '../../dialect/refuse.js';
import { decimalOfCast } from '../../dialect/sql-type.js';

/** The server limits a form value to 128 KiB, and escaping may double its length. */
export const greatestValueBytes = 65_000;

/** Digits of the longest Decimal. */
export const greatestDigits = 76;

export const instantName = (digits: number): string => `DateTime64(${digits}, 'UTC')`;

/** Microseconds, as on the other databases; more where the column keeps more. */
export const comparedDigits = (digits: number | undefined): number => Math.max(digits ?? 0, 6);

export const castNames: ReadonlyMap<string, string> = new Map([
  ['VARCHAR', 'String'],
  ['TINYINT', 'Int8'],
  ['SMALLINT', 'Int16'],
  ['INTEGER', 'Int32'],
  ['BIGINT', 'Int64'],
  ['HUGEINT', 'Int128'],
  ['INT256', 'Int256'],
  ['UTINYINT', 'UInt8'],
  ['USMALLINT', 'UInt16'],
  ['UINTEGER', 'UInt32'],
  ['UBIGINT', 'UInt64'],
  ['UHUGEINT', 'UInt128'],
  ['UINT256', 'UInt256'],
  ['FLOAT', 'Float32'],
  ['DOUBLE', 'Float64'],
  ['BOOLEAN', 'Bool'],
  // Compared as text, as on the other databases: ClickHouse sorts UUIDs by their second half.
  ['UUID', 'String'],
  ['DATE', 'Date32'],
  ['TIMESTAMP', instantName(6)],
  ['TIMESTAMP_NS', instantName(9)],
]);

/**
 * Decimals get the greatest width: a comparison scales both sides up to one scale, and an overflow would make equal
 * values unequal.
 */
export const nameOfCast = (cast: string): string => {
  const decimal = decimalOfCast(cast);
  if (decimal !== undefined) return `Decimal(${greatestDigits}, ${decimal.scale})`;
  return castNames.get(cast) ?? refuseUnknown('type', cast as never);
};
