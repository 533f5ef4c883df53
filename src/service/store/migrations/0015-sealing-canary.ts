/** What tells a wrong encryption key at start (key-canary.ts). The previous release does not read it. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const sealingCanary = statementsOf([
  `create table guestlist.sealing_canary (
    is_only boolean primary key default true check (is_only),
    sealed text not null
  )`,
]);
