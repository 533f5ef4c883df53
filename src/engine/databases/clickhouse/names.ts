import { refuseUnknown } from '../refuse.js';
import { decimalOfCast } from '../sql-type.js';

/** A server takes no more than 128 KiB in one value of a form; at worst, each byte of it is escaped. */
export const greatestValueBytes = 65_000;

/** Of a Decimal. */
export const greatestDigits = 76;

export const instantName = (digits: number): string => `DateTime64(${digits}, 'UTC')`;

/** Microseconds, as the other databases have them; more where the column itself keeps more. */
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
  // In the order of its text, as the other databases have it: ClickHouse sorts UUIDs by their second half.
  ['UUID', 'String'],
  ['DATE', 'Date32'],
  ['TIMESTAMP', instantName(6)],
]);

/** Decimals are as wide as can be: a comparison multiplies by ten until the scales are equal, and what does not fit then passes as unequal. */
export const nameOfCast = (cast: string): string => {
  const decimal = decimalOfCast(cast);
  if (decimal !== undefined) return `Decimal(${greatestDigits}, ${decimal.scale})`;
  return castNames.get(cast) ?? refuseUnknown('type', cast as never);
};
