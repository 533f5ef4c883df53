import type { AnswerColumn, Cell } from '../../../model/query/engine.js';
import { dateCell, decimalCell, floatCell, integerCell } from '../../dialect/cells.js';
import { floatType, type SqlType, unboundedDecimal } from '../../dialect/sql-type.js';

/** Type ids of PostgreSQL, which never change. */
const oid = {
  boolean: 16,
  bigint: 20,
  smallint: 21,
  integer: 23,
  oid: 26,
  money: 790,
  real: 700,
  double: 701,
  date: 1082,
  timestamp: 1114,
  timestamptz: 1184,
  numeric: 1700,
} as const;

const integers: ReadonlySet<number> = new Set([oid.bigint, oid.smallint, oid.integer, oid.oid]);
const dates: ReadonlySet<number> = new Set([oid.date, oid.timestamp, oid.timestamptz]);
const numbers: ReadonlySet<number> = new Set([...integers, oid.real, oid.double, oid.numeric]);

/** Types without an order: json, xml, point, lseg, path, box, polygon, line, circle, and their arrays. */
const unsorted: ReadonlySet<number> = new Set([
  ...[114, 142, 600, 601, 602, 603, 604, 628, 718],
  ...[199, 143, 1017, 1018, 1019, 1020, 1027, 629, 719],
]);

/** A value as the engine answers it, from PostgreSQL's text under the session settings in database.ts. */
export const cellOf = (text: string | null, type: number): Cell => {
  if (text === null) return null;
  if (type === oid.boolean) return text === 't';
  if (integers.has(type)) return integerCell(BigInt(text));
  if (type === oid.numeric) return decimalCell(text);
  if (type === oid.double) return floatCell(Number(text));
  // The exact 32-bit value, not its shortest text.
  if (type === oid.real) return floatCell(Math.fround(Number(text)));
  if (dates.has(type)) return dateCell(text.replace(/\+00(?=$| BC$)/, ''));
  return text;
};

/** Money is written in the session's locale, and has the digits of the session's currency, which the cast knows. */
export const readCastOf = (type: number): string | null => {
  if (type === oid.money) return unboundedDecimal;
  return unsorted.has(type) ? 'VARCHAR' : null;
};

export const valueTypeOf = (type: number): SqlType | null =>
  type === oid.real || type === oid.double ? floatType : null;

export const dataTypeOf = (type: number): AnswerColumn['dataType'] => {
  if (type === oid.boolean) return 'boolean';
  if (dates.has(type)) return 'date';
  return numbers.has(type) ? 'number' : 'string';
};
