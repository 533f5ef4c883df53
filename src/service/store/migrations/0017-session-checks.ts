/** What asks the issuer of a login to Studio again. Sessions of the previous release have none, and end by their time. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const sessionChecks = statementsOf([
  `alter table guestlist.studio_sessions
    add column issuer_token text, add column vouched_at timestamptz, add column asked_at timestamptz`,
]);
