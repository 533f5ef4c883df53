/** Alerts of the host for all tenants of a template. The previous release refuses them to every recipient. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const hostAlerts = statementsOf([
  'alter table guestlist.schedules drop constraint schedules_owner_check',
  `alter table guestlist.schedules add constraint schedules_owner_check
    check ((client_id = '') = (user_identifier = ''))`,
]);
