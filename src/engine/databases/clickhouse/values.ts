import { bareClickHouseType, datatypeOf } from '../../../model/datamart/datatypes.js';
import type { AnswerColumn, Cell } from '../../../model/query/engine.js';
import { dateCell, decimalCell, floatCell, integerCell } from '../../dialect/cells.js';
import { isNumeric, otherType, type SqlKind, type SqlType } from '../../dialect/sql-type.js';

/** Whether the column may hold NULL. */
export const isNullableType = (name: string): boolean => /^(?:LowCardinality\()?Nullable\(/.test(name);

/** The collation of FixedString, whose `=` ignores trailing NULs. */
export const padded = 'padded';

/** Translates a type. A DateTime is an instant, whatever zone it is displayed in. */
export const parseClickHouseType = (name: string): SqlType => {
  const datatype = datatypeOf('CLICKHOUSE', name) ?? otherType;
  return /^FixedString\(/.test(bareClickHouseType(name)) ? { ...datatype, collation: padded } : datatype;
};

/** How the cells of a column are read, by its ClickHouse type. */
export type ColumnReader = {
  readonly dataType: AnswerColumn['dataType'];
  readonly valueType: SqlType | null;
  /** Reads a cell from JSON as the settings in read.ts format it: numbers that JSON would round are text. */
  readonly cellOf: (value: unknown) => Cell;
};

export const readerOf = (name: string): ColumnReader => {
  const type = parseClickHouseType(name);
  const { kind, cast } = type;
  const read = cast === 'FLOAT' ? singleOf : readers[kind];
  return {
    dataType: dataTypes[kind],
    // Sums and remainders keep a decimal's declared size.
    valueType: isNumeric(type) ? type : null,
    cellOf: (value) => (value === null || value === undefined ? null : read(value, bareClickHouseType(name))),
  };
};

type Read = (value: unknown, type: string) => Cell;

/** A number, or text for NaN and the infinities. */
const floatOf = (value: unknown): number => {
  if (value === 'inf') return Number.POSITIVE_INFINITY;
  return value === '-inf' ? Number.NEGATIVE_INFINITY : Number(value);
};

/** The exact 32-bit value, not its shortest text. */
const singleOf: Read = (value) => floatCell(Math.fround(floatOf(value)));

const textOf: Read = (value, type) => {
  if (typeof value !== 'string') return JSON.stringify(value);
  return type.startsWith('FixedString') ? value.replace(/\0+$/, '') : value;
};

const dateOf: Read = (value) => dateCell(String(value));

const readers: Readonly<Record<SqlKind, Read>> = {
  integer: (value) => integerCell(BigInt(String(value))),
  decimal: (value) => decimalCell(String(value)),
  float: (value) => floatCell(floatOf(value)),
  boolean: (value) => value === true,
  date: dateOf,
  timestamp: dateOf,
  instant: dateOf,
  text: textOf,
  enum: textOf,
  uuid: textOf,
  json: textOf,
  other: textOf,
};

const dataTypes: Readonly<Record<SqlKind, AnswerColumn['dataType']>> = {
  integer: 'number',
  decimal: 'number',
  float: 'number',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'date',
  instant: 'date',
  text: 'string',
  enum: 'string',
  uuid: 'string',
  json: 'string',
  other: 'string',
};
