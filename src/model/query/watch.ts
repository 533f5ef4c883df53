/** What queries took, as an operator sees it. */

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
  /** The slowest of the last day, the slowest first. */
  readonly slowest: readonly QueryNote[];
  /** The slowest of the last day, answered or failed. */
  readonly finished: readonly QueryNote[];
  /** The failed ones of the last day, the latest first. */
  readonly failed: readonly QueryNote[];
};

/** How questions were answered. A time is the whole wait of a reader: in the queue and for the database, or for a kept answer. */
export type AnswerFigures = {
  readonly answers: number;
  /** Answers that cost no query of their own. */
  readonly kept: number;
  readonly failed: number;
  /** Milliseconds, estimated within 10 %, of what was answered. Null: nothing was. */
  readonly p50: number | null;
  readonly p95: number | null;
};

/** `freshAt`: when rows were last read from the database. Null: never in this time. */
export type TenantFigures = AnswerFigures & {
  readonly dataAppId: string;
  /** Null: a data app without tenants. */
  readonly clientId: string | null;
  readonly freshAt: Date | null;
};
export type DashboardFigures = AnswerFigures & {
  readonly dataAppId: string;
  readonly dashboardId: string | null;
  readonly freshAt: Date | null;
};

/** Narrows the answers to all that is given. Tenants and dashboards of one id in two data apps are two. */
export type AnswersOf = {
  readonly dataAppId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly dashboardId?: string | undefined;
};

export type AnswerHistory = {
  /** When this process started to count, or a day ago. */
  readonly since: Date;
  readonly stepMinutes: number;
  /** Each step of time in which something was asked, the earliest first. */
  readonly steps: readonly (AnswerFigures & { readonly at: Date })[];
  /** Those with the most answers, at most 50. */
  readonly tenants: readonly TenantFigures[];
  readonly dashboards: readonly DashboardFigures[];
  /** Answers of the same time whose tenant and dashboard are no longer told apart. */
  readonly others: number;
};

export type ReadQueries = {
  readonly read: () => WatchedQueries;
  /** The answers of the last day, as this process gave them. */
  readonly history: (of: AnswersOf) => AnswerHistory;
  /** The database's plan of a query that is remembered, without values. Null: it is not. */
  readonly plan: (id: string) => Promise<string | null>;
};
