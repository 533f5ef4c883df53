/** Schedules of the host for all tenants of a template. The previous release sends nothing of them. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const hostSchedules = statementsOf([
  'alter table guestlist.schedules drop constraint schedules_user_identifier_check',
  `alter table guestlist.schedules add constraint schedules_owner_check
    check ((client_id = '') = (user_identifier = '') and (user_identifier <> '' or alert is null))`,
  'alter table guestlist.deliveries add column dashboard_id text references guestlist.dashboards on delete cascade',
  'create index deliveries_of_copy on guestlist.deliveries (dashboard_id) where dashboard_id is not null',
]);
