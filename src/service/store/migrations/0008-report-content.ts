/** Reports of chosen metrics, with the filters that their user had set. The previous release sends all, without filters. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const reportContent = statementsOf([
  `alter table guestlist.schedules add column dashboard_filter jsonb not null default '{}'`,
  'alter table guestlist.schedules add column metric_ids jsonb',
]);
