import type { ClientDatabases, SourceTable } from '../../domain/datamart/source-schema.js';
import type { TenantScope } from '../../domain/datamart/tenant.js';
import type { Log as EventLog } from '../../domain/log-events.js';
import type { Datasource } from '../../domain/organization.js';
import type { AnswerColumn, Cell } from '../../domain/query/engine.js';
import { Refusal } from '../../domain/refusal.js';
import type { Catalog } from '../databases/catalog.js';
import type { Dialect, Statement } from '../databases/dialect.js';
import type { SqlType } from '../databases/sql-type.js';
import type { Permits } from './budget.js';

export type Log = Pick<EventLog, 'warn' | 'error'>;

/** Rows as a database answered them, in the order of the statement's columns. */
export type ResultTable = {
  /** As the database names the columns. */
  readonly names: readonly string[];
  readonly dataTypes: readonly AnswerColumn['dataType'][];
  /** Of columns that are not to be taken for decimals of any size: what numbers they hold. */
  readonly numberTypes?: readonly (SqlType | null)[] | undefined;
  readonly rows: readonly (readonly Cell[])[];
  /** There are more rows, which were not read: they would have been more bytes than allowed. */
  readonly isCut?: boolean | undefined;
};

/** How far a statement may go. What is left out is not bounded. */
export type Running = {
  /** When it aborts, the statement is stopped at the database too, and refused. */
  readonly signal?: AbortSignal | undefined;
  /** Of all rows, or of one batch of a stream; see `rowBytes`. Nothing much beyond it is ever held in memory. */
  readonly maxBytes?: number | undefined;
};

/** Takes a batch; the next one is not read before it resolves. */
export type Sink = (batch: ResultTable) => Promise<void>;

/** A datasource that was opened. Each kind of database has one function that makes it: the port of the drivers. */
export type OpenedDatabase = {
  readonly dialect: Dialect;
  /** Of these schemas alone; null: of all that it holds. Throws DATASOURCE_CONNECTION_ERROR. */
  readonly readCatalog: (schemas: readonly string[] | null) => Promise<Catalog>;
  /**
   * Runs one statement that only reads, for this tenant: where the database has a wall of its own, it is told of the client in the
   * statement's own transaction. Throws METRIC_QUERY_ERROR without the driver's text; that goes to the log.
   */
  readonly run: (statement: Statement, tenant: TenantScope, running?: Running) => Promise<ResultTable>;
  /**
   * The same in batches, at least one of them, in constant memory and within `OpenOptions.streamMs`. Throws like `run`, whatever `sink` throws,
   * and METRIC_QUERY_ERROR where a batch outgrows `maxBytes`; nothing runs on at the database after that.
   */
  readonly stream: (statement: Statement, tenant: TenantScope, sink: Sink, running?: Running) => Promise<void>;
  /** Its tables as they are now; where the database is the schema, those of `databases` of the same server too. */
  readonly describe: (databases: readonly string[]) => Promise<readonly SourceTable[]>;
  /** What of its server may be a client's, the system's databases and its own left out. */
  readonly listClientDatabases: () => Promise<ClientDatabases>;
  /** Waits for what runs. */
  readonly close: () => Promise<void>;
};

/** What questions see of it, with the catalog of where their tables are. */
export type Database = Pick<OpenedDatabase, 'dialect' | 'run' | 'stream'> & { readonly catalog: Catalog };

/** Throws DATASOURCE_CONNECTION_ERROR that says what to check, without the driver's text; that is the cause. */
export type OpenDatabase<Source extends Datasource = Datasource> = (
  datasource: Source,
  options: OpenOptions,
) => Promise<OpenedDatabase>;

export type OpenOptions = {
  readonly log: Log;
  /** How long one statement may run; of a stream, one batch. */
  readonly timeoutMs: number;
  /** How long a stream may take in all, with the time that its reader takes. */
  readonly streamMs: number;
  /** How long it may take to connect. */
  readonly connectTimeoutMs: number;
  /** How many connections it may have, where it is a server. */
  readonly connections: number;
  /** Leave for each of them. */
  readonly permits: Permits;
};

/** How long a database may take to say what tables it has: nobody waits for that alone. */
export const catalogTimeoutMs = 60_000;

/** Nobody's question: a catalog is read under no client's name. */
export const forCatalog = { timeoutMs: catalogTimeoutMs, client: '' } as const;

export const refuseLate = (timeoutMs: number, cause: unknown): never => {
  throw new Refusal(
    'METRIC_QUERY_ERROR',
    `The query took longer than ${timeoutMs / 1000} seconds and was stopped; narrow it by a filter.`,
    { reason: 'datasource-timeout', cause },
  );
};

const callerGone = 'caller-gone';

const isAbort = (signal: AbortSignal | undefined, cause: unknown): boolean =>
  signal?.aborted === true && cause === signal.reason;

/** The one translation of an aborted signal into a refusal. Everything below throws the signal's own reason. */
export const refuseAborted = async <R>(signal: AbortSignal | undefined, work: () => Promise<R>): Promise<R> => {
  try {
    return await work();
  } catch (cause) {
    if (!isAbort(signal, cause)) throw cause;
    const message = 'Query cancelled: the client disconnected.';
    throw new Refusal('METRIC_QUERY_ERROR', message, { reason: callerGone, cause });
  }
};

/** The text was written for a catalog that is not so any more; see places.ts. */
export const outdated = 'columns-changed';

export const refuseOutdated = (): never => {
  throw new Refusal('METRIC_QUERY_ERROR', 'The columns of a table changed since they were read; ask again.', {
    reason: outdated,
  });
};

export const refuseConnection = (message: string, reason: string, cause: unknown): never => {
  throw new Refusal('DATASOURCE_CONNECTION_ERROR', message, { reason, cause });
};

/** Keeps the driver's words in the log. */
export const runLogged = async <R>(
  work: () => Promise<R>,
  datasource: Datasource,
  log: Log,
  signal: AbortSignal | undefined,
): Promise<R> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ReaderFailed) throw cause.cause;
    if (isAbort(signal, cause)) {
      log.warn({ event: 'query.stopped', datasource: datasource.name, reason: callerGone }, 'query stopped');
      throw cause;
    }
    if (cause instanceof Refusal) {
      log.warn({ event: 'query.stopped', datasource: datasource.name, reason: cause.reason }, 'query stopped');
      throw cause;
    }
    log.error({ event: 'query.failed', err: cause, datasource: datasource.name }, 'query failed at the datasource');
    throw new Refusal(
      'METRIC_QUERY_ERROR',
      'The query failed at the datasource; its operator finds the cause in the log.',
      { reason: 'datasource-failed', cause },
    );
  }
};

/** What a stream's reader threw; nothing failed at the database. */
export class ReaderFailed extends Error {
  override readonly name = 'ReaderFailed';
}

/** The compiler binds text and lists of texts, nothing else: what it means is said by a cast in the statement. */
export const textOf = (parameter: unknown): string => {
  if (typeof parameter !== 'string') throw new TypeError(`a ${typeof parameter} cannot be bound`);
  return parameter;
};
