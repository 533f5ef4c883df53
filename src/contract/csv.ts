import type { AnswerColumn, Cell, MetricAnswer } from '../domain/ports.js';

/** Characters at which a spreadsheet takes a cell for a formula. */
const formula = /^[=+\-@\t\r]/;

const quote = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** Text from the data must not run in the reader's spreadsheet; numbers keep their sign. */
const defuse = (cell: string): string => (formula.test(cell) ? `'${cell}` : cell);

const write = (cell: Cell | undefined, column: AnswerColumn): string => {
  if (cell === null || cell === undefined) return '';
  return quote(typeof cell === 'string' && column.dataType === 'string' ? defuse(cell) : String(cell));
};

/** The rows as CSV after RFC 4180, with a header line; empty cells are NULL. */
export const toCsv = ({ columns, rows }: MetricAnswer): string =>
  [
    columns.map(({ name }) => quote(defuse(name))),
    ...rows.map((row) => columns.map((column) => write(row[column.name], column))),
  ]
    .map((cells) => `${cells.join(',')}\r\n`)
    .join('');
