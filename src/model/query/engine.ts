/** The query engine as the use cases need it: a question about a metric, and its rows. src/engine implements it. */
import type { Epoch } from '../brand.js';
import type { MetricDefinition, Sort, SqlDefinition } from '../dashboard/metric.js';
import type { ColumnNumbers, ColumnRef, Datamart, Rollup, TableRef } from '../datamart/datamart.js';
import type { ColumnDates } from '../datamart/dates.js';
import type { SourceRights } from '../datamart/source-rights.js';
import type { ClientDatabases, SourceTable } from '../datamart/source-schema.js';
import type { TenantScope } from '../datamart/tenant.js';
import type { FoundTenant } from '../datamart/tenant-name.js';
import type { UnreadableReason } from '../datamart/unreadable-table.js';
import type { Condition, Scalar } from '../filter/filter.js';
import type { Datasource } from '../organization.js';
import type { Reason } from '../reasons.js';
import { Refusal } from '../refusal.js';
import type { RequestUse, UsedOn } from '../usage.js';

/** The abort signal of a request. Log lines about its queries have its `requestId`, and `use` counts what it costs. */
export type RequestSignal = AbortSignal & {
  readonly requestId?: string | undefined;
  readonly use?: RequestUse | undefined;
};

/** Read operations. Each one requires a tenant scope. */
export type Reads = {
  /**
   * Returns the metric's answer. Throws METRIC_QUERY_ERROR (also on a timeout) or CLIENT_ID_ERROR. The error never
   * contains a driver's text.
   */
  readonly query: (question: MetricQuestion) => Promise<MetricAnswer>;
  /** Returns the joined rows that the metric aggregates, with its `underlying` columns, under the same conditions. */
  readonly underlying: (question: MetricQuestion) => Promise<MetricAnswer>;
  /** Returns the distinct values of `column` in the rows that the metric aggregates, ascending, without NULL. */
  readonly options: (question: OptionsQuestion) => Promise<readonly Scalar[]>;
  /**
   * Returns the metric's rows in batches; all rows if the question gives no limit. Resolves when the first batch is
   * ready. A later failure is thrown by `batches`, so the caller can tell that the answer is incomplete. A caller that
   * stops reading early must end the iteration.
   */
  readonly stream: (question: MetricQuestion) => Promise<MetricStream>;
};

/** A statement with placeholders for values. `columns` is empty for a metric that is not in SQL. */
export type WrittenStatement = { readonly sql: string; readonly columns: readonly AnswerColumn[] };

/** Answers questions about metrics with rows. */
export type Engine = Reads & {
  /**
   * Returns the read operations for one caller. When `signal` aborts, running queries are cancelled, also in the
   * database, and rejected with METRIC_QUERY_ERROR.
   */
  readonly until: (signal: RequestSignal) => Reads;
  /**
   * Has the database check names and types of the metric, in the tenant scope of the question, without reading a row.
   * Throws as `query`; `isTypeFault` tells faults of the metric from those of the moment.
   */
  readonly check: (question: TypeQuestion, signal: RequestSignal) => Promise<void>;
  /**
   * Returns the statement that answers the question, in its tenant scope and with placeholders for values. Reads no
   * row: of a dimension with `bucketCount`, the width is another one. `columns`: those of a metric in SQL. Throws as
   * `query`.
   */
  readonly statement: (question: MetricQuestion, signal: RequestSignal) => Promise<WrittenStatement>;
  /**
   * Returns a metric in SQL that answers as this metric does. Its text holds what the definition says, and nothing of a
   * tenant or a viewer: neither scope nor conditions. Reads no row. Throws METRIC_QUERY_ERROR for a metric that no SELECT
   * says, with the reason `metric-not-in-sql`. Whether the text is allowed, only `statement` tells.
   */
  readonly asSql: (question: DefinedQuestion, signal: RequestSignal) => Promise<SqlDefinition>;
  /**
   * Returns the current tables of the datasource, ordered by schema and name. Later questions use them too.
   * `databases`: further databases of the server whose tables are returned, for servers where a database is a schema.
   * Throws DATASOURCE_CONNECTION_ERROR, never with a driver's text.
   */
  readonly introspect: (
    datasource: Datasource,
    databases?: readonly string[],
    origin?: Pick<RequestSignal, 'requestId'>,
  ) => Promise<readonly SourceTable[]>;
  /**
   * Counts the values that several rows of each column have, in the datasource's own database and without a tenant
   * scope: only for operators, whom the caller has checked. Answers counts, never a value. Reads at most `maxRows` rows
   * of each table, each count within the time of one query. Throws INVALID_REQUEST_BODY for a column that the
   * datasource does not have, METRIC_QUERY_ERROR where the database refuses or is too slow, and never a driver's text.
   */
  readonly countRepeats: (question: RepeatsQuestion, signal: RequestSignal) => Promise<readonly ColumnRepeats[]>;
  /**
   * Returns the clients that the client master table has, with their names, at most `limit`. Reads two columns of this
   * table, without a tenant scope: only for operators and hosts, whom the caller has checked. A client without a row is
   * left out, and all are if a column is not there. By id, a client is named as it was asked for. Throws
   * METRIC_QUERY_ERROR, never with a driver's text, and also where the datasource does not answer in time.
   */
  readonly tenantNames: (question: TenantNamesQuestion, signal: RequestSignal) => Promise<readonly FoundTenant[]>;
  /**
   * Returns the databases of the datasource's server that may belong to a client. Throws DATASOURCE_CONNECTION_ERROR.
   */
  readonly listClientDatabases: (
    datasource: Datasource,
    origin?: Pick<RequestSignal, 'requestId'>,
  ) => Promise<ClientDatabases>;
  /** Returns what the datasource's user may do beyond reading. For operators. Throws DATASOURCE_CONNECTION_ERROR. */
  readonly readRights: (datasource: Datasource, origin?: Pick<RequestSignal, 'requestId'>) => Promise<SourceRights>;
  /**
   * Clears everything cached for a datasource and closes its connections, since its settings changed or it was deleted.
   */
  readonly forget: (datasourceId: string) => Promise<void>;
  /**
   * Deletes the cached answers of one client of the data app in every replica; of all its clients if `clientId` is
   * null. A new epoch already makes them unreachable; this call also removes the data. Never throws.
   */
  readonly forgetClient: (dataAppId: string, clientId: string | null) => Promise<void>;
  /** Null: no folder is configured, so nothing is kept. */
  readonly rollups: RollupBuilder | null;
  /**
   * Removes a client's rows from all rollups, and keeps them out. Questions of the client go to the source from then on.
   * Resolves when no file has a row of it; throws UPSTREAM_UNAVAILABLE where a builder is at work for too long.
   */
  readonly eraseFromRollups: (clientId: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type RollupQuestion = { readonly datasource: Datasource; readonly datamart: Datamart; readonly rollup: Rollup };

/** Keeps sums beside the source, for all tenants: only for operators and the work of a process. */
export type RollupBuilder = {
  /**
   * Builds the closed periods that are new or changed; all of them if `isWhole`. Throws INVALID_REQUEST_BODY for what
   * cannot be kept, and METRIC_QUERY_ERROR with the reason `rollup-busy` where another process builds.
   */
  readonly build: (asked: RollupQuestion & { readonly isWhole: boolean }, signal: AbortSignal) => Promise<KeptRollup>;
  /**
   * Takes the files out of force where the datasource decides over rows by itself now, which they would not ask. Throws
   * INVALID_REQUEST_BODY then.
   */
  readonly assertOpen: (asked: RollupQuestion, signal: AbortSignal) => Promise<void>;
  /** Removes the files of all rollups but these: the others are declared no more. */
  readonly keepOnly: (kept: readonly Pick<RollupQuestion, 'datamart' | 'rollup'>[]) => Promise<void>;
  /** What is in force. `isCurrent` false: the declaration, types or base filters have changed, so nothing is. */
  readonly state: (
    asked: RollupQuestion,
  ) => Promise<{ readonly isCurrent: boolean; readonly manifest: KeptRollup | null }>;
};

/** `closedUntil`: all rows before this day are kept, in the files of `partitions`. */
export type KeptRollup = {
  readonly closedUntil: string;
  readonly checkedAt: string;
  readonly partitions: readonly {
    readonly sourceRows: number;
    readonly files: readonly { readonly rows: number; readonly bytes: number }[];
  }[];
};

/** What operators read of a rollup. `outdated`: something changed since it was built, so the source answers. */
export type RollupReport = {
  readonly name: string;
  readonly state: 'none' | 'current' | 'outdated';
  readonly closedUntil: string | null;
  readonly checkedAt: string | null;
  readonly files: number;
  readonly rows: number;
  readonly sourceRows: number;
  readonly bytes: number;
};

export type TenantNamesQuestion = {
  readonly datasource: Datasource;
  readonly master: TableRef & {
    readonly keyColumn: string;
    readonly nameColumn: string;
    readonly clientColumnType: 'NUMBER' | 'STRING';
  };
  /** By id: these clients. By name: those whose name contains each of the words, in upper or lower case. */
  readonly wanted:
    | { readonly by: 'id'; readonly clientIds: readonly string[] }
    | { readonly by: 'name'; readonly words: readonly string[] };
  readonly limit: number;
  /** The time that the datasource has, with that of connecting. */
  readonly timeoutMs: number;
};

export type RepeatsQuestion = {
  readonly datasource: Datasource;
  readonly columns: readonly ColumnRef[];
  readonly maxRows: number;
};

/** The order is that of the question's columns. Values are compared byte by byte, as relationships compare them. */
export type ColumnRepeats = {
  /** Rows that were read and have a value. */
  readonly rows: number;
  /** Values that more than one of these rows has. */
  readonly repeated: number;
  /** Whether no row of the table was left out. */
  readonly isWhole: boolean;
};

/** The engine without what reads rows: for operations that tell definitions at most. */
export type DefinitionEngine = Omit<Engine, keyof Reads | 'until' | 'countRepeats' | 'tenantNames' | 'rollups'>;

/** The engine for use cases. They must pass an abort signal to read. */
export type ReadEngine = Pick<Engine, 'until'>;

/** The reason where the database itself refuses names, functions or types of a statement. */
export const statementRefused = 'statement-refused';

const typeFaults: ReadonlySet<Reason> = new Set([
  statementRefused,
  'measure-type',
  'grain-without-date',
  'bucket-invalid',
  'value-of-wrong-type',
  'expression-not-aggregate',
  'expression-column-unknown',
  'custom-column-aggregates',
  'custom-column-not-aggregate',
  'currencies-mixed',
  'sql-columns-differ',
  'sql-column-unknown',
  'sql-table-unknown',
]);

/** Whether every query of the metric would be refused for its names or types, whoever asks. */
export const isTypeFault = (error: unknown): error is Refusal =>
  error instanceof Refusal && typeFaults.has(error.reason);

type TenancyReason =
  | `table-${UnreadableReason}`
  | 'tenancy-join-types'
  | 'tenancy-column-missing'
  | 'client-column-missing'
  | 'client-column-type'
  | 'primary-table-not-shared'
  | 'base-filter-unfit';

const tenancyReasons: Readonly<Record<TenancyReason, true>> = {
  'table-no-owner': true,
  'table-several-paths': true,
  'table-cardinality-unknown': true,
  'table-key-within-client': true,
  'table-tenancy-path-unknown': true,
  'table-tenancy-path-nowhere': true,
  'table-cycle': true,
  'table-belongs-to-several': true,
  'table-through-unknown': true,
  'table-through-direction': true,
  'table-through-unowned': true,
  'tenancy-join-types': true,
  'tenancy-column-missing': true,
  'client-column-missing': true,
  'client-column-type': true,
  'primary-table-not-shared': true,
  'base-filter-unfit': true,
};

/**
 * Whether a query was refused since its datamart does not say which client the rows of a table belong to, or has a base
 * filter that does not fit.
 */
export const isTenancyFault = (error: unknown): error is Refusal =>
  error instanceof Refusal && Object.hasOwn(tenancyReasons, error.reason);

export type MetricQuestion = {
  readonly datasource: Datasource;
  readonly datamart: Datamart;
  readonly tenant: TenantScope;
  /** Data app of the caller. Cached answers are never shared between data apps. */
  readonly dataAppId: string;
  /** Where the answer is shown, for what operators count. Decides no row, and is no part of a cache's key. */
  readonly shownOn?: UsedOn | undefined;
  /**
   * Whether an answer of the datamart's `cacheStaleSeconds` will do, which says of when it is; the engine then asks anew.
   * Decides no row, and is no part of a cache's key.
   */
  readonly mayBeStale?: true | undefined;
  /**
   * Epoch of the data app's client when the caller was authenticated. Answers cached under another epoch are not found.
   */
  readonly epoch: Epoch;
  readonly definition: MetricDefinition;
  /**
   * `single`: the metric reads one worksheet that joins all tables of the datamart. Undefined: the metric joins only
   * the tables that it needs.
   */
  readonly joinModel?: 'single' | 'multi' | undefined;
  /**
   * Conditions that all apply, whatever their source. The definition's own filters are included; its `where` is not.
   */
  readonly conditions: readonly Condition[];
  /**
   * Set after a drill: tables of the dimensions that the metric had before. They count as read, like the tables of its
   * present dimensions.
   */
  readonly readBefore?: readonly TableRef[] | undefined;
  /**
   * The conditions that a comparison moves to an earlier time: those of the author and the guest, never those of the
   * token.
   */
  readonly movable?: readonly Condition[] | undefined;
  /** The start of the last complete period, if that bounds a comparison which nothing else bounds. */
  readonly comparedFrom?: string | undefined;
  /** Values of the RLS variables that custom SQL compares with, by name. No list is empty. */
  readonly variables?: ReadonlyMap<string, readonly Scalar[]> | undefined;
  /**
   * The reader's present day, from which relative periods count: see `todayOf`. Part of what is cached, so an answer never
   * outlives its period. Undefined only where no condition can be relative.
   */
  readonly today?: string | undefined;
  /** IANA name. Null: times are shown as stored. */
  readonly timezone: string | null;
  /** Replaces the definition's sort if not null. Names are those of dimensions and measures. */
  readonly sort: readonly Sort[] | null;
  /**
   * Maximum number of rows. Null: the largest permitted answer (1,000 for underlying rows); `isTruncated` and
   * `totalRecords` say whether rows are missing.
   */
  readonly limit: number | null;
  readonly offset: number;
};

/** A metric without anything of its viewer. The tenant only says in which database the columns are looked up. */
export type DefinedQuestion = Pick<MetricQuestion, 'datasource' | 'datamart' | 'tenant' | 'definition'>;

export type TypeQuestion = Pick<MetricQuestion, 'datasource' | 'datamart' | 'tenant' | 'definition' | 'conditions'>;

export type OptionsQuestion = Omit<MetricQuestion, 'sort' | 'offset'> & {
  readonly column: ColumnRef;
  /** Text that a value must contain, ignoring case. Wildcards have no special meaning. */
  readonly search: string | null;
};

/** A column of an answer. The engine gives no labels: `src/service/guest/labels.ts` adds those of the reader's language. */
export type AnswerColumn = {
  readonly name: string;
  readonly dataType: 'date' | 'number' | 'string' | 'boolean';
  /** Of a measure: a row may count in several groups, so that its values do not add up to that of all rows. */
  readonly isOverlapping?: true | undefined;
  readonly label?: string | undefined;
  /** Labels of texts that stand in the rows, by the stored text. */
  readonly valueLabels?: Readonly<Record<string, string>> | undefined;
  /** Colours that the author pinned to values that stand in the rows. */
  readonly valueColours?: readonly { readonly value: Cell; readonly colour: string }[] | undefined;
  /** Of amounts that are all in one currency, as the datamart says: its ISO 4217 code. */
  readonly currency?: string | undefined;
  /** Of amounts of several currencies: the column of the answer that has the code of each row's. They do not add up. */
  readonly currencyColumn?: string | undefined;
  /** Of underlying rows, whose columns no chart describes: how the datamart says that values are written. */
  readonly numbers?: ColumnNumbers | undefined;
  readonly dates?: ColumnDates | undefined;
};

/** A value of an answer. Dates are ISO 8601 without zone. Integers beyond 2^53 and exact decimals are strings. */
export type Cell = string | number | boolean | null;

export type MetricAnswer = {
  readonly rows: readonly Readonly<Record<string, Cell>>[];
  readonly columns: readonly AnswerColumn[];
  /** Names of the columns that are not aggregated. */
  readonly groupbyColumnList: readonly string[];
  /** Total number of rows, before limit and offset. */
  readonly totalRecords: number;
  /**
   * Whether rows are missing because the answer reached its maximum size in rows or bytes, not because of the
   * question's limit.
   */
  readonly isTruncated?: boolean | undefined;
  /** Set if a rollup answered, or the answer is stale: when its oldest rows were read from the source, in ISO 8601. */
  readonly asOf?: string | undefined;
  /** Set if the answer is older than the cache keeps answers. `asOf` says of when it is, and it is asked anew. */
  readonly isStale?: true | undefined;
  /**
   * Set if the metric combines all but its top groups: the last `rows` rows stand for all other values of the dimension
   * `name`, and have NULL there.
   */
  readonly others?: { readonly name: string; readonly rows: number } | undefined;
  /** Set if the question allowed fewer points than the answer has rows: see thin-points.ts. */
  readonly points?: { readonly shown: number; readonly total: number } | undefined;
  /**
   * Set if a comparison applies: the value of the same measure some periods earlier. Null if that period has no value.
   */
  readonly comparisonValue?: Cell | undefined;
  /** Set if the value is that of the last complete period: its first day. */
  readonly comparedFrom?: string | undefined;
  /** Of a single value with a comparison: the measure in each period up to the value's own, from the earliest. */
  readonly course?: readonly { readonly at: string; readonly value: Cell }[] | undefined;
};

/** A metric's rows in batches. The cells of a row are in the order of `columns`. */
export type MetricStream = {
  readonly columns: readonly AnswerColumn[];
  /** Whether the row, one that `batches` gave, stands for all other values of the last dimension: see `others`. */
  readonly isOther: (row: readonly Cell[]) => boolean;
  readonly batches: AsyncIterable<readonly (readonly Cell[])[]>;
};
