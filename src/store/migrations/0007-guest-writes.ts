import { statementsOf } from '../../platform/migrate.js';

/**
 * What guests make is in tables of its own: no statement about metrics, dashboards or clones can come upon it. `user_identifier` is ''
 * in layouts and views of tokens that name no user, so that it can be a part of the key.
 */
export const guestWrites = statementsOf([
  `alter table guestlist.metrics
    add column is_archived boolean not null default false,
    add column is_changed_by_guest boolean not null default false`,
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
]);
