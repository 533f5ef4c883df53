import { statementsOf } from '../../platform/migrate.js';

/** A workspace outlives its datamart: its dashboards are the organization's work. */
export const datamarts = statementsOf([
  `create table guestlist.semantic_layers (
    datamart_id text primary key references guestlist.datamarts on delete cascade,
    tables jsonb not null,
    feedback text,
    updated_at timestamptz not null
  )`,
  `alter table guestlist.workspaces
    drop constraint workspaces_datamart_id_fkey,
    add constraint workspaces_datamart_id_fkey foreign key (datamart_id) references guestlist.datamarts on delete set null`,
]);
