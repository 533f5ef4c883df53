import { statementsOf } from '../../platform/migrate.js';

/** The order in which a data app's embeds are listed: a page, and each slice of a long list, begins where the index says. */
export const lists = statementsOf([
  'create index embeds_in_order on guestlist.embeds (data_app_id, created_at, embed_id)',
]);
