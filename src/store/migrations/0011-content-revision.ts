import { statementsOf } from '../../platform/migrate.js';

const content = [
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
 * Counts the transactions that changed what guests' requests read, so that a process knows by one number whether what it keeps of it is
 * still so. It is counted as the last thing before the commit: the row is locked for no longer, nothing is waited for while it is, and
 * who reads the number sees all that it stands for.
 */
export const contentRevision = statementsOf([
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
  ...content.map(
    (table) => `create constraint trigger content_is_noted after insert or update or delete on guestlist.${table}
      deferrable initially deferred for each row execute function guestlist.note_content()`,
  ),
]);
