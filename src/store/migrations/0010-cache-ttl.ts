import { statementsOf } from '../../platform/migrate.js';

/** For how long answers over the datamart are kept. Null: as the configuration says. */
export const cacheTtl = statementsOf(['alter table guestlist.datamarts add column cache_ttl_seconds integer']);
