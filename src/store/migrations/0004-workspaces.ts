import { statementsOf } from '../../platform/migrate.js';

export const workspaces = statementsOf([
  `alter table guestlist.workspaces add column settings jsonb not null default '{}'`,
]);
