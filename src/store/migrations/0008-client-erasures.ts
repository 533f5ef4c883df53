import { statementsOf } from '../../platform/migrate.js';

/**
 * Which clients of a data app were erased of late, under a digest: a mint that began before is told by it, since the client's own
 * epochs are erased with everything else that names the client. `erasures` counts them, so that a mint looks only where it must.
 */
export const clientErasures = statementsOf([
  'alter table guestlist.data_apps add column erasures bigint not null default 0',
  `create table guestlist.client_erasures (
    data_app_id text not null references guestlist.data_apps on delete cascade,
    number bigint not null,
    salt text not null,
    digest text not null,
    erased_at timestamptz not null,
    primary key (data_app_id, number)
  )`,
  'create index dashboards_of_client on guestlist.dashboards (data_app_id, client_id) where client_id is not null',
  'create index metrics_of_client on guestlist.metrics (data_app_id, client_id) where client_id is not null',
]);
