/** Which process of which gateway erased a client. The previous release writes none, and erases without looking at it. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const erasureFences = statementsOf([
  'alter table guestlist.client_erasures add column gateway text',
  'alter table guestlist.client_erasures add column fence bigint',
]);
