/** What queries took, as an operator sees it. */

/** Numbers of one client of a data app since the process started. */
export type ClientUse = {
  readonly dataAppId: string;
  /** Null: a data app without tenants. */
  readonly clientId: string | null;
  /** Answered questions, wherever their rows came from. */
  readonly questions: number;
  /** Queries that a database ran. */
  readonly queries: number;
  readonly rows: number;
  /** Time of the databases, in milliseconds. */
  readonly ms: number;
  readonly failed: number;
};

/** One query that a database ran. */
export type QueryNote = {
  readonly id: string;
  readonly at: Date;
  readonly dataAppId: string;
  readonly clientId: string | null;
  readonly datasource: string;
  /** The request, as in the log. */
  readonly requestId: string | undefined;
  readonly ms: number;
  readonly rows: number;
  /** The reason of the failure. */
  readonly failure: string | null;
  /** With placeholders for values. */
  readonly sql: string;
};

export type WatchedQueries = {
  readonly since: Date;
  readonly clients: readonly ClientUse[];
  /** The slowest of the last day, the slowest first. */
  readonly slowest: readonly QueryNote[];
  /** The slowest of the last day, answered or failed. */
  readonly finished: readonly QueryNote[];
  /** The failed ones of the last day, the latest first. */
  readonly failed: readonly QueryNote[];
};

export type ReadQueries = {
  readonly read: () => WatchedQueries;
  /** The database's plan of a query that is remembered, without values. Null: it is not. */
  readonly plan: (id: string) => Promise<string | null>;
};
