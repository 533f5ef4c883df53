import type { TenantScope } from '../../model/datamart/tenant.js';
import type { Database, ResultTable, Running } from '../connections/database.js';
import type { Statement } from '../dialect/dialect.js';
import type { PageOfRows } from '../plan/plan.js';
import type { CompiledPlan } from '../sql/compile.js';

/** The page of rows, and the number of rows before limit and offset. */
export type RunResult = ResultTable & {
  readonly total: number;
  /** Set if the rows are older than they may be kept, and are read anew: when they were read. */
  readonly readAtMs?: number | undefined;
};

type Asked = { readonly page: PageOfRows; readonly tenant: TenantScope; readonly running: Running };

/** Runs the page, and the count only where the page does not determine the total: a full page, or one past the end. */
export const run = async (
  database: Pick<Database, 'run'>,
  compiled: CompiledPlan,
  { page, tenant, running }: Asked,
): Promise<RunResult> => {
  const ask = (statement: Statement): Promise<ResultTable> => database.run(statement, tenant, running);
  const table = await ask(compiled.page);
  const known = table.isCut === true ? null : totalFromPage(table.rows.length, page);
  return { ...table, total: known ?? (await countRows(ask, compiled, page.cap)) };
};

const totalFromPage = (length: number, { cap, limit, offset }: PageOfRows): number | null => {
  const isFull = limit !== null && length >= limit;
  const isPastTheEnd = length === 0 && offset > 0;
  const total = offset + length;
  if (cap !== null && total === cap && length > 0) return cap;
  return isFull || isPastTheEnd ? null : total;
};

const countRows = async (
  ask: (statement: Statement) => Promise<ResultTable>,
  { count }: CompiledPlan,
  cap: number | null,
): Promise<number> => {
  const { rows } = await ask(count);
  const total = Number(rows[0]?.[0] ?? 0);
  return cap === null ? total : Math.min(total, cap);
};
