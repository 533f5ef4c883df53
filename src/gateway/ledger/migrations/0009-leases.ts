import { statementsOf } from '../../../platform/migrate.js';

/**
 * Who is alive, and who works on what. A lease ends with its process, not at a time: so one table takes the place of the
 * times that turns, works and roll-outs had each.
 */
export const leases = statementsOf([
  `create table guestlist_gateway.processes (
    process_id text collate "C" primary key,
    beat_at timestamptz not null
  )`,
  `create table guestlist_gateway.leases (
    holder text collate "C" primary key,
    name text collate "C" not null unique,
    process_id text collate "C" not null
  )`,
  'drop table guestlist_gateway.tenant_turns',
  'drop table guestlist_gateway.tenant_works',
  'alter table guestlist_gateway.rollouts drop column runner, drop column lease_until',
  // A claim of the release before lasted a minute. Its process is stopped by now, so each of these is due at once.
  'alter table guestlist_gateway.pending_revocations add column claimed_by text collate "C"',
  'update guestlist_gateway.pending_revocations set attempt_at = created_at',
  'create index tenants_owed on guestlist_gateway.tenants (tenant_ref) where is_erasure_owed',
]);
