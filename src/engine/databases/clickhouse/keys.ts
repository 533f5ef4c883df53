import { sql } from 'kysely';
import { columnName } from '../../dialect/catalog.js';
import type { Side, Sql } from '../../dialect/dialect.js';
import { refuseQuery } from '../../dialect/refuse.js';
import { decimalOfCast, integerRanges, isNumeric, type SqlType } from '../../dialect/sql-type.js';
import { castNames, greatestDigits, instantName } from './names.js';
import { padded } from './values.js';

/**
 * Both columns in one type that holds the values of both, for = and IN. Without this, ClickHouse rounds 1.5 to 1 in
 * `DECIMAL IN (SELECT INTEGER)`, and has no common type for Int64 and UInt64.
 */
export const keysOf = (near: Side, far: Side): readonly [Sql, Sql] => {
  const [a, b] = [near.type, far.type];
  const isPlain = a.kind === b.kind && a.cast === b.cast && a.digits === b.digits && a.collation === b.collation;
  if (isPlain && a.kind !== 'date') return [near.column, far.column];
  const name = commonName(a, b) ?? refuseJoin(near, far);
  return [converted(near.column, name), converted(far.column, name)];
};

/** ClickHouse cannot cast 128-bit and longer integers to a decimal, but can add them to one. */
export const converted = (value: Sql, name: string): Sql =>
  name.startsWith('Decimal') ? sql`(${value} + CAST(0 AS ${sql.raw(name)}))` : sql`CAST(${value} AS ${sql.raw(name)})`;

const commonName = (a: SqlType, b: SqlType): string | undefined => {
  if (isTextual(a) && isTextual(b)) return 'String';
  if (isDated(a) && isDated(b)) {
    return a.kind === 'date' && b.kind === 'date' ? 'Date32' : instantName(Math.max(a.digits ?? 0, b.digits ?? 0));
  }
  return isNumeric(a) && isNumeric(b) ? commonNumber(a, b) : undefined;
};

const isTextual = ({ kind }: SqlType): boolean => kind === 'text' || kind === 'enum';
const isDated = ({ kind }: SqlType): boolean => kind === 'date' || kind === 'instant';

const commonNumber = (a: SqlType, b: SqlType): string | undefined => {
  if (a.kind === 'float' || b.kind === 'float') return 'Float64';
  const [left, right] = [integerRanges.get(a.cast), integerRanges.get(b.cast)];
  if (left === undefined || right === undefined) return commonDecimal(a, b);
  const wide = ['BIGINT', 'HUGEINT', 'INT256'].find((cast) => {
    const [least, greatest] = integerRanges.get(cast) ?? [0n, 0n];
    return [left, right].every((range) => range[0] >= least && range[1] <= greatest);
  });
  return wide === undefined ? undefined : castNames.get(wide);
};

const commonDecimal = (a: SqlType, b: SqlType): string | undefined => {
  const [left, right] = [digitsOf(a), digitsOf(b)];
  const scale = Math.max(left.scale, right.scale);
  const whole = Math.max(left.width - left.scale, right.width - right.scale);
  return whole + scale > greatestDigits ? undefined : `Decimal(${greatestDigits}, ${scale})`;
};

/** The number of digits of the type, and how many of them are decimals. */
export const digitsOf = ({ cast }: SqlType): { readonly width: number; readonly scale: number } =>
  decimalOfCast(cast) ?? { width: String(integerRanges.get(cast)?.[1] ?? '').length, scale: 0 };

const refuseJoin = (near: Side, far: Side): never =>
  refuseQuery(
    `Columns ${columnName(near.ref)} and ${columnName(far.ref)} are joined, but ClickHouse has no type that holds the values of both exactly. Join columns of one type.`,
    'join-of-different-types',
  );

export const isPadded = ({ collation }: SqlType): boolean => collation === padded;
