/** Views that a guest shares with the other users of the client, and views that a dashboard opens with. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const sharedViews = statementsOf([
  `alter table guestlist.guest_views
    add column is_shared boolean not null default false,
    add column is_default boolean not null default false`,
  `create unique index guest_views_own_default
    on guestlist.guest_views (dashboard_id, data_app_id, client_id, user_identifier)
    where is_default and not is_shared`,
  `create unique index guest_views_shared_default
    on guestlist.guest_views (dashboard_id, data_app_id, client_id)
    where is_default and is_shared`,
]);
