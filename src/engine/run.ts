import type { CompiledPlan } from './compile.js';
import type { Database, ResultTable, Running } from './database.js';
import type { PageOfRows } from './plan.js';

/** The page of rows, and how many there are before limit and offset. */
export type RunResult = ResultTable & { readonly total: number };

/** Runs the page, and the count only where the page does not tell: a full one, or one past the end. */
export const run = async (
  database: Database,
  compiled: CompiledPlan,
  page: PageOfRows,
  running: Running = {},
): Promise<RunResult> => {
  const table = await database.run(compiled.page, running);
  const known = table.isCut === true ? null : totalFromPage(table.rows.length, page);
  return { ...table, total: known ?? (await countRows(database, compiled, page.cap, running)) };
};

const totalFromPage = (length: number, { cap, limit, offset }: PageOfRows): number | null => {
  const isFull = limit !== null && length >= limit;
  const isPastTheEnd = length === 0 && offset > 0;
  const total = offset + length;
  if (cap !== null && total === cap && length > 0) return cap;
  return isFull || isPastTheEnd ? null : total;
};

const countRows = async (
  database: Database,
  { count }: CompiledPlan,
  cap: number | null,
  running: Running,
): Promise<number> => {
  const { rows } = await database.run(count, running);
  const total = Number(rows[0]?.[0] ?? 0);
  return cap === null ? total : Math.min(total, cap);
};
