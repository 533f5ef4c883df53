/** Channels beside e-mail: the operator's webhooks. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const channels = statementsOf([
  'alter table guestlist.schedules add column channel text',
  "alter table guestlist.schedules add constraint schedules_channel check (channel is null or format in ('alert', 'link'))",
]);
