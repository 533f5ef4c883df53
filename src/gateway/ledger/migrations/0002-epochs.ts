import { statementsOf } from '../../../platform/migrate.js';

export const epochs = statementsOf([
  `create table guestlist_gateway.epoch_changes (
    id integer primary key default 1 check (id = 1),
    last bigint not null
  )`,
  `create table guestlist_gateway.epochs (
    scope text collate "C" primary key,
    epoch bigint not null,
    revoked_at timestamptz,
    change bigint not null
  )`,
  'create index epochs_change on guestlist_gateway.epochs (change)',
  `create table guestlist_gateway.pending_revocations (
    id uuid primary key,
    target text not null,
    attempts integer not null default 0,
    attempt_at timestamptz not null,
    created_at timestamptz not null
  )`,
  'create index pending_revocations_attempt_at on guestlist_gateway.pending_revocations (attempt_at)',
]);
