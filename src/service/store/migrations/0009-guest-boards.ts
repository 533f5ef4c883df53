/** Own dashboards of guests, made of the cards of a dashboard. The previous release does not know them. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const guestBoards = statementsOf([
  `create table guestlist.guest_boards (
    id text primary key,
    dashboard_id text not null references guestlist.dashboards on delete cascade,
    data_app_id text not null references guestlist.data_apps on delete cascade,
    client_id text collate "C" not null,
    user_identifier text collate "C" not null,
    name text collate "C" not null,
    content jsonb not null,
    is_shared boolean not null,
    version integer not null,
    created_at timestamptz not null,
    unique (dashboard_id, data_app_id, client_id, user_identifier, name)
  )`,
  'create index guest_boards_of_data_app on guestlist.guest_boards (data_app_id)',
]);
