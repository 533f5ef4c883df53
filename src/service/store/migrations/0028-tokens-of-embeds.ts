/** Tokens are found by the embeds that they open: the deletion of an embed read all tokens, twice. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const tokensOfEmbeds = statementsOf([
  // Without a list of pending entries, which now and then a single mint would have to empty.
  `create index guest_tokens_of_embeds on guestlist.guest_tokens using gin ((grants->'allowedEmbeds'))
    with (fastupdate = off)`,
  // As before, but for the second condition of the deletion, which the index answers.
  `create or replace function guestlist.forget_embed() returns trigger language plpgsql as $$
  begin
    delete from guestlist.guest_tokens
      where data_app_id = old.data_app_id
        and grants->'allowedEmbeds' ? old.embed_id
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
]);
