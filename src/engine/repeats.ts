/**
 * Counts values that repeat in a column, over the rows of all tenants: the one statement of the engine without a tenant
 * scope. It answers two numbers, so it may select aggregates and nothing else; no question of a guest leads here.
 */
import { sql } from 'kysely';
import type { ColumnRef } from '../model/datamart/datamart.js';
import type { TenantScope } from '../model/datamart/tenant.js';
import { handled } from '../model/handled.js';
import type { ColumnRepeats, Engine } from '../model/query/engine.js';
import { Refusal } from '../model/refusal.js';
import { type Database, type Log, logGone, type Running, refuseAborted } from './connections/database.js';
import type { Databases } from './datasources/databases.js';
import { columnName, typeOf } from './dialect/catalog.js';
import type { Statement } from './dialect/dialect.js';

/** Nobody: where the database has row-level security, it shows no row. */
const nobody: TenantScope = { kind: 'untenanted' };

/** Rows with a value, and values of more than one row, of the first `maxRows` rows. */
const statementOf = ({ dialect, catalog }: Database, column: ColumnRef, maxRows: number): Statement => {
  const type = typeOf(catalog, column);
  if (type === undefined) {
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      `The datasource has no column ${JSON.stringify(columnName(column))}; case counts.`,
      { reason: 'column-not-in-datasource' },
    );
  }
  const value = dialect.field(sql.id(column.columnName), { ref: column, type, zone: null });
  const table = dialect.table(catalog.database, column);
  const some = sql`SELECT ${value} AS gl_value FROM ${table} WHERE ${sql.id(column.columnName)} IS NOT NULL${dialect.page(maxRows, 0)}`;
  const groups = sql`SELECT count(*) AS gl_rows FROM (${some}) AS gl_some GROUP BY gl_value`;
  const counts = sql`SELECT sum(gl_rows), sum(CASE WHEN gl_rows > 1 THEN 1 ELSE 0 END) FROM (${groups}) AS gl_groups`;
  return dialect.compile(counts, []);
};

const countIn = async (
  database: Database,
  column: ColumnRef,
  maxRows: number,
  running: Running,
): Promise<ColumnRepeats> => {
  const { rows } = await database.run(statementOf(database, column, maxRows), nobody, running);
  const [read, repeated] = (rows[0] ?? []).map((cell) => Number(cell ?? 0));
  return { rows: read ?? 0, repeated: repeated ?? 0, isWhole: (read ?? 0) < maxRows };
};

/** One at a time: however many are asked for, the connections stay for the questions of tenants. */
export const createCountRepeats = (databases: Databases, log: Log): Engine['countRepeats'] => {
  let last: Promise<unknown> = Promise.resolve();
  return ({ datasource, columns, maxRows }, signal) => {
    const { requestId } = signal;
    const running: Running = { signal, requestId };
    const work = async (database: Database): Promise<readonly ColumnRepeats[]> => {
      const counted: ColumnRepeats[] = [];
      for (const column of columns) counted.push(await countIn(database, column, maxRows, running));
      return counted;
    };
    const inTurn = (): Promise<readonly ColumnRepeats[]> => {
      signal.throwIfAborted();
      return databases.use(datasource, null, work, { requestId });
    };
    const asked = handled(last.then(inTurn, inTurn));
    last = asked;
    const gone = (): void => logGone(log, { datasource, tenant: nobody }, requestId);
    return refuseAborted(signal, gone, () => asked);
  };
};
