import { statementsOf } from '../../platform/migrate.js';

/** Of credentials with one name, the oldest keeps it; the others are told apart by their ids. */
const renameDuplicates = (table: string, within: string): string =>
  `update guestlist.${table} as later set name = left(later.name, 200) || ' (' || later.id || ')'
    where exists (
      select from guestlist.${table} as earlier
      where earlier.name = later.name ${within}
        and (earlier.created_at, earlier.id) < (later.created_at, later.id)
    )`;

/**
 * What is revoked or replaced stays as a tombstone, found by its hash alone, so that no start brings it back. Names are unique
 * among the current credentials.
 */
const withLife = (table: string, within: string, names: string): readonly string[] => [
  `alter table guestlist.${table}
    alter column name type text collate "C",
    add column key_hint text,
    add column last_used_at timestamptz,
    add column revoked_at timestamptz,
    add column replaced_at timestamptz`,
  renameDuplicates(table, within),
  `create unique index ${table}_current on guestlist.${table} (${names})
    where revoked_at is null and replaced_at is null`,
];

export const keys = statementsOf([
  ...withLife('api_keys', 'and earlier.data_app_id = later.data_app_id', 'data_app_id, name'),
  'alter table guestlist.api_keys add column description text',
  ...withLife('service_tokens', '', 'name'),
  `create table guestlist.revocation_epochs (
    data_app_id text not null references guestlist.data_apps on delete cascade,
    client_id text collate "C" not null,
    user_identifier text collate "C" not null,
    epoch bigint not null,
    primary key (data_app_id, client_id, user_identifier)
  )`,
  `alter table guestlist.guest_tokens
    add column epoch bigint not null default 0,
    add column last_used_at timestamptz`,
  'create index guest_tokens_expired on guestlist.guest_tokens (expires_at) where expires_at is not null',
  'create index guest_tokens_in_order on guestlist.guest_tokens (data_app_id, created_at, id)',
]);
