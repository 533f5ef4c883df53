import { datatypeOf } from '../../../model/datamart/datatypes.js';
import type { AnswerColumn, Cell } from '../../../model/query/engine.js';
import { dateCell, decimalCell, floatCell, integerCell } from '../../dialect/cells.js';
import { floatType, otherType, type SqlType } from '../../dialect/sql-type.js';

/** Type numbers of the protocol. */
const bits = 16;
const numbers: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 8, 9, 13, bits, 246]);
const integers: ReadonlySet<number> = new Set([1, 2, 3, 8, 9, 13]);
const dates: ReadonlySet<number> = new Set([7, 10, 12, 14]);

/** A value as the engine answers it, from the driver's value under the options in database.ts. */
export const cellOf = (value: unknown, type: number): Cell => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return floatCell(value);
  if (Buffer.isBuffer(value)) {
    const hex = value.toString('hex');
    return type === bits ? integerCell(BigInt(`0x${hex || '0'}`)) : `\\x${hex}`;
  }
  if (typeof value !== 'string') return JSON.stringify(value);
  if (integers.has(type)) return integerCell(BigInt(value));
  if (numbers.has(type)) return decimalCell(value);
  return dates.has(type) ? calendarCell(value) : value;
};

/** A date with zero parts is answered as NULL. */
const calendarCell = (text: string): Cell => (/^0000|-00/.test(text) ? null : dateCell(text));

const bytes = datatypeOf('MYSQL', 'blob') ?? null;
const typesOfNumbers: Readonly<Record<number, SqlType | null>> = {
  4: floatType,
  5: floatType,
  13: datatypeOf('MYSQL', 'year') ?? null,
  [bits]: datatypeOf('MYSQL', 'bit') ?? null,
  // Geometry.
  255: otherType,
};
/** Texts of the character set `binary` are bytes. */
const texts: ReadonlySet<number> = new Set([15, 249, 250, 251, 252, 253, 254]);
const binary = 63;

export const valueTypeOf = (type: number, characterSet: number): SqlType | null =>
  texts.has(type) && characterSet === binary ? bytes : (typesOfNumbers[type] ?? null);

export const dataTypeOf = (type: number): AnswerColumn['dataType'] => {
  if (dates.has(type)) return 'date';
  return numbers.has(type) ? 'number' : 'string';
};
