/** How long a card may show an answer that is read anew. The previous release writes none, and keeps what is there. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const staleAnswers = statementsOf(['alter table guestlist.datamarts add column cache_stale_seconds integer']);
