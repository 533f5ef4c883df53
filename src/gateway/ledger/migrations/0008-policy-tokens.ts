import { statementsOf } from '../../../platform/migrate.js';

export const policyTokens = statementsOf([
  `create table guestlist_gateway.policy_tokens (
    replica text collate "C" not null,
    meaning text collate "C" not null,
    until timestamptz not null,
    primary key (replica, meaning)
  )`,
]);
