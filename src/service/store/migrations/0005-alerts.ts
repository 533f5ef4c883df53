/** Alerts: schedules that tell something of one metric. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const alerts = statementsOf([
  'alter table guestlist.schedules add column alert jsonb',
  'alter table guestlist.schedules add column alert_state text',
  'alter table guestlist.schedules add column muted_until timestamptz',
  `alter table guestlist.schedules add constraint schedules_alert check
    ((format = 'alert') = (alert is not null) and (alert is not null or alert_state is null))`,
]);
