import type { SourceRights } from '../../model/datamart/source-rights.js';
import type { ClientDatabases, SourceTable } from '../../model/datamart/source-schema.js';
import type { TenantScope } from '../../model/datamart/tenant.js';
import type { Log as EventLog } from '../../model/log-events.js';
import type { Datasource } from '../../model/organization.js';
import { type AnswerColumn, type Cell, statementRefused } from '../../model/query/engine.js';
import type { LiveConnections } from '../../model/query/live.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { findUnavailable } from '../../model/unavailable.js';
import type { Catalog } from '../dialect/catalog.js';
import type { Dialect, Statement } from '../dialect/dialect.js';
import type { SqlType } from '../dialect/sql-type.js';
import type { Permits } from './budget.js';
import type { FaultOf } from './driver-faults.js';

export type Log = Pick<EventLog, 'warn' | 'error'>;

/** Rows as the database answered them, in the order of the statement's columns. */
export type ResultTable = {
  /** Column names as the database returns them. */
  readonly names: readonly string[];
  readonly dataTypes: readonly AnswerColumn['dataType'][];
  /**
   * The types of columns whose values are neither plain text nor decimals of arbitrary size, as far as the database
   * reports them: how a column of a table with such values is read.
   */
  readonly valueTypes?: readonly (SqlType | null)[] | undefined;
  /**
   * The types that values have to be cast to before they are answered or sorted, since the database writes them in a form
   * of the session, or cannot sort them. Left out: none.
   */
  readonly readCasts?: readonly (string | null)[] | undefined;
  readonly rows: readonly (readonly Cell[])[];
  /** More rows exist. They were not read because of `maxBytes`. */
  readonly isCut?: boolean | undefined;
};

/** Limits of a statement. A limit that is left out does not apply. */
export type Running = {
  /** Aborting it cancels the statement at the database too. */
  readonly signal?: AbortSignal | undefined;
  /** Limit for all rows, or for one batch of a stream; see `rowBytes`. Not much more is ever held in memory. */
  readonly maxBytes?: number | undefined;
  /** The request that it belongs to, for the log. */
  readonly requestId?: string | undefined;
};

/** Takes a batch. The next one is read after the promise resolves. */
export type Sink = (batch: ResultTable) => Promise<void>;

/** The port of the database drivers. Each kind of database has one function that opens it. */
export type OpenedDatabase = {
  readonly dialect: Dialect;
  /** The catalog of these schemas; null: of all. Throws DATASOURCE_CONNECTION_ERROR. */
  readonly readCatalog: (schemas: readonly string[] | null) => Promise<Catalog>;
  /**
   * Runs one read-only statement for this tenant. A database with row-level security receives the clientId in the
   * statement's own transaction. Throws METRIC_QUERY_ERROR without the driver's text, which goes to the log; throws
   * the signal's reason where it aborts.
   */
  readonly run: (statement: Statement, tenant: TenantScope, running?: Running) => Promise<ResultTable>;
  /**
   * As `run`, in at least one batch, with constant memory and within `OpenOptions.streamMs`. Also throws what `sink`
   * throws, and METRIC_QUERY_ERROR where a batch exceeds `maxBytes`. After an error, nothing continues at the
   * database.
   */
  readonly stream: (statement: Statement, tenant: TenantScope, sink: Sink, running?: Running) => Promise<void>;
  /** Its tables, read now. Where databases are schemas, those of `databases` of the same server too. */
  readonly describe: (databases: readonly string[]) => Promise<readonly SourceTable[]>;
  /** Databases and schemas of its server that may belong to clients, without the system's and its own. */
  readonly listClientDatabases: () => Promise<ClientDatabases>;
  /** What the user may do beyond reading. Throws DATASOURCE_CONNECTION_ERROR. */
  readonly readRights: () => Promise<SourceRights>;
  /** Where the server is in the stream of changes. Only of databases that may have replicas. */
  readonly position?: (() => Promise<StreamPosition>) | undefined;
  /** Connections that are no part of the budget, such as those to a file. Left out: it has none. */
  readonly count?: () => LiveConnections;
  /** Waits for running statements. */
  readonly close: () => Promise<void>;
};

/** `at` grows with every change; positions of one `system` are compared. */
export type StreamPosition = { readonly system: string; readonly isReplica: boolean; readonly at: bigint };

/** An opened database as questions see it, with the catalog of the tables they may read. */
export type Database = Pick<OpenedDatabase, 'dialect' | 'run' | 'stream'> & {
  readonly catalog: Catalog;
  /** Whether the catalog was read so long ago that a column may have got another type. Left out: never. */
  readonly isOld?: () => boolean;
};

/**
 * Opens a datasource.
 * @throws DATASOURCE_CONNECTION_ERROR with what to check. The driver's error is its cause and never its text.
 */
export type OpenDatabase<Source extends Datasource = Datasource> = (
  datasource: Source,
  options: OpenOptions,
) => Promise<OpenedDatabase>;

export type OpenOptions = {
  readonly log: Log;
  /** Limit of one statement, or of one batch of a stream. */
  readonly timeoutMs: number;
  /** Limit of a whole stream, including the reader's time. */
  readonly streamMs: number;
  /** Limit of connecting. */
  readonly connectTimeoutMs: number;
  /** Greatest number of connections to a server. */
  readonly connections: number;
  /** Permits for its connections; see budget.ts. */
  readonly permits: Permits;
};

/** Catalogs are shared by all questions of a database, so reading one may take longer than a query. */
export const catalogTimeoutMs = 60_000;

/** Catalogs are read for no client. */
export const forCatalog = { timeoutMs: catalogTimeoutMs, client: '' } as const;

/** Opening a database begins a session and asks nothing, so it may take as long as connecting. */
export const forOpening = ({ connectTimeoutMs }: Pick<OpenOptions, 'connectTimeoutMs'>) =>
  ({ timeoutMs: connectTimeoutMs, client: '' }) as const;

export const refuseLate = (timeoutMs: number, cause: unknown): never => {
  throw new Refusal(
    'METRIC_QUERY_ERROR',
    `The query exceeded its time limit of ${timeoutMs / 1000} s and was stopped. Narrow it with a filter.`,
    { reason: 'datasource-timeout', cause },
  );
};

const callerGone = 'caller-gone';

const isAbort = (signal: AbortSignal | undefined, cause: unknown): boolean =>
  signal?.aborted === true && cause === signal.reason;

/**
 * The one translation of an aborted signal into a refusal. All layers below throw the signal's own reason. `noted` is
 * called first: the query may have waited in the queue, or shared another caller's.
 */
export const refuseAborted = async <R>(
  signal: AbortSignal | undefined,
  noted: () => void,
  work: () => Promise<R>,
): Promise<R> => {
  try {
    return await work();
  } catch (cause) {
    if (!isAbort(signal, cause)) throw cause;
    noted();
    const message = 'Query cancelled: the client disconnected.';
    throw new Refusal('METRIC_QUERY_ERROR', message, { reason: callerGone, cause });
  }
};

/** The reason of a statement that was compiled for an outdated catalog; see catalog-cache.ts. */
export const outdated = 'columns-changed';

export const refuseOutdated = (): never => {
  throw new Refusal(
    'METRIC_QUERY_ERROR',
    'The columns of a table changed since the catalog was read. Retry the query.',
    {
      reason: outdated,
    },
  );
};

export const refuseConnection = (message: string, reason: Reason, cause: unknown): never => {
  throw new Refusal('DATASOURCE_CONNECTION_ERROR', message, { reason, cause });
};

/** Logs a query whose caller disconnected. */
export const logGone = (
  log: Log,
  question: { datasource: Datasource; tenant: TenantScope },
  requestId?: string,
): void => {
  const about = { requestId, tenant: loggedTenant(question.tenant), datasource: question.datasource.name };
  log.warn({ event: 'query.stopped', ...about, reason: callerGone }, 'query stopped');
};

/** What the log says about a statement. */
export type LoggedStatement = {
  readonly datasource: Datasource;
  readonly tenant: TenantScope;
  readonly running: Running;
  readonly faultOf: FaultOf;
};

/** The id of a tenant for the log; undefined if a query is not restricted to one. */
export const loggedTenant = (tenant: TenantScope): string | undefined =>
  tenant.kind === 'tenant' ? tenant.clientId : undefined;

/** Runs the work, logs its error, and throws a refusal without the driver's text. */
export const runLogged = async <R>(
  work: () => Promise<R>,
  log: Log,
  { datasource, tenant, running: { signal, requestId }, faultOf }: LoggedStatement,
): Promise<R> => {
  const about = { requestId, tenant: loggedTenant(tenant), datasource: datasource.name };
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ReaderFailed) throw cause.cause;
    // The engine logs it, once for each caller: a shared query ends when the last of them has disconnected.
    if (isAbort(signal, cause)) throw cause;
    if (cause instanceof Refusal) {
      log.warn({ event: 'query.stopped', ...about, reason: cause.reason }, 'query stopped');
      throw cause;
    }
    log.error({ event: 'query.failed', err: cause, ...about }, 'query failed at the datasource');
    const fault = faultOf(cause);
    // A server refuses a table's columns with the same code as the whole database.
    const isOfNames = fault === 'names' || fault === 'database';
    throw new (isOfNames ? NamesRefused : Refusal)(
      'METRIC_QUERY_ERROR',
      'The query failed at the datasource. The cause is in the log.',
      {
        reason:
          findUnavailable(cause)?.reason ??
          (fault === 'statement' || fault === 'names' ? statementRefused : 'datasource-failed'),
        cause,
      },
    );
  }
};

/** The database does not have a table or column of the statement, or does not show it: the catalog may be outdated. */
export class NamesRefused extends Refusal {}

/** The database answered values of another type than the catalog has: the catalog is outdated. */
export class TypesChanged extends Refusal {}

export const refuseOldTypes = (): never => {
  throw new TypesChanged('METRIC_QUERY_ERROR', 'The type of a column changed since the catalog was read. Retry.', {
    reason: outdated,
  });
};

/** An error thrown by the stream's reader, and not by the database. */
export class ReaderFailed extends Error {
  override readonly name = 'ReaderFailed';
}

/** Parameters are text. A cast in the statement gives each its type. */
export const textOf = (parameter: unknown): string => {
  if (typeof parameter !== 'string') throw new TypeError(`a ${typeof parameter} cannot be bound`);
  return parameter;
};
