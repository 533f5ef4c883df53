/** A column's type as far as binding and checking need it. `cast` is SQL text from this file, never from a datamart. */
export type SqlType = { readonly kind: SqlKind; readonly cast: string };

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
]);

const plainTypes: ReadonlyMap<string, SqlType> = new Map([
  ...[...integerRanges.keys()].map((name): [string, SqlType] => [name, { kind: 'integer', cast: name }]),
  ['VARCHAR', { kind: 'text', cast: 'VARCHAR' }],
  ['FLOAT', { kind: 'float', cast: 'FLOAT' }],
  ['DOUBLE', { kind: 'float', cast: 'DOUBLE' }],
  ['BOOLEAN', { kind: 'boolean', cast: 'BOOLEAN' }],
  ['DATE', { kind: 'date', cast: 'DATE' }],
  ['TIMESTAMP', { kind: 'timestamp', cast: 'TIMESTAMP' }],
  ['TIMESTAMP_S', { kind: 'timestamp', cast: 'TIMESTAMP' }],
  ['TIMESTAMP_MS', { kind: 'timestamp', cast: 'TIMESTAMP' }],
  ['TIMESTAMP WITH TIME ZONE', { kind: 'instant', cast: 'TIMESTAMP' }],
  ['UUID', { kind: 'uuid', cast: 'UUID' }],
]);

/** The type of a column whose datatype the datasource spells so. What is not known here is `other`, and takes no values. */
export const parseSqlType = (datatype: string): SqlType => {
  const plain = plainTypes.get(datatype);
  if (plain !== undefined) return plain;
  if (/^DECIMAL\([0-9]+,[0-9]+\)$/.test(datatype)) return { kind: 'decimal', cast: datatype };
  if (datatype.startsWith('ENUM(')) return { kind: 'enum', cast: 'VARCHAR' };
  return { kind: 'other', cast: '' };
};

export const isNumeric = (type: SqlType): boolean =>
  type.kind === 'integer' || type.kind === 'decimal' || type.kind === 'float';

export const isTemporal = (type: SqlType): boolean =>
  type.kind === 'date' || type.kind === 'timestamp' || type.kind === 'instant';
