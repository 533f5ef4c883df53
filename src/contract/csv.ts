import type { AnswerColumn, Cell, MetricStream } from '../domain/query/engine.js';

/** Characters at which a spreadsheet takes a cell for a formula. */
const formula = /^[=+\-@\t\r]/;

const quote = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** Text from the data must not run in the reader's spreadsheet; numbers keep their sign. */
const defuse = (cell: string): string => (formula.test(cell) ? `'${cell}` : cell);

const write = (cell: Cell | undefined, column: AnswerColumn): string => {
  if (cell === null || cell === undefined) return '';
  return quote(typeof cell === 'string' && column.dataType === 'string' ? defuse(cell) : String(cell));
};

const line = (cells: readonly string[]): string => `${cells.join(',')}\r\n`;

/** The rows as CSV after RFC 4180, with a header line; empty cells are NULL. Each piece is some whole lines. */
export async function* toCsv({ columns, batches }: MetricStream): AsyncGenerator<string> {
  yield line(columns.map(({ name }) => quote(defuse(name))));
  for await (const rows of batches) {
    yield rows.map((row) => line(columns.map((column, index) => write(row[index], column)))).join('');
  }
}
