import { columnKind, type Datatype, type NamedType, type ValueKind } from '../../model/datamart/datatypes.js';

/** A column's type, as far as binding and checking values need it. Each database's catalog is translated into these. */
export type SqlType = Datatype & {
  /** How the column compares text, in the dialect's terms; left out where the database has only one way. */
  readonly collation?: string;
  /**
   * The column's stored type and collation, by the database's ids. Left out where its `=` may treat two different
   * texts as equal.
   */
  readonly stored?: string;
  /** Whether two different stored texts may be read as one, so that the column cannot tell tenants apart. */
  readonly isAmbiguous?: boolean;
  /** Whether a datamart may declare that the numbers are booleans. */
  readonly mayBeBoolean?: boolean;
  /** Set where the datamart gives the column a scale: the type as it is stored, and its number of decimal places. */
  readonly scaled?: { readonly from: SqlType; readonly digits: number };
};

export type SqlKind = ValueKind;

const signed = (bits: bigint): readonly [bigint, bigint] => [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
const unsigned = (bits: bigint): readonly [bigint, bigint] => [0n, 2n ** bits - 1n];

/** The range of each integer type. */
export const integerRanges: ReadonlyMap<string, readonly [bigint, bigint]> = new Map([
  ['TINYINT', signed(8n)],
  ['SMALLINT', signed(16n)],
  ['INTEGER', signed(32n)],
  ['BIGINT', signed(64n)],
  ['HUGEINT', signed(128n)],
  ['UTINYINT', unsigned(8n)],
  ['USMALLINT', unsigned(16n)],
  ['UINTEGER', unsigned(32n)],
  ['UBIGINT', unsigned(64n)],
  ['UHUGEINT', unsigned(128n)],
  ['INT256', signed(256n)],
  ['UINT256', unsigned(256n)],
]);

/** A decimal of arbitrary size, in databases that have one. */
export const unboundedDecimal = 'NUMERIC';

export const floatType: SqlType = { kind: 'float', cast: 'DOUBLE' };

/** An unknown type. Its columns cannot be compared with values. */
export const otherType: SqlType = { kind: 'other', cast: '' };

/** The type as the datamart's column has it: numbers of a `tinyint(1)` that it declares booleans. */
export const declaredType = (type: SqlType, column: NamedType): SqlType =>
  type.mayBeBoolean === true && columnKind(column) === 'boolean' ? { kind: 'boolean', cast: 'BOOLEAN' } : type;

/** Width and scale of `DECIMAL(10,2)`; undefined for another cast. */
export const decimalOfCast = (cast: string): { readonly width: number; readonly scale: number } | undefined => {
  const match = /^DECIMAL\(([0-9]+),([0-9]+)\)$/.exec(cast);
  return match === null ? undefined : { width: Number(match[1]), scale: Number(match[2]) };
};

/** As decimalOfCast, also for integers, which fit a decimal of as many digits. */
export const asDecimal = (cast: string): { readonly width: number; readonly scale: number } | undefined => {
  const range = integerRanges.get(cast);
  return range === undefined ? decimalOfCast(cast) : { width: String(range[1]).length, scale: 0 };
};

/** Whether values that have no kind of their own are read as text, which can be compared. */
export const isReadAsText = ({ kind, readAs }: SqlType): boolean =>
  (kind === 'other' || kind === 'json') && readAs !== undefined;

/** Whether the values are shown as the database writes them, and never compared. */
export const isOpaque = (type: SqlType): boolean =>
  (type.kind === 'other' || type.kind === 'json') && type.readAs === undefined;

export const isNumeric = (type: SqlType): boolean =>
  type.kind === 'integer' || type.kind === 'decimal' || type.kind === 'float';

export const isTemporal = (type: SqlType): boolean =>
  type.kind === 'date' || type.kind === 'timestamp' || type.kind === 'instant';
