import { statementsOf } from '../../platform/migrate.js';

export const datasources = statementsOf([
  'alter table guestlist.datasources alter column path drop not null',
  `alter table guestlist.datasources add column sealed text, add column synced_at timestamptz,
    add column source_tables jsonb`,
  `alter table guestlist.datasources add constraint datasources_have_one_connection
    check ((path is null) <> (sealed is null))`,
]);
