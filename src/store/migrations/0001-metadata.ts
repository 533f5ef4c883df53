import { statementsOf } from '../../platform/migrate.js';

/**
 * Names are collated "C" (by code point), so that they are compared and ordered alike on every server. Owned rows carry data app
 * and client, the organization's carry neither.
 */
const statements = [
  `create table guestlist.data_apps (
    id text primary key,
    name text collate "C" not null unique,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  `create table guestlist.api_keys (
    id text primary key,
    data_app_id text not null references guestlist.data_apps on delete cascade,
    name text not null,
    hash text not null unique check (hash ~ '^[0-9a-f]{64}$'),
    created_at timestamptz not null,
    expires_at timestamptz
  )`,
  'create index api_keys_of_data_app on guestlist.api_keys (data_app_id)',
  `create table guestlist.service_tokens (
    id text primary key,
    name text not null,
    hash text not null unique check (hash ~ '^[0-9a-f]{64}$'),
    created_at timestamptz not null,
    expires_at timestamptz
  )`,
  `create table guestlist.datasources (
    id text primary key,
    name text collate "C" not null unique,
    datasource_type text not null,
    path text not null
  )`,
  `create table guestlist.datamarts (
    id text primary key,
    name text collate "C" not null unique,
    datasource_id text not null references guestlist.datasources,
    tenancy jsonb,
    tables jsonb not null,
    relationships jsonb not null,
    shared_tables jsonb not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  'create index datamarts_of_datasource on guestlist.datamarts (datasource_id)',
  `create table guestlist.workspaces (
    id text primary key,
    name text collate "C" not null unique,
    connection_type text not null,
    datasource_id text references guestlist.datasources,
    datamart_id text references guestlist.datamarts
  )`,
  'create index workspaces_of_datasource on guestlist.workspaces (datasource_id)',
  'create index workspaces_of_datamart on guestlist.workspaces (datamart_id)',
  `create table guestlist.dashboards (
    id text primary key,
    external_dashboard_id text collate "C" not null,
    workspace_id text not null references guestlist.workspaces,
    name text collate "C" not null,
    data_app_id text references guestlist.data_apps on delete cascade,
    client_id text collate "C",
    template_id text references guestlist.dashboards on delete set null,
    layout jsonb not null,
    grid_margin jsonb not null,
    filters jsonb not null,
    metadata jsonb,
    is_allow_private_metrics_by_default boolean not null,
    constraint dashboards_owner_is_whole check ((data_app_id is null) = (client_id is null))
  )`,
  `create unique index dashboards_of_data_app on guestlist.dashboards (data_app_id, external_dashboard_id)
    where data_app_id is not null`,
  `create unique index dashboards_of_organization on guestlist.dashboards (external_dashboard_id)
    where data_app_id is null`,
  `create index dashboards_of_workspace on guestlist.dashboards (workspace_id, name, external_dashboard_id)`,
  'create index dashboards_of_template on guestlist.dashboards (template_id)',
  `create table guestlist.metrics (
    metric_id text collate "C" primary key,
    workspace_id text not null references guestlist.workspaces,
    name text collate "C" not null,
    definition jsonb not null,
    lineage jsonb not null,
    data_app_id text references guestlist.data_apps on delete cascade,
    client_id text collate "C",
    constraint metrics_owner_is_whole check ((data_app_id is null) = (client_id is null))
  )`,
  'create index metrics_of_workspace on guestlist.metrics (workspace_id, name, metric_id)',
  'create index metrics_of_data_app on guestlist.metrics (data_app_id)',
  `create table guestlist.dashboard_metrics (
    dashboard_id text not null references guestlist.dashboards on delete cascade,
    metric_id text collate "C" not null references guestlist.metrics on delete cascade,
    placement text not null,
    position integer not null,
    primary key (dashboard_id, metric_id)
  )`,
  'create index dashboards_of_metric on guestlist.dashboard_metrics (metric_id)',
  `create table guestlist.data_app_names (
    data_app_id text not null references guestlist.data_apps on delete cascade,
    name text collate "C" not null,
    dashboard_id text not null references guestlist.dashboards on delete cascade,
    primary key (data_app_id, name)
  )`,
  'create index data_app_names_of_dashboard on guestlist.data_app_names (dashboard_id)',
  `create table guestlist.embeds (
    data_app_id text not null references guestlist.data_apps on delete cascade,
    embed_id text collate "C" not null,
    embed_type text not null,
    dashboard_id text not null references guestlist.dashboards on delete cascade,
    metric_id text collate "C" references guestlist.metrics on delete cascade,
    name text not null,
    description text,
    access_settings jsonb,
    created_at timestamptz not null,
    primary key (data_app_id, embed_id),
    constraint embeds_metric_fits_type check ((embed_type = 'metric') = (metric_id is not null))
  )`,
  'create index embeds_of_dashboard on guestlist.embeds (dashboard_id, data_app_id, created_at)',
  'create index embeds_of_metric on guestlist.embeds (metric_id)',
  `create table guestlist.guest_tokens (
    id text primary key,
    hash text not null unique check (hash ~ '^[0-9a-f]{64}$'),
    data_app_id text not null references guestlist.data_apps on delete cascade,
    client_id text collate "C" not null,
    user_identifier text collate "C",
    datamart_id text references guestlist.datamarts on delete cascade,
    grants jsonb not null,
    created_at timestamptz not null,
    expires_at timestamptz
  )`,
  'create index guest_tokens_of_user on guestlist.guest_tokens (data_app_id, client_id, user_identifier)',
  'create index guest_tokens_of_datamart on guestlist.guest_tokens (datamart_id)',
];

export const metadata = statementsOf(statements);
