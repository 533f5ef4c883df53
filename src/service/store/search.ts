/** Finds rows by words in their names, in pages. */
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { containsWords } from '../../platform/files/contains-words.js';
import { isEpochCurrent } from './revocations.js';
import type { Tables } from './tables.js';

/** A page of what was found. The next page begins after `next`. Null: there are no more. */
export type FoundPage<T> = { readonly found: readonly T[]; readonly next: string | null };

export type Wanted = {
  /** A name must contain each of them, in upper or lower case. None: every name is found. */
  readonly words: readonly string[];
  /** `next` of the page before. Null: the first page. */
  readonly after: string | null;
  readonly limit: number;
};

type FoundDashboard = { readonly dashboardId: string; readonly name: string; readonly workspaceName: string };

/** A metric on a dashboard. One that stands on several is found on each. */
type FoundMetric = FoundDashboard & { readonly metricId: string; readonly metricName: string };

type FoundModel = { readonly name: string; readonly datasourceName: string };

type FoundToken = {
  readonly id: string;
  readonly clientId: string;
  /** Null: the token has none, or users were not asked for. */
  readonly userIdentifier: string | null;
  readonly createdAt: Date;
};

type FoundSchedule = {
  readonly id: string;
  readonly name: string;
  readonly format: string;
  readonly clientId: string;
  /** Null: users were not asked for. */
  readonly userIdentifier: string | null;
};

/** A report or an alert of the host to all tenants with a copy of the template. */
type FoundHostSchedule = Pick<FoundSchedule, 'id' | 'name' | 'format'> & { readonly template: string };

/** Condition for `where`: the columns together contain every word. */
const contains = (columns: readonly string[], { words }: Wanted) =>
  containsWords(sql`concat_ws(' ', ${sql.join(columns.map((column) => sql.ref(column)))})`, words);

/** `next` is the number of rows before the next page. A text that is no number begins anew. */
const pageOf = async <O extends object>(
  query: SelectQueryBuilder<Tables, keyof Tables, O>,
  keys: readonly string[],
  { after, limit }: Wanted,
): Promise<FoundPage<O>> => {
  const start = /^\d{1,9}$/.test(after ?? '') ? Number(after) : 0;
  const ordered = keys.reduce((rows, key) => rows.orderBy(sql.ref(key)), query);
  const rows = (await ordered
    .limit(limit + 1)
    .offset(start)
    .execute()) as O[];
  return { found: rows.slice(0, limit), next: rows.length > limit ? String(start + limit) : null };
};

type Db = Kysely<Tables>;

const dashboards = (db: Db, wanted: Wanted): Promise<FoundPage<FoundDashboard>> => {
  const own = db
    .selectFrom('dashboards')
    .innerJoin('workspaces', 'workspaces.id', 'dashboards.workspace_id')
    .select(['external_dashboard_id as dashboardId', 'dashboards.name', 'workspaces.name as workspaceName'])
    .where('dashboards.data_app_id', 'is', null)
    .where(contains(['dashboards.name', 'external_dashboard_id'], wanted));
  return pageOf(own, ['dashboards.name', 'dashboards.id'], wanted);
};

const metrics = (db: Db, wanted: Wanted): Promise<FoundPage<FoundMetric>> => {
  const own = db
    .selectFrom('metrics')
    .innerJoin('dashboard_metrics', 'dashboard_metrics.metric_id', 'metrics.metric_id')
    .innerJoin('dashboards', 'dashboards.id', 'dashboard_metrics.dashboard_id')
    .innerJoin('workspaces', 'workspaces.id', 'dashboards.workspace_id')
    .select(['metrics.metric_id as metricId', 'metrics.name as metricName', 'dashboards.name'])
    .select(['external_dashboard_id as dashboardId', 'workspaces.name as workspaceName'])
    .where('metrics.data_app_id', 'is', null)
    .where('dashboards.data_app_id', 'is', null)
    .where(contains(['metrics.name', 'metrics.metric_id'], wanted));
  return pageOf(own, ['metrics.name', 'metrics.metric_id', 'dashboards.id'], wanted);
};

const datamarts = (db: Db, wanted: Wanted): Promise<FoundPage<FoundModel>> => {
  const all = db
    .selectFrom('datamarts')
    .innerJoin('datasources', 'datasources.id', 'datamarts.datasource_id')
    .select(['datamarts.name', 'datasources.name as datasourceName'])
    .where(contains(['datamarts.name', 'datasources.name'], wanted));
  return pageOf(all, ['datamarts.name'], wanted);
};

type OfTokens = { readonly dataAppId: string; readonly now: Date; readonly byUser: boolean };

const guestTokens = (db: Db, { dataAppId, now, byUser }: OfTokens, wanted: Wanted): Promise<FoundPage<FoundToken>> => {
  const user = byUser ? sql<string | null>`user_identifier` : sql<string | null>`null`;
  const live = db
    .selectFrom('guest_tokens')
    .select(['id', 'client_id as clientId', 'created_at as createdAt', user.as('userIdentifier')])
    .where('data_app_id', '=', dataAppId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .where(isEpochCurrent())
    .where(contains(byUser ? ['client_id', 'user_identifier'] : ['client_id'], wanted));
  return pageOf(live, ['client_id', 'created_at', 'id'], wanted);
};

const schedules = (
  db: Db,
  { dataAppId, byUser }: Omit<OfTokens, 'now'>,
  wanted: Wanted,
): Promise<FoundPage<FoundSchedule>> => {
  const user = byUser ? sql<string | null>`user_identifier` : sql<string | null>`null`;
  const columns = ['name', 'format', 'client_id', 'opened_id'];
  const ofUsers = db
    .selectFrom('schedules')
    .select(['id', 'name', 'format', 'client_id as clientId', user.as('userIdentifier')])
    .where('data_app_id', '=', dataAppId)
    .where('client_id', '<>', '')
    .where(contains(byUser ? [...columns, 'user_identifier'] : columns, wanted));
  return pageOf(ofUsers, ['name', 'id'], wanted);
};

const hostSchedules = (db: Db, dataAppId: string, wanted: Wanted): Promise<FoundPage<FoundHostSchedule>> => {
  const ofHost = db
    .selectFrom('schedules')
    .select(['id', 'name', 'format', 'opened_id as template'])
    .where('data_app_id', '=', dataAppId)
    .where('client_id', '=', '')
    .where(contains(['name', 'format', 'opened_id'], wanted));
  return pageOf(ofHost, ['name', 'id'], wanted);
};

export const createSearchStore = (db: Db) => ({
  dashboards: (wanted: Wanted) => dashboards(db, wanted),
  metrics: (wanted: Wanted) => metrics(db, wanted),
  datasources: (wanted: Wanted): Promise<FoundPage<{ readonly name: string }>> =>
    pageOf(
      db
        .selectFrom('datasources')
        .select('name')
        .where(contains(['name'], wanted)),
      ['name'],
      wanted,
    ),
  datamarts: (wanted: Wanted) => datamarts(db, wanted),
  /** The data app's tokens that are valid at `now`. Without `byUser`, a user is neither compared nor answered. */
  guestTokens: (of: { readonly dataAppId: string; readonly now: Date; readonly byUser: boolean }, wanted: Wanted) =>
    guestTokens(db, of, wanted),
  /** Reports and alerts of the data app's users. Without `byUser`, a user is neither compared nor answered. */
  schedules: (of: { readonly dataAppId: string; readonly byUser: boolean }, wanted: Wanted) =>
    schedules(db, of, wanted),
  hostSchedules: (dataAppId: string, wanted: Wanted) => hostSchedules(db, dataAppId, wanted),
});

/** Dashboards and metrics are those of the organization: copies and metrics of clients are never found. */
export type SearchStore = ReturnType<typeof createSearchStore>;
