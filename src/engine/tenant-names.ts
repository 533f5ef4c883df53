/**
 * Reads the names of tenants from a datamart's client master table: for operators and hosts, who may name every tenant. It
 * reads two columns of this one table, without a tenant scope; no question of a guest leads here.
 */
import { sql } from 'kysely';
import type { ColumnRef } from '../model/datamart/datamart.js';
import type { TenantScope } from '../model/datamart/tenant.js';
import type { FoundTenant } from '../model/datamart/tenant-name.js';
import { handled } from '../model/handled.js';
import type { Engine, RequestSignal, TenantNamesQuestion } from '../model/query/engine.js';
import { Refusal } from '../model/refusal.js';
import { anyOf } from '../model/signals.js';
import { systemTiming } from '../platform/work/time.js';
import { type Database, type Log, logGone, type Running, refuseAborted } from './connections/database.js';
import type { Databases } from './datasources/databases.js';
import { typeOf } from './dialect/catalog.js';
import type { Sql, Statement } from './dialect/dialect.js';
import { columnPredicate } from './scope/tenancy.js';

/** Nobody: where the database has row-level security, it shows no row. */
const nobody: TenantScope = { kind: 'untenanted' };

const maxBytes = 1024 * 1024;

/** The condition on one id; undefined if no row can have it, such as a text in a column of numbers. */
const isClient = (
  { dialect, catalog }: Database,
  { schemaName, tableName, keyColumn, clientColumnType }: TenantNamesQuestion['master'],
  clientId: string,
): Sql | undefined => {
  try {
    const predicate = columnPredicate({ schemaName, tableName }, keyColumn, clientId, clientColumnType, { catalog });
    return predicate.kind === 'column' ? dialect.tenant(sql.id(keyColumn), predicate.type, predicate.value) : undefined;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'CLIENT_ID_ERROR') return undefined;
    throw error;
  }
};

const nobodyFound: readonly FoundTenant[] = [];

const statementOf = (database: Database, { master, wanted, limit }: TenantNamesQuestion): Statement | undefined => {
  const { dialect, catalog } = database;
  const { schemaName, tableName, keyColumn, nameColumn } = master;
  const columnOf = (columnName: string) => {
    const ref: ColumnRef = { schemaName, tableName, columnName };
    const type = typeOf(catalog, ref);
    return type === undefined
      ? undefined
      : { type, value: dialect.field(sql.id(columnName), { ref, type, zone: null }) };
  };
  const [key, name] = [columnOf(keyColumn), columnOf(nameColumn)];
  if (key === undefined || name === undefined) return undefined;
  const conditions =
    wanted.by === 'id'
      ? wanted.clientIds.flatMap((clientId) => isClient(database, master, clientId) ?? [])
      : wanted.words.map((word) => dialect.contains(name.value, name.type, word));
  if (conditions.length === 0) return undefined;
  const condition = sql.join(conditions, wanted.by === 'id' ? sql` OR ` : sql` AND `);
  const table = dialect.table(catalog.database, { schemaName, tableName });
  // By name, a longer list has the same names each time.
  const order = wanted.by === 'id' ? sql`` : sql` ORDER BY 2, 1`;
  const rows = sql`SELECT ${key.value} AS gl_key, ${name.value} AS gl_name FROM ${table} WHERE ${condition}`;
  return dialect.compile(sql`${rows}${order}${dialect.page(limit, 0)}`, []);
};

/** The key as it was asked for: a column of fixed width gives it with spaces at its end, which no comparison counts. */
const askedIdOf = (key: string, { wanted }: TenantNamesQuestion): string =>
  wanted.by === 'name' || wanted.clientIds.includes(key) ? key : key.replace(/ +$/, '');

const late = (timeoutMs: number): Refusal =>
  new Refusal('METRIC_QUERY_ERROR', `The datasource did not name the tenants within ${timeoutMs / 1000} s.`, {
    reason: 'datasource-timeout',
  });

/** Rejects after `timeoutMs`, also where connecting takes longer, and then cancels the statement. */
const inTime = async <R>(
  timeoutMs: number,
  signal: RequestSignal,
  work: (until: AbortSignal) => Promise<R>,
): Promise<R> => {
  const ending = new AbortController();
  let cancel = (): void => {};
  const ended = handled(
    new Promise<never>((_, reject) => {
      cancel = systemTiming.after(timeoutMs, () => {
        reject(late(timeoutMs));
        ending.abort();
      });
    }),
  );
  return Promise.race([ended, handled(work(anyOf(signal, ending.signal)))]).finally(() => cancel());
};

export const createTenantNames =
  (databases: Databases, log: Log): Engine['tenantNames'] =>
  (question, signal) => {
    const { datasource } = question;
    const { requestId } = signal;
    const named =
      (until: AbortSignal) =>
      async (database: Database): Promise<readonly FoundTenant[]> => {
        const statement = statementOf(database, question);
        if (statement === undefined) return nobodyFound;
        const running: Running = { signal: until, maxBytes, requestId };
        const { rows } = await database.run(statement, nobody, running);
        return rows.flatMap(([key, name]) =>
          key === null || key === undefined
            ? []
            : [{ clientId: askedIdOf(String(key), question), name: name === null ? null : String(name) }],
        );
      };
    const gone = (): void => logGone(log, { datasource, tenant: nobody }, requestId);
    return refuseAborted(signal, gone, () =>
      inTime(question.timeoutMs, signal, (until) => databases.use(datasource, null, named(until), { requestId })),
    );
  };
