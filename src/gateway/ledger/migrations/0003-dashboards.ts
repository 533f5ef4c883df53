import { statementsOf } from '../../../platform/migrate.js';

export const dashboards = statementsOf([
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
  // Tenants as operators list them: those that were erased first, then by name.
  `create index tenants_listed on guestlist_gateway.tenants ((coalesce(client_id, '')), tenant_ref)`,
]);
