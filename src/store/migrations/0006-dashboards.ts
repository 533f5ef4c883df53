import { statementsOf } from '../../platform/migrate.js';

/**
 * Whatever deletes an embed (its own operation, or its dashboard, metric or data app going), the trigger takes its id out of guest
 * tokens: a later embed of the same id must not open for an old token. What was placed before there was a time counts as always there.
 */
export const dashboards = statementsOf([
  "alter table guestlist.dashboard_metrics add column placed_at timestamptz not null default '1970-01-01T00:00:00Z'",
  'alter table guestlist.dashboard_metrics alter column placed_at drop default',
  'create index dashboards_of_external_id on guestlist.dashboards (external_dashboard_id)',
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
]);
