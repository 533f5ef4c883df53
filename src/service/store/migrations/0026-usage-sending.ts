/**
 * What was used and is sent to a billing system. The messages are made when an hour closes, and are deleted once they were
 * taken. Also the queries that nobody asked for, which warm up kept answers.
 */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const usageSending = statementsOf([
  `alter table guestlist.usage
    add column warm_up_queries bigint not null default 0,
    add column warm_up_ms bigint not null default 0`,
  // One row at most. Hours before `closed_until` are in messages; a lease is held by the only sender.
  `create table guestlist.usage_sending (
    is_only boolean primary key default true check (is_only),
    closed_until timestamptz not null,
    attempts integer not null default 0,
    attempt_at timestamptz not null,
    fault text,
    lease_id uuid,
    leased_until timestamptz
  )`,
  `create table guestlist.usage_messages (
    id uuid primary key,
    at timestamptz not null,
    is_late boolean not null,
    tenants jsonb not null
  )`,
  'create index usage_messages_at on guestlist.usage_messages (at, is_late, id)',
]);
