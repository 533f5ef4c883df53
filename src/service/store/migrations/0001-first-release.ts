import { statementsOf } from '../../../platform/databases/migrate.js';

/**
 * The schema of the first release. Never change a released migration: to change a table, add a new one.
 *
 * Names have collation "C" (by code point), so that all servers compare and sort them in the same way. Rows of a client
 * have a data app and a client id; rows of the organization have neither.
 */
const tables = [
  `create table guestlist.data_apps (
    id text primary key,
    name text collate "C" not null unique,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    erasures bigint not null default 0
  )`,
  // Revoked and replaced credentials keep their rows, so that a restart with the same configured key does not make it
  // valid again.
  `create table guestlist.api_keys (
    id text primary key,
    data_app_id text not null references guestlist.data_apps on delete cascade,
    name text collate "C" not null,
    hash text not null unique check (hash ~ '^[0-9a-f]{64}$'),
    created_at timestamptz not null,
    expires_at timestamptz,
    key_hint text,
    last_used_at timestamptz,
    revoked_at timestamptz,
    replaced_at timestamptz,
    description text
  )`,
  'create index api_keys_of_data_app on guestlist.api_keys (data_app_id)',
  `create unique index api_keys_current on guestlist.api_keys (data_app_id, name)
    where revoked_at is null and replaced_at is null`,
  `create table guestlist.service_tokens (
    id text primary key,
    name text collate "C" not null,
    hash text not null unique check (hash ~ '^[0-9a-f]{64}$'),
    created_at timestamptz not null,
    expires_at timestamptz,
    key_hint text,
    last_used_at timestamptz,
    revoked_at timestamptz,
    replaced_at timestamptz
  )`,
  `create unique index service_tokens_current on guestlist.service_tokens (name)
    where revoked_at is null and replaced_at is null`,
  `create table guestlist.datasources (
    id text primary key,
    name text collate "C" not null unique,
    datasource_type text not null,
    path text,
    sealed text,
    synced_at timestamptz,
    source_tables jsonb,
    constraint datasources_have_one_connection check ((path is null) <> (sealed is null))
  )`,
  // Databases of clients, as the latest sync found them.
  `create table guestlist.client_databases (
    datasource_id text not null references guestlist.datasources on delete cascade,
    level text not null check (level in ('DATABASE', 'MULTI_DATABASE')),
    name text collate "C" not null,
    primary key (datasource_id, level, name)
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
    updated_at timestamptz not null,
    cache_ttl_seconds integer
  )`,
  'create index datamarts_of_datasource on guestlist.datamarts (datasource_id)',
  `create table guestlist.semantic_layers (
    datamart_id text primary key references guestlist.datamarts on delete cascade,
    tables jsonb not null,
    feedback text,
    updated_at timestamptz not null
  )`,
  // A workspace stays when its datamart is deleted, since its dashboards belong to the organization.
  `create table guestlist.workspaces (
    id text primary key,
    name text collate "C" not null unique,
    connection_type text not null,
    datasource_id text references guestlist.datasources,
    datamart_id text references guestlist.datamarts on delete set null,
    settings jsonb not null default '{}'
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
  'create index dashboards_of_external_id on guestlist.dashboards (external_dashboard_id)',
  'create index dashboards_of_client on guestlist.dashboards (data_app_id, client_id) where client_id is not null',
  `create table guestlist.metrics (
    metric_id text collate "C" primary key,
    workspace_id text not null references guestlist.workspaces,
    name text collate "C" not null,
    definition jsonb not null,
    lineage jsonb not null,
    data_app_id text references guestlist.data_apps on delete cascade,
    client_id text collate "C",
    is_archived boolean not null default false,
    is_changed_by_guest boolean not null default false,
    constraint metrics_owner_is_whole check ((data_app_id is null) = (client_id is null))
  )`,
  'create index metrics_of_workspace on guestlist.metrics (workspace_id, name, metric_id)',
  'create index metrics_of_data_app on guestlist.metrics (data_app_id)',
  'create index metrics_of_client on guestlist.metrics (data_app_id, client_id) where client_id is not null',
  `create table guestlist.dashboard_metrics (
    dashboard_id text not null references guestlist.dashboards on delete cascade,
    metric_id text collate "C" not null references guestlist.metrics on delete cascade,
    placement text not null,
    position integer not null,
    placed_at timestamptz not null,
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
  'create index embeds_in_order on guestlist.embeds (data_app_id, created_at, embed_id)',
  `create table guestlist.guest_tokens (
    id text primary key,
    hash text not null unique check (hash ~ '^[0-9a-f]{64}$'),
    data_app_id text not null references guestlist.data_apps on delete cascade,
    client_id text collate "C" not null,
    user_identifier text collate "C",
    datamart_id text references guestlist.datamarts on delete cascade,
    grants jsonb not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    epoch bigint not null default 0,
    last_used_at timestamptz
  )`,
  'create index guest_tokens_of_user on guestlist.guest_tokens (data_app_id, client_id, user_identifier)',
  'create index guest_tokens_of_datamart on guestlist.guest_tokens (datamart_id)',
  'create index guest_tokens_expired on guestlist.guest_tokens (expires_at) where expires_at is not null',
  'create index guest_tokens_in_order on guestlist.guest_tokens (data_app_id, created_at, id)',
  `create table guestlist.revocation_epochs (
    data_app_id text not null references guestlist.data_apps on delete cascade,
    client_id text collate "C" not null,
    user_identifier text collate "C" not null,
    epoch bigint not null,
    primary key (data_app_id, client_id, user_identifier)
  )`,
];

/**
 * Content that guests create has its own tables, so that no statement on the host's metrics, dashboards or copies can
 * change it. In layouts and views, `user_identifier` is '' for tokens without a user, because a column of the primary
 * key cannot be null.
 */
const guestWrites = [
  `create table guestlist.guest_metrics (
    metric_id text collate "C" primary key,
    dashboard_id text not null references guestlist.dashboards on delete cascade,
    data_app_id text not null references guestlist.data_apps on delete cascade,
    client_id text collate "C" not null,
    user_identifier text collate "C",
    name text collate "C" not null,
    definition jsonb not null,
    card jsonb,
    is_published boolean not null,
    is_archived boolean not null,
    created_at timestamptz not null
  )`,
  'create index guest_metrics_of_client on guestlist.guest_metrics (dashboard_id, data_app_id, client_id, created_at)',
  'create index guest_metrics_of_data_app on guestlist.guest_metrics (data_app_id)',
  `create table guestlist.guest_layouts (
    dashboard_id text not null references guestlist.dashboards on delete cascade,
    data_app_id text not null references guestlist.data_apps on delete cascade,
    client_id text collate "C" not null,
    user_identifier text collate "C" not null,
    layout jsonb not null,
    primary key (dashboard_id, data_app_id, client_id, user_identifier)
  )`,
  'create index guest_layouts_of_data_app on guestlist.guest_layouts (data_app_id)',
  `create table guestlist.guest_views (
    id text primary key,
    dashboard_id text not null references guestlist.dashboards on delete cascade,
    data_app_id text not null references guestlist.data_apps on delete cascade,
    client_id text collate "C" not null,
    user_identifier text collate "C" not null,
    name text collate "C" not null,
    choices jsonb not null,
    created_at timestamptz not null,
    unique (dashboard_id, data_app_id, client_id, user_identifier, name)
  )`,
  'create index guest_views_of_data_app on guestlist.guest_views (data_app_id)',
];

/**
 * Recently erased clients of a data app, as salted digests. An erasure also deletes the client's revocation epochs, so
 * these rows are how a mint notices an erasure that happened after the mint began. `data_apps.erasures` counts the
 * erasures; a mint reads these rows only if the count has changed.
 */
const clientErasures = [
  `create table guestlist.client_erasures (
    data_app_id text not null references guestlist.data_apps on delete cascade,
    number bigint not null,
    salt text not null,
    digest text not null,
    erased_at timestamptz not null,
    primary key (data_app_id, number)
  )`,
];

/**
 * This trigger removes the id of a deleted embed from guest tokens, whether the embed was deleted alone or with its
 * dashboard, metric or data app. Otherwise an old token would open a later embed of the same id.
 */
const embedDeletion = [
  `create function guestlist.forget_embed() returns trigger language plpgsql as $$
  begin
    delete from guestlist.guest_tokens
      where data_app_id = old.data_app_id
        and grants->'allowedEmbeds' = jsonb_build_array(old.embed_id);
    update guestlist.guest_tokens
      set grants = jsonb_set(grants, '{allowedEmbeds}', (grants->'allowedEmbeds') - old.embed_id)
      where data_app_id = old.data_app_id
        and jsonb_typeof(grants->'allowedEmbeds') = 'array'
        and grants->'allowedEmbeds' ? old.embed_id;
    delete from guestlist.data_app_names as names
      where names.data_app_id = old.data_app_id and names.name = old.embed_id
        and not exists (
          select from guestlist.dashboards
          where data_app_id = old.data_app_id and external_dashboard_id = old.embed_id
        );
    return null;
  end $$`,
  `create trigger embed_is_forgotten after delete on guestlist.embeds
    for each row execute function guestlist.forget_embed()`,
];

/** Tables that guests' requests read and whose rows are cached. */
const contentTables = [
  'datasources',
  'client_databases',
  'datamarts',
  'workspaces',
  'dashboards',
  'metrics',
  'dashboard_metrics',
  'guest_metrics',
  'embeds',
];

/**
 * Counts the transactions that changed content. A process compares this number to know whether its cached content is
 * current. The count is raised last, just before the commit: the row is then locked only briefly, and a reader of the
 * new number sees every change that it counts.
 */
const contentRevision = [
  `create table guestlist.content_revision (
    is_only boolean primary key default true check (is_only),
    revision bigint not null
  )`,
  'insert into guestlist.content_revision (revision) values (0)',
  `create function guestlist.note_content() returns trigger language plpgsql as $$
  begin
    if coalesce(current_setting('guestlist.noted', true), '') <> txid_current()::text then
      perform set_config('guestlist.noted', txid_current()::text, true);
      update guestlist.content_revision set revision = revision + 1;
    end if;
    return null;
  end $$`,
  ...contentTables.map(
    (table) => `create constraint trigger content_is_noted after insert or update or delete on guestlist.${table}
      deferrable initially deferred for each row execute function guestlist.note_content()`,
  ),
];

export const firstRelease = statementsOf([
  ...tables,
  ...guestWrites,
  ...clientErasures,
  ...embedDeletion,
  ...contentRevision,
]);
