/** What checks of an alert found for each of its recipients. The previous release compares them with no earlier check. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const alertStates = statementsOf([
  `create table guestlist.alert_states (
    schedule_id text not null references guestlist.schedules on delete cascade,
    recipient text collate "C" not null,
    state text not null,
    primary key (schedule_id, recipient)
  )`,
]);
