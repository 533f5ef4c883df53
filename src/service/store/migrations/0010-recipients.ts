/** Reports to others of the same tenant, and to addresses. The previous release sends them to their owners. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const recipients = statementsOf([
  'alter table guestlist.schedules add column recipients text',
  `create table guestlist.schedule_stops (
    schedule_id text not null references guestlist.schedules on delete cascade,
    recipient text collate "C" not null,
    stopped_at timestamptz not null,
    primary key (schedule_id, recipient)
  )`,
  `create table guestlist.report_addresses (
    id text primary key,
    data_app_id text not null references guestlist.data_apps on delete cascade,
    client_id text collate "C" not null,
    digest text collate "C" not null,
    created_at timestamptz not null,
    asked_at timestamptz,
    confirmed_at timestamptz,
    unique (data_app_id, client_id, digest)
  )`,
  'alter table guestlist.deliveries drop constraint deliveries_state_check',
  `alter table guestlist.deliveries add constraint deliveries_state_check
    check (state in ('due', 'sending', 'sent', 'failed', 'skipped', 'shared'))`,
]);
