/** A column's type as far as binding and checking need it; each database's catalog is read into these. */
export type SqlType = {
  readonly kind: SqlKind;
  /** One of the words that all dialects know: `VARCHAR`, `BIGINT`, `DECIMAL(10,2)`. Never from a datamart. */
  readonly cast: string;
  /** How the column itself compares text, in the dialect's words; left out where it has no way of its own. */
  readonly collation?: string;
  /** Left out where the column's own `=` may take two texts for one; otherwise what the column is, in the database's own numbers. */
  readonly stored?: string;
  /** Digits of a second that the column keeps, where the database has columns of several. */
  readonly digits?: number;
  /** Of numbers: how many digits a comparison may need, where the database has fewer than any other. */
  readonly greatestDigits?: number;
  /** Of decimals: NaN and the infinities are among their values. */
  readonly hasNotFinite?: boolean;
};

export type SqlKind =
  | 'text'
  /** Text out of a closed list. */
  | 'enum'
  | 'integer'
  | 'decimal'
  | 'float'
  | 'boolean'
  | 'date'
  | 'timestamp'
  /** An instant; it is read in a zone, UTC where the question names none. */
  | 'instant'
  | 'uuid'
  | 'other';

const signed = (bits: bigint): readonly [bigint, bigint] => [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
const unsigned = (bits: bigint): readonly [bigint, bigint] => [0n, 2n ** bits - 1n];

/** The least and greatest value of each integer type. */
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

/** A decimal of any size, in a database whose decimals have no other bound. */
export const unboundedDecimal = 'NUMERIC';

export const floatType: SqlType = { kind: 'float', cast: 'DOUBLE' };

/** What is not known is `other`, and takes no values. */
export const otherType: SqlType = { kind: 'other', cast: '' };

/** Width and scale of `DECIMAL(10,2)`; undefined for any other cast. */
export const decimalOfCast = (cast: string): { readonly width: number; readonly scale: number } | undefined => {
  const match = /^DECIMAL\(([0-9]+),([0-9]+)\)$/.exec(cast);
  return match === null ? undefined : { width: Number(match[1]), scale: Number(match[2]) };
};

/** The same for integers, which fit a decimal of as many digits. */
export const asDecimal = (cast: string): { readonly width: number; readonly scale: number } | undefined => {
  const range = integerRanges.get(cast);
  return range === undefined ? decimalOfCast(cast) : { width: String(range[1]).length, scale: 0 };
};

export const isNumeric = (type: SqlType): boolean =>
  type.kind === 'integer' || type.kind === 'decimal' || type.kind === 'float';

export const isTemporal = (type: SqlType): boolean =>
  type.kind === 'date' || type.kind === 'timestamp' || type.kind === 'instant';
