/** The query engine as the use cases need it: a question about a metric, and its rows. src/engine implements it. */
import type { Epoch } from '../brand.js';
import type { MetricDefinition, Sort } from '../dashboard/metric.js';
import type { ColumnRef, Datamart, TableRef } from '../datamart/datamart.js';
import type { ClientDatabases, SourceTable } from '../datamart/source-schema.js';
import type { TenantScope } from '../datamart/tenant.js';
import type { Condition, Scalar } from '../filter/filter.js';
import type { Datasource } from '../organization.js';

/** What is read. Nothing here can be asked without a tenant scope. */
export type Reads = {
  /** The metric's answer. Throws METRIC_QUERY_ERROR, also where it takes too long, or CLIENT_ID_ERROR; never a driver's text. */
  readonly query: (question: MetricQuestion) => Promise<MetricAnswer>;
  /** The joined rows the metric aggregates, by its `underlying` columns, under the same conditions. */
  readonly underlying: (question: MetricQuestion) => Promise<MetricAnswer>;
  /** Distinct values of `column` in the rows the metric aggregates, ascending, NULL left out. */
  readonly options: (question: OptionsQuestion) => Promise<readonly Scalar[]>;
  /**
   * The metric's rows, all of them where the question gives no limit, a batch at a time. It resolves when the first batch is there; a failure after it
   * throws out of `batches`, so that what was read is no whole answer. Whoever stops reading must end the iteration.
   */
  readonly stream: (question: MetricQuestion) => Promise<MetricStream>;
};

/** Metric -> rows. */
export type Engine = Reads & {
  /** The same for one caller: when `signal` aborts, what runs is stopped, at the database too, and refused by METRIC_QUERY_ERROR. */
  readonly until: (signal: AbortSignal) => Reads;
  /**
   * The tables of the datasource as they are now, in order of schema and name; a later question sees them too. `databases`: those
   * of its server whose tables are told too, where the database is the schema. Throws DATASOURCE_CONNECTION_ERROR, never with a driver's text.
   */
  readonly introspect: (datasource: Datasource, databases?: readonly string[]) => Promise<readonly SourceTable[]>;
  /** The databases of its server that may be a client's. Throws DATASOURCE_CONNECTION_ERROR. */
  readonly listClientDatabases: (datasource: Datasource) => Promise<ClientDatabases>;
  /** Forgets what is known of a datasource and ends its connections: its settings changed, or it is gone. */
  readonly forget: (datasourceId: string) => Promise<void>;
  /**
   * Drops the answers kept for a client of the data app, in every replica; null: for all its clients. What is asked under a later epoch
   * finds none of them either way: this is for what must be gone, and not only out of reach. Never fails.
   */
  readonly forgetClient: (dataAppId: string, clientId: string | null) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** All that a use case reads by: it has to say until when. */
export type ReadEngine = Pick<Engine, 'until'>;

export type MetricQuestion = {
  readonly datasource: Datasource;
  readonly datamart: Datamart;
  readonly tenant: TenantScope;
  /** Whose question it is: answers are kept for the clients of one data app, and never shared with another's. */
  readonly dataAppId: string;
  /** Of the data app's client, as it was when the caller was recognised: an answer kept under another one is not found. */
  readonly epoch: Epoch;
  readonly definition: MetricDefinition;
  /** `single`: the metric reads one worksheet of all the datamart's tables. Left out: it joins what it needs. */
  readonly joinModel?: 'single' | 'multi' | undefined;
  /** All of them hold, whoever they come from; the definition's own filters are already among them (its `where` is not). */
  readonly conditions: readonly Condition[];
  /** After a drill: the tables of the dimensions that the metric had before. They count as read, as its present ones do. */
  readonly readBefore?: readonly TableRef[] | undefined;
  /** Those of the conditions that a comparison moves to an earlier time: the author's and the guest's, never the token's. */
  readonly movable?: readonly Condition[] | undefined;
  /** Values of the RLS variables that custom SQL compares with, by name; none of them is empty. */
  readonly variables?: ReadonlyMap<string, readonly Scalar[]> | undefined;
  /** IANA name; null: as stored. */
  readonly timezone: string | null;
  /** Replaces the definition's sort where given; names are those of dimensions and measures. */
  readonly sort: readonly Sort[] | null;
  /** Null: as many rows as an answer may hold (of underlying rows 1,000); `isTruncated` and `totalRecords` say what is missing. */
  readonly limit: number | null;
  readonly offset: number;
};

export type OptionsQuestion = Omit<MetricQuestion, 'sort' | 'offset'> & {
  readonly column: ColumnRef;
  /** Part of the value, compared without regard to case; wildcards are plain text. */
  readonly search: string | null;
};

export type AnswerColumn = { readonly name: string; readonly dataType: 'date' | 'number' | 'string' | 'boolean' };

/** Dates are ISO 8601 without zone; integers beyond 2^53 and exact decimals are strings. */
export type Cell = string | number | boolean | null;

export type MetricAnswer = {
  readonly rows: readonly Readonly<Record<string, Cell>>[];
  readonly columns: readonly AnswerColumn[];
  /** Names of the non-aggregated columns. */
  readonly groupbyColumnList: readonly string[];
  /** Rows there are in all, before limit and offset. */
  readonly totalRecords: number;
  /** The rows end where the answer reached its greatest size, in rows or bytes, and not where the question said. */
  readonly isTruncated?: boolean | undefined;
  /** Where a comparison applies: the same measure, periods earlier. Null: there was none. */
  readonly comparisonValue?: Cell | undefined;
};

/** Rows in the order of `columns`. */
export type MetricStream = {
  readonly columns: readonly AnswerColumn[];
  readonly batches: AsyncIterable<readonly (readonly Cell[])[]>;
};
