/** Schedules of reports, and the ledger of their deliveries. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const schedules = statementsOf([
  `create table guestlist.schedules (
    id text primary key,
    dashboard_id text not null references guestlist.dashboards on delete cascade,
    opened_id text not null,
    data_app_id text not null references guestlist.data_apps on delete cascade,
    client_id text collate "C" not null,
    user_identifier text collate "C" not null check (user_identifier <> ''),
    name text not null,
    format text not null,
    recurrence jsonb not null,
    catch_up text not null,
    is_paused boolean not null,
    next_at timestamptz,
    created_at timestamptz not null
  )`,
  'create index schedules_of_dashboard on guestlist.schedules (dashboard_id)',
  'create index schedules_of_client on guestlist.schedules (data_app_id, client_id)',
  'create index schedules_next on guestlist.schedules (next_at) where not is_paused',
  `create table guestlist.deliveries (
    id text primary key,
    schedule_id text not null references guestlist.schedules on delete cascade,
    recipient text collate "C" not null,
    moment timestamptz not null,
    data_app_id text not null,
    client_id text collate "C" not null,
    is_requested boolean not null,
    state text not null check (state in ('due', 'sending', 'sent', 'failed', 'skipped')),
    reason text,
    attempts integer not null default 0,
    handovers integer not null default 0,
    attempt_at timestamptz not null,
    claimed_at timestamptz,
    lease_id text,
    leased_until timestamptz,
    finished_at timestamptz,
    unique (schedule_id, moment, recipient),
    check ((state = 'sending') = (lease_id is not null)),
    check ((lease_id is null) = (leased_until is null))
  )`,
  "create index deliveries_open on guestlist.deliveries (attempt_at) where state in ('due', 'sending')",
  'create index deliveries_claimed on guestlist.deliveries (claimed_at)',
  'create index deliveries_finished on guestlist.deliveries (finished_at)',
]);
