import { statementsOf } from '../../platform/migrate.js';

/**
 * How often a client of the data app was erased: a mint that was under way meanwhile begins again, since the client's own epochs,
 * which would tell it, are erased with everything else that names the client.
 */
export const clientErasures = statementsOf([
  'alter table guestlist.data_apps add column erasures bigint not null default 0',
  'create index dashboards_of_client on guestlist.dashboards (data_app_id, client_id) where client_id is not null',
  'create index metrics_of_client on guestlist.metrics (data_app_id, client_id) where client_id is not null',
]);
