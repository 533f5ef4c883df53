/** Tiles of dashboards. The previous release writes dashboards without them, and leaves those that are there. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const tiles = statementsOf([`alter table guestlist.dashboards add column tiles jsonb not null default '[]'`]);
