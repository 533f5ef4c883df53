import { otherType, type SqlType } from '../sql-type.js';

const wrapper = /^(?:Nullable|LowCardinality)\((.*)\)$/s;

/** `Int64` from `LowCardinality(Nullable(Int64))`. */
export const bareType = (name: string): string => {
  const inner = wrapper.exec(name)?.[1];
  return inner === undefined ? name : bareType(inner);
};

/** Whether the column may hold NULL. */
export const isNullableType = (name: string): boolean => /^(?:LowCardinality\()?Nullable\(/.test(name);

const plainTypes: ReadonlyMap<string, SqlType> = new Map([
  ['Int8', { kind: 'integer', cast: 'TINYINT' }],
  ['Int16', { kind: 'integer', cast: 'SMALLINT' }],
  ['Int32', { kind: 'integer', cast: 'INTEGER' }],
  ['Int64', { kind: 'integer', cast: 'BIGINT' }],
  ['Int128', { kind: 'integer', cast: 'HUGEINT' }],
  ['Int256', { kind: 'integer', cast: 'INT256' }],
  ['UInt8', { kind: 'integer', cast: 'UTINYINT' }],
  ['UInt16', { kind: 'integer', cast: 'USMALLINT' }],
  ['UInt32', { kind: 'integer', cast: 'UINTEGER' }],
  ['UInt64', { kind: 'integer', cast: 'UBIGINT' }],
  ['UInt128', { kind: 'integer', cast: 'UHUGEINT' }],
  ['UInt256', { kind: 'integer', cast: 'UINT256' }],
  ['Float32', { kind: 'float', cast: 'FLOAT' }],
  ['Float64', { kind: 'float', cast: 'DOUBLE' }],
  ['Bool', { kind: 'boolean', cast: 'BOOLEAN' }],
  ['String', { kind: 'text', cast: 'VARCHAR' }],
  ['UUID', { kind: 'uuid', cast: 'UUID' }],
  ['Date', { kind: 'date', cast: 'DATE' }],
  ['Date32', { kind: 'date', cast: 'DATE' }],
]);

/** The collation of FixedString, whose `=` ignores trailing NULs. */
export const padded = 'padded';

/** Translates a type. A DateTime is an instant, whatever zone it is displayed in. */
export const parseClickHouseType = (name: string): SqlType => {
  const bare = bareType(name);
  const plain = plainTypes.get(bare);
  if (plain !== undefined) return plain;
  const [, base = '', inside = ''] = /^(\w+)(?:\((.*)\))?$/s.exec(bare) ?? [];
  switch (base) {
    case 'Decimal':
      return { kind: 'decimal', cast: `DECIMAL(${inside.replaceAll(' ', '')})` };
    case 'FixedString':
      return { kind: 'text', cast: 'VARCHAR', collation: padded };
    case 'Enum8':
    case 'Enum16':
      return { kind: 'enum', cast: 'VARCHAR' };
    case 'DateTime':
      return { kind: 'instant', cast: 'TIMESTAMP', digits: 0 };
    case 'DateTime64':
      return { kind: 'instant', cast: 'TIMESTAMP', digits: Number.parseInt(inside, 10) };
    default:
      return otherType;
  }
};
