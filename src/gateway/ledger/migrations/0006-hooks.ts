import { statementsOf } from '../../../platform/migrate.js';

/**
 * Of each kind of event the newest moment, from which the state follows whatever the order they came in. References are keyed
 * digests: no clientId, webhook-id or body stands here. The clientId follows from the reference: that it is unique too would let
 * two first logins at once come upon it before they come upon the reference, which `on conflict` looks at.
 */
export const hooks = statementsOf([
  'alter table guestlist_gateway.tenants drop constraint tenants_client_id_key',
  'create index tenants_of_client on guestlist_gateway.tenants (client_id)',
  `alter table guestlist_gateway.tenants
    add column signed_up_at timestamptz,
    add column resumed_at timestamptz,
    add column suspended_at timestamptz,
    add column deleted_at timestamptz,
    add column is_erasure_owed boolean not null default false,
    add column changes bigint not null default 0`,
  `create table guestlist_gateway.tenant_turns (
    tenant_ref text collate "C" primary key,
    holder text not null,
    expires_at timestamptz not null
  )`,
  `create table guestlist_gateway.tenant_works (
    work_id text primary key,
    tenant_ref text collate "C" not null,
    expires_at timestamptz not null
  )`,
  'create index tenant_works_of_tenant on guestlist_gateway.tenant_works (tenant_ref)',
  `create table guestlist_gateway.hook_deliveries (
    delivery_ref text primary key,
    body_ref text not null,
    received_at timestamptz not null,
    done_at timestamptz,
    answer jsonb,
    check ((done_at is null) = (answer is null))
  )`,
  'create index hook_deliveries_received on guestlist_gateway.hook_deliveries (received_at)',
  `create table guestlist_gateway.erasures (
    tenant_ref text collate "C" not null,
    deleted_at timestamptz not null,
    started_at timestamptz not null,
    finished_at timestamptz,
    steps jsonb not null,
    primary key (tenant_ref, deleted_at)
  )`,
]);
