/** Which gateway minted a guest token. The previous release writes none, and revokes without looking at it. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const tokenGateways = statementsOf(['alter table guestlist.guest_tokens add column gateway text']);
