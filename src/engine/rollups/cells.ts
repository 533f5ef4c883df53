/** Values on their way from the source into a file: as text, from which DuckDB makes the same values again. */
import { plainText } from '../../model/filter/exact-number.js';
import type { Cell } from '../../model/query/engine.js';
import { decimalOfCast } from '../dialect/sql-type.js';
import type { RollupColumn } from './layout.js';

/** A value that the file cannot hold as it is. Its text names no value. */
export class Unkept extends Error {
  override readonly name = 'Unkept';
}

const asKept = (isKept: boolean, text: string, { of, role }: RollupColumn): string => {
  if (!isKept) throw new Unkept(`a value of ${of ?? 'the number of rows'} (${role}) is none that a file holds`);
  return text;
};

/** Four digits of the year: DuckDB and PostgreSQL write others differently. */
const datePattern = /^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?)?$/;

/** Null stays null. Throws Unkept. */
export const keptText = (cell: Cell, column: RollupColumn): string | null => {
  if (cell === null) return null;
  const text = typeof cell === 'number' ? plainText(cell) : cell;
  switch (column.type.kind) {
    case 'integer':
      return asKept(/^-?[0-9]+$/.test(String(text)), String(text), column);
    case 'decimal': {
      const [, whole, fraction = ''] = /^-?0*([0-9]+)(?:\.([0-9]+?)0*)?$/.exec(String(text)) ?? [];
      const { width, scale } = decimalOfCast(column.type.cast) ?? { width: 0, scale: 0 };
      const isHeld = whole !== undefined && whole.length <= width - scale && fraction.length <= scale;
      return asKept(isHeld, String(text), column);
    }
    case 'date':
    case 'timestamp': {
      const isInfinite = text === 'Infinity' || text === '-Infinity';
      return asKept(typeof text === 'string' && (isInfinite || datePattern.test(text)), String(text), column);
    }
    case 'boolean':
      // MySQL answers 1 for true.
      return asKept(typeof cell === 'boolean' || cell === 0 || cell === 1, String(cell === true || cell === 1), column);
    default:
      // A text with NUL would end there.
      return asKept(typeof text === 'string' && !text.includes('\0'), String(text), column);
  }
};
