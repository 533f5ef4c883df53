/** The migrations that `guestlist step-down` keeps aside, so that the previous release starts. It does not read them. */
import { asideTable, statementsOf } from '../../../platform/databases/migrate.js';

export const aside = statementsOf([asideTable('guestlist')]);
