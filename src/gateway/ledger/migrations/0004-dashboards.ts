import { statementsOf } from '../../../platform/migrate.js';

export const dashboards = statementsOf([
  `create table guestlist_gateway.dashboards (
    dashboard_id text collate "C" primary key,
    tenant_ref text collate "C" not null references guestlist_gateway.tenants,
    template text collate "C" not null,
    version text collate "C"
  )`,
]);
