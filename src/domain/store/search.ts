/** Finds what is stored by words, for people who operate. Whoever asks must have checked what the person may read. */

/** A page of what was found. The next page begins after `next`. Null: there are no more. */
export type FoundPage<T> = { readonly found: readonly T[]; readonly next: string | null };

export type Wanted = {
  /** A name must contain each of them, in upper or lower case. None: every name is found. */
  readonly words: readonly string[];
  /** `next` of the page before. Null: the first page. */
  readonly after: string | null;
  readonly limit: number;
};

export type FoundDashboard = { readonly dashboardId: string; readonly name: string; readonly workspaceName: string };
/** A metric on a dashboard. One that stands on several is found on each. */
export type FoundMetric = FoundDashboard & { readonly metricId: string; readonly metricName: string };
export type FoundModel = { readonly name: string; readonly datasourceName: string };
export type FoundToken = {
  readonly id: string;
  readonly clientId: string;
  /** Null: the token has none, or users were not asked for. */
  readonly userIdentifier: string | null;
  readonly createdAt: Date;
};
export type FoundSchedule = {
  readonly id: string;
  readonly name: string;
  readonly format: string;
  readonly clientId: string;
  /** Null: users were not asked for. */
  readonly userIdentifier: string | null;
};
/** A report or an alert of the host to all tenants with a copy of the template. */
export type FoundHostSchedule = Pick<FoundSchedule, 'id' | 'name' | 'format'> & { readonly template: string };

/** Dashboards and metrics are those of the organization: copies and metrics of clients are never found. */
export type SearchStore = {
  readonly dashboards: (wanted: Wanted) => Promise<FoundPage<FoundDashboard>>;
  readonly metrics: (wanted: Wanted) => Promise<FoundPage<FoundMetric>>;
  readonly datasources: (wanted: Wanted) => Promise<FoundPage<{ readonly name: string }>>;
  readonly datamarts: (wanted: Wanted) => Promise<FoundPage<FoundModel>>;
  /** The data app's tokens that are valid at `now`. Without `byUser`, a user is neither compared nor answered. */
  readonly guestTokens: (
    of: { readonly dataAppId: string; readonly now: Date; readonly byUser: boolean },
    wanted: Wanted,
  ) => Promise<FoundPage<FoundToken>>;
  /** Reports and alerts of the data app's users. Without `byUser`, a user is neither compared nor answered. */
  readonly schedules: (
    of: { readonly dataAppId: string; readonly byUser: boolean },
    wanted: Wanted,
  ) => Promise<FoundPage<FoundSchedule>>;
  readonly hostSchedules: (dataAppId: string, wanted: Wanted) => Promise<FoundPage<FoundHostSchedule>>;
};
