/** What was used, by hour. An empty text stands for none, so that all are part of the key. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const usage = statementsOf([
  `create table guestlist.usage (
    at timestamptz not null,
    data_app_id text not null,
    client_id text not null,
    person text not null,
    dashboard_id text not null,
    metric_id text not null,
    logins bigint not null,
    mints bigint not null,
    source_queries bigint not null,
    kept_answers bigint not null,
    failed_answers bigint not null,
    rows bigint not null,
    ms bigint not null,
    exports bigint not null,
    mails bigint not null,
    model_tokens bigint not null,
    primary key (data_app_id, client_id, at, person, dashboard_id, metric_id)
  )`,
  'create index usage_at on guestlist.usage (at)',
  // The last batch of each process, so that a batch whose answer was lost is not counted twice.
  `create table guestlist.usage_writers (
    writer uuid primary key,
    batch bigint not null,
    at timestamptz not null
  )`,
]);
