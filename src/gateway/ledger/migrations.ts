/**
 * The schema of the gateway's ledger. Migrations are append-only: a released one is never edited, renamed or removed. To
 * change the schema, add `'0009-<what it changes>'` to `ledgerMigrations`, and change `LedgerTables` in tables.ts with it.
 * The statements name the schema, since the connection has no search path of its own.
 */
import { asideTable, type Migrations, statementsOf } from '../../platform/databases/migrate.js';

/**
 * `tenant_ref` is a keyed digest of the clientId (ledger.ts). A tenant's row has the newest time of each kind of event.
 * The state follows from these times, so the order in which events arrive does not matter. `client_id` is not unique:
 * two concurrent first logins would conflict on it before they conflict on `tenant_ref`, which `on conflict` names.
 */
const tenants = [
  `create table guestlist_gateway.installation (
    id integer primary key default 1 check (id = 1),
    tenant_key text not null
  )`,
  `create table guestlist_gateway.tenants (
    tenant_ref text collate "C" primary key,
    client_id text collate "C",
    state text not null check (state in ('active', 'suspended', 'deleted')),
    occurred_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    signed_up_at timestamptz,
    resumed_at timestamptz,
    suspended_at timestamptz,
    deleted_at timestamptz,
    is_erasure_owed boolean not null default false,
    changes bigint not null default 0,
    check ((state = 'deleted') or client_id is not null)
  )`,
  'create index tenants_of_client on guestlist_gateway.tenants (client_id)',
  'create index tenants_owed on guestlist_gateway.tenants (tenant_ref) where is_erasure_owed',
  // The order of `tenants-list`: erased tenants first, then by clientId.
  `create index tenants_listed on guestlist_gateway.tenants ((coalesce(client_id, '')), tenant_ref)`,
];

const revocation = [
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
    created_at timestamptz not null,
    claimed_by text collate "C"
  )`,
  'create index pending_revocations_attempt_at on guestlist_gateway.pending_revocations (attempt_at)',
  `create table guestlist_gateway.policy_tokens (
    replica text collate "C" not null,
    meaning text collate "C" not null,
    until timestamptz not null,
    primary key (replica, meaning)
  )`,
];

const dashboards = [
  `create table guestlist_gateway.dashboards (
    tenant_ref text collate "C" not null references guestlist_gateway.tenants,
    template text collate "C" not null,
    dashboard_id text collate "C" not null,
    upstream text collate "C" not null,
    key_ref text collate "C" not null,
    template_version text collate "C",
    attempt text collate "C" not null,
    started_at timestamptz not null,
    created_at timestamptz,
    verified_at timestamptz,
    doubted_at timestamptz,
    failed_at timestamptz,
    failed_step text,
    failure text,
    failures integer not null default 0,
    primary key (tenant_ref, template)
  )`,
  'create index dashboards_by_version on guestlist_gateway.dashboards (template, template_version)',
];

/** Contents are text, not JSON, since digests are computed from the exact bytes, and a database may rewrite JSON. */
const rollouts = [
  `create table guestlist_gateway.template_versions (
    template text collate "C" not null,
    version text collate "C" not null,
    content text not null,
    label text,
    recorded_at timestamptz not null,
    primary key (template, version)
  )`,
  `create table guestlist_gateway.rollouts (
    id text primary key,
    template text collate "C" not null,
    version text collate "C" not null,
    workspace text not null,
    options text not null,
    state text not null check (state in ('running', 'stopped', 'finished', 'rolling-back', 'rollback-stopped', 'rolled-back')),
    created_at timestamptz not null,
    updated_at timestamptz not null,
    foreign key (template, version) references guestlist_gateway.template_versions
  )`,
  `create table guestlist_gateway.rollout_items (
    rollout_id text not null references guestlist_gateway.rollouts on delete cascade,
    dashboard_id text collate "C" not null,
    tenant_ref text collate "C" not null,
    cohort integer not null,
    state text not null,
    from_version text collate "C",
    before_content text,
    before_digest text,
    after_content text,
    after_digest text,
    conflicts text,
    fault text,
    updated_at timestamptz not null,
    primary key (rollout_id, dashboard_id)
  )`,
  'create index rollout_items_of_tenant on guestlist_gateway.rollout_items (tenant_ref)',
];

/** References are keyed digests. No clientId, webhook-id or body is stored. */
const hooks = [
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
];

const appendOnly = (table: string): readonly string[] => [
  `create trigger ${table}_append_only before update or delete on guestlist_gateway.${table}
    for each row execute function guestlist_gateway.refuse_change()`,
  `create trigger ${table}_no_truncate before truncate on guestlist_gateway.${table}
    for each statement execute function guestlist_gateway.refuse_change()`,
];

/**
 * The audit's hash chain. `content` contains the hash of the previous entry, and `hash` is the SHA-256 of `content`.
 * Appending locks the only row of `audit_head`, so the entries of all replicas have one order.
 */
const audit = [
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
];

/** A lease belongs to a process, and ends with it (processes.ts, leases.ts). */
const leases = [
  `create table guestlist_gateway.processes (
    process_id text collate "C" primary key,
    beat_at timestamptz not null
  )`,
  `create table guestlist_gateway.leases (
    holder text collate "C" primary key,
    name text collate "C" not null unique,
    process_id text collate "C" not null
  )`,
];

/** A roll-out can wait for an operator between two cohorts. */
const pausedRollouts = [
  'alter table guestlist_gateway.rollouts drop constraint rollouts_state_check',
  `alter table guestlist_gateway.rollouts add constraint rollouts_state_check check (state in
    ('running', 'paused', 'stopped', 'finished', 'rolling-back', 'rollback-stopped', 'rolled-back'))`,
];

/** Who changed a template when, and who began a roll-out. */
const editions = [
  `create table guestlist_gateway.template_editions (
    template text collate "C" not null,
    number integer not null,
    version text collate "C" not null,
    at timestamptz not null,
    made_by text,
    primary key (template, number),
    foreign key (template, version) references guestlist_gateway.template_versions
  )`,
  'alter table guestlist_gateway.rollouts add column started_by text',
];

/** The last session of each user, for reports. `user_ref` is a keyed digest of the client and the user. */
const recipients = [
  `create table guestlist_gateway.recipients (
    tenant_ref text collate "C" not null,
    user_ref text collate "C" not null,
    sealed text not null,
    issued_at timestamptz not null,
    seen_at timestamptz not null,
    primary key (tenant_ref, user_ref)
  )`,
  'create index recipients_seen on guestlist_gateway.recipients (seen_at)',
];

/** A slow process says how long it may be silent. The default is for processes of an earlier version. */
const silence = ['alter table guestlist_gateway.processes add column silence_ms integer not null default 5000'];

/** A number for each taking of a lease, which rises: for writes outside the ledger. */
const fences = ['create sequence guestlist_gateway.fences'];

/** The version of the content alone, without the settings of the policy. Null: the version is that of the content. */
const settings = ['alter table guestlist_gateway.template_versions add column content_version text collate "C"'];

/**
 * Holds, and what is deleted once it is old enough. A segment of the audit is first planned, then written to a file, and
 * then signed here and deleted: `anchor` is null until then. The trigger lets nothing else be deleted.
 */
const retention = [
  `create table guestlist_gateway.retention (
    is_only boolean primary key default true check (is_only),
    swept_at timestamptz not null default now(),
    holds_version bigint not null default 0,
    told_version bigint not null default 0
  )`,
  'insert into guestlist_gateway.retention default values',
  `create table guestlist_gateway.holds (
    id text primary key,
    tenant_ref text collate "C",
    client_id text collate "C",
    reason text not null,
    placed_by text,
    placed_at timestamptz not null
  )`,
  'create index holds_of_tenant on guestlist_gateway.holds (tenant_ref)',
  `create table guestlist_gateway.audit_segments (
    first_seq bigint primary key,
    last_seq bigint not null unique,
    began_at timestamptz not null,
    prev text not null,
    hash text,
    anchor text
  )`,
  `create function guestlist_gateway.refuse_unarchived() returns trigger language plpgsql as $$
    begin
      if exists (
        select from guestlist_gateway.audit_segments
        where old.seq between first_seq and last_seq and anchor is not null
      ) then return old; end if;
      raise exception 'the audit is append-only';
    end
  $$`,
  'drop trigger audit_events_append_only on guestlist_gateway.audit_events',
  `create trigger audit_events_append_only before update on guestlist_gateway.audit_events
    for each row execute function guestlist_gateway.refuse_change()`,
  `create trigger audit_events_archived_first before delete on guestlist_gateway.audit_events
    for each row execute function guestlist_gateway.refuse_unarchived()`,
];

/** The migrations, in order of their names. */
export const ledgerMigrations: Migrations = {
  '0001-ledger': statementsOf([...tenants, ...revocation, ...dashboards, ...rollouts, ...hooks, ...audit, ...leases]),
  '0002-paused-rollouts': statementsOf(pausedRollouts),
  '0003-editions': statementsOf(editions),
  '0004-recipients': statementsOf(recipients),
  '0005-silence': statementsOf(silence),
  '0006-fences': statementsOf(fences),
  '0007-settings': statementsOf(settings),
  '0008-retention': statementsOf(retention),
  '0009-aside': statementsOf([asideTable('guestlist_gateway')]),
};
