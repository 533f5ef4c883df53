import type { AnswerColumn, Cell, MetricStream } from '../domain/query/engine.js';

/** A spreadsheet takes a cell that starts with one of these characters for a formula. */
const formula = /^[=+\-@\t\r]/;

const quote = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** Prefixes text that a spreadsheet would execute as a formula. Numbers keep their sign. */
const defuse = (cell: string): string => (formula.test(cell) ? `'${cell}` : cell);

const write = (cell: Cell | undefined, column: AnswerColumn): string => {
  if (cell === null || cell === undefined) return '';
  return quote(typeof cell === 'string' && column.dataType === 'string' ? defuse(cell) : String(cell));
};

const line = (cells: readonly string[]): string => `${cells.join(',')}\r\n`;

/**
 * Writes the rows as CSV (RFC 4180) with a header line; NULL is an empty cell. Each piece ends at the end of a line.
 */
export async function* toCsv({ columns, batches }: MetricStream): AsyncGenerator<string> {
  yield line(columns.map(({ name }) => quote(defuse(name))));
  for await (const rows of batches) {
    yield rows.map((row) => line(columns.map((column, index) => write(row[index], column)))).join('');
  }
}
