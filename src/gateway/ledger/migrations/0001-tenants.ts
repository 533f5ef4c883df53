import { statementsOf } from '../../../platform/migrate.js';

export const tenants = statementsOf([
  `create table guestlist_gateway.installation (
    id integer primary key default 1 check (id = 1),
    tenant_key text not null
  )`,
  `create table guestlist_gateway.tenants (
    tenant_ref text collate "C" primary key,
    client_id text collate "C" unique,
    state text not null check (state in ('active', 'suspended', 'deleted')),
    occurred_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    check ((state = 'deleted') or client_id is not null)
  )`,
]);
