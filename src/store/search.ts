/** Finds rows by words in their names, in pages. */
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { FoundPage, SearchStore, Wanted } from '../domain/store/search.js';
import { containsWords } from '../platform/contains-words.js';
import { sumOfEpochs } from './revocations.js';
import type { Tables } from './tables.js';

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

const dashboards = (db: Db, wanted: Wanted) => {
  const own = db
    .selectFrom('dashboards')
    .innerJoin('workspaces', 'workspaces.id', 'dashboards.workspace_id')
    .select(['external_dashboard_id as dashboardId', 'dashboards.name', 'workspaces.name as workspaceName'])
    .where('dashboards.data_app_id', 'is', null)
    .where(contains(['dashboards.name', 'external_dashboard_id'], wanted));
  return pageOf(own, ['dashboards.name', 'dashboards.id'], wanted);
};

const metrics = (db: Db, wanted: Wanted) => {
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

const datamarts = (db: Db, wanted: Wanted) => {
  const all = db
    .selectFrom('datamarts')
    .innerJoin('datasources', 'datasources.id', 'datamarts.datasource_id')
    .select(['datamarts.name', 'datasources.name as datasourceName'])
    .where(contains(['datamarts.name', 'datasources.name'], wanted));
  return pageOf(all, ['datamarts.name'], wanted);
};

const guestTokens = (db: Db, { dataAppId, now, byUser }: Parameters<SearchStore['guestTokens']>[0], wanted: Wanted) => {
  const user = byUser ? sql<string | null>`user_identifier` : sql<string | null>`null`;
  const live = db
    .selectFrom('guest_tokens')
    .select(['id', 'client_id as clientId', 'created_at as createdAt', user.as('userIdentifier')])
    .where('data_app_id', '=', dataAppId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .where('epoch', '=', sumOfEpochs())
    .where(contains(byUser ? ['client_id', 'user_identifier'] : ['client_id'], wanted));
  return pageOf(live, ['client_id', 'created_at', 'id'], wanted);
};

const schedules = (db: Db, { dataAppId, byUser }: Parameters<SearchStore['schedules']>[0], wanted: Wanted) => {
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

const hostSchedules = (db: Db, dataAppId: string, wanted: Wanted) => {
  const ofHost = db
    .selectFrom('schedules')
    .select(['id', 'name', 'format', 'opened_id as template'])
    .where('data_app_id', '=', dataAppId)
    .where('client_id', '=', '')
    .where(contains(['name', 'format', 'opened_id'], wanted));
  return pageOf(ofHost, ['name', 'id'], wanted);
};

export const createSearchStore = (db: Db): SearchStore => ({
  dashboards: (wanted) => dashboards(db, wanted),
  metrics: (wanted) => metrics(db, wanted),
  datasources: (wanted) =>
    pageOf(
      db
        .selectFrom('datasources')
        .select('name')
        .where(contains(['name'], wanted)),
      ['name'],
      wanted,
    ),
  datamarts: (wanted) => datamarts(db, wanted),
  guestTokens: (of, wanted) => guestTokens(db, of, wanted),
  schedules: (of, wanted) => schedules(db, of, wanted),
  hostSchedules: (dataAppId, wanted) => hostSchedules(db, dataAppId, wanted),
});
