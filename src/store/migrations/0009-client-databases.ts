import { statementsOf } from '../../platform/migrate.js';

/** The databases that a datasource's latest sync found and that may be a client's. None of a datasource that was not synced since. */
export const clientDatabases = statementsOf([
  `create table guestlist.client_databases (
    datasource_id text not null references guestlist.datasources on delete cascade,
    level text not null check (level in ('DATABASE', 'MULTI_DATABASE')),
    name text collate "C" not null,
    primary key (datasource_id, level, name)
  )`,
]);
