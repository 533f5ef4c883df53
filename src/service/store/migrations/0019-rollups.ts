/** The rollups of a datamart. The previous release writes none, and keeps those that are there. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const rollups = statementsOf(['alter table guestlist.datamarts add column rollups jsonb']);
