import { statementsOf } from '../../../platform/migrate.js';

const appendOnly = (table: string): readonly string[] => [
  `create trigger ${table}_append_only before update or delete on guestlist_gateway.${table}
    for each row execute function guestlist_gateway.refuse_change()`,
  `create trigger ${table}_no_truncate before truncate on guestlist_gateway.${table}
    for each statement execute function guestlist_gateway.refuse_change()`,
];

/**
 * The chain: each content holds the hash before it, and `hash` is the SHA-256 of the content's text. `audit_head` has one row, which
 * whoever appends locks: so there is one order over all replicas.
 */
export const audit = statementsOf([
  `create table guestlist_gateway.audit_events (
    seq bigint primary key,
    at timestamptz not null,
    kind text not null,
    request_id text,
    tenant text,
    content text not null,
    hash text not null
  )`,
  'create index audit_events_by_request on guestlist_gateway.audit_events (request_id) where request_id is not null',
  'create index audit_events_by_tenant on guestlist_gateway.audit_events (tenant, seq) where tenant is not null',
  `create table guestlist_gateway.audit_head (
    id integer primary key default 1 check (id = 1),
    seq bigint not null,
    hash text not null
  )`,
  `insert into guestlist_gateway.audit_head (seq, hash) values (0, repeat('0', 64))`,
  `create table guestlist_gateway.tenant_keys (
    tenant_ref text collate "C" primary key,
    pseudonym text collate "C" not null unique,
    key text not null
  )`,
  `create table guestlist_gateway.audit_explanations (
    request_id text primary key,
    tenant_ref text collate "C" not null,
    at timestamptz not null,
    sealed text not null
  )`,
  'create index audit_explanations_by_tenant on guestlist_gateway.audit_explanations (tenant_ref)',
  'create index audit_explanations_by_age on guestlist_gateway.audit_explanations (at)',
  `create table guestlist_gateway.policy_texts (
    digest text primary key,
    at timestamptz not null,
    files text not null
  )`,
  `create function guestlist_gateway.refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception 'the audit is append-only';
    end
  $$`,
  ...appendOnly('audit_events'),
]);
