import type { AnswerColumn, Cell } from '../../../domain/query/engine.js';
import { dateCell, decimalCell, floatCell, integerCell } from '../cells.js';
import { floatType, type SqlType } from '../sql-type.js';

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

export const numberTypeOf = (type: number): SqlType | null => (type === 4 || type === 5 ? floatType : null);

export const dataTypeOf = (type: number): AnswerColumn['dataType'] => {
  if (dates.has(type)) return 'date';
  return numbers.has(type) ? 'number' : 'string';
};
