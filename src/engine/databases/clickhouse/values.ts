import type { AnswerColumn, Cell } from '../../../domain/query/engine.js';
import { dateCell, decimalCell, floatCell, integerCell } from '../cells.js';
import { isNumeric, type SqlKind, type SqlType } from '../sql-type.js';
import { bareType, parseClickHouseType } from './types.js';

/** How the cells of one column are read, by the type that the server names. */
export type ColumnReader = {
  readonly dataType: AnswerColumn['dataType'];
  readonly numberType: SqlType | null;
  /** Out of JSON, as the settings of settings.ts have it written: what a JSON number would round is text. */
  readonly cellOf: (value: unknown) => Cell;
};

export const readerOf = (name: string): ColumnReader => {
  const type = parseClickHouseType(name);
  const { kind, cast } = type;
  const read = cast === 'FLOAT' ? singleOf : readers[kind];
  return {
    dataType: dataTypes[kind],
    // Its sums and remainders are of a size that is said.
    numberType: isNumeric(type) ? type : null,
    cellOf: (value) => (value === null || value === undefined ? null : read(value, bareType(name))),
  };
};

type Read = (value: unknown, type: string) => Cell;

/** A number, or the text of what JSON has no number for. */
const floatOf = (value: unknown): number => {
  if (value === 'inf') return Number.POSITIVE_INFINITY;
  return value === '-inf' ? Number.NEGATIVE_INFINITY : Number(value);
};

/** The number that it holds, not the shortest text that finds it again among the 32-bit ones. */
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
  other: 'string',
};
