/**
 * When the last sweep ended, and which clients are held, for whom no sweep deletes. An empty `client_id` holds the whole
 * data app, an empty `gateway` is one that gave no name.
 */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const retention = statementsOf([
  `create table guestlist.retention (
    is_only boolean primary key default true check (is_only),
    swept_at timestamptz not null default now()
  )`,
  'insert into guestlist.retention default values',
  `create table guestlist.client_holds (
    data_app_id text not null,
    client_id text not null,
    gateway text not null,
    primary key (data_app_id, client_id, gateway)
  )`,
  `create table guestlist.hold_versions (
    data_app_id text not null,
    gateway text not null,
    version bigint not null,
    primary key (data_app_id, gateway)
  )`,
]);
