/**
 * What runs now, by process, and what operators want ended. Nothing here outlives its process, so the tables are unlogged:
 * a write costs no flush, and neither a crash nor a move keeps them.
 */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const running = statementsOf([
  `create unlogged table guestlist.running_processes (
    instance uuid primary key,
    silent_at timestamptz not null,
    state jsonb not null
  ) with (fillfactor = 50)`,
  `create unlogged table guestlist.running_ends (
    id uuid primary key,
    instance uuid not null,
    kind text not null,
    number integer not null,
    at timestamptz not null,
    outcome text
  )`,
]);
