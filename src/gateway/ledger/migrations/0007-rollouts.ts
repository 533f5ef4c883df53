import { statementsOf } from '../../../platform/migrate.js';

/** What is read back to the byte is text: a database may spell JSON anew. */
export const rollouts = statementsOf([
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
    runner text,
    lease_until timestamptz,
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
]);
