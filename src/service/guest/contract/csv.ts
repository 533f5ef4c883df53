import type { DatePrecision } from '../../../model/datamart/dates.js';
import type { DownloadColumn, DownloadRows } from '../../../model/guest/download.js';
import type { Cell } from '../../../model/query/engine.js';
import { excerpt } from '../../../model/query/excerpt.js';
import { speechOf } from '../../../model/texts/messages.js';
import { formula } from './xlsx/cells.js';
import { missingRows } from './xlsx/missing-rows.js';

const quote = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** Prefixes text that a spreadsheet would execute as a formula. Numbers keep their sign. */
const defuse = (cell: string): string => (formula.test(cell) ? `'${cell}` : cell);

/** How much of a date is written of each precision, as ISO 8601 orders it, so that programs read it. */
const lengths = { year: 4, month: 7, day: 10, minute: 16, second: 19 } as const satisfies Record<DatePrecision, number>;

/** A date with its time as the column says. A date that is grouped stays the first moment of its period. */
const dateText = (cell: string, { grain, dates }: DownloadColumn): string =>
  grain === undefined && dates?.precision !== undefined && /^\d{4}-/.test(cell)
    ? cell.slice(0, lengths[dates.precision])
    : cell;

const write = (cell: Cell | undefined, column: DownloadColumn): string => {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'string' && column.dataType === 'date') return quote(dateText(cell, column));
  return quote(typeof cell === 'string' && column.dataType === 'string' ? defuse(cell) : String(cell));
};

const line = (cells: readonly string[]): string => `${cells.join(',')}\r\n`;

/** One line of text and numbers. Null is an empty cell. */
export const csvLine = (cells: readonly (string | number | null)[]): string =>
  line(cells.map((cell) => (cell === null ? '' : quote(typeof cell === 'string' ? defuse(cell) : String(cell)))));

/**
 * Writes the rows as CSV (RFC 4180) with a header line; NULL is an empty cell. Each piece ends at the end of a line. If
 * rows are missing, the last line says so in its first cell.
 */
export async function* toCsv({ columns, batches, limit, offset, language }: DownloadRows): AsyncGenerator<string> {
  yield line(columns.map(({ label }) => quote(defuse(label))));
  const part = excerpt(batches, limit);
  for await (const rows of part.batches) {
    yield rows.map((row) => line(columns.map((column, index) => write(row[index], column)))).join('');
  }
  const missing = missingRows(part.shown(), offset, speechOf(language));
  if (missing !== null) yield line([quote(missing), ...columns.slice(1).map(() => '')]);
}
