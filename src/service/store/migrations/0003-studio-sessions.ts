/** Logins to Studio. */
import { statementsOf } from '../../../platform/databases/migrate.js';

export const studioSessions = statementsOf([
  `create table guestlist.studio_sessions (
    id text primary key,
    hash text not null unique check (hash ~ '^[0-9a-f]{64}$'),
    issuer text collate "C" not null,
    subject text collate "C" not null,
    person jsonb not null,
    created_at timestamptz not null,
    used_at timestamptz not null,
    expires_at timestamptz not null
  )`,
  'create index studio_sessions_of_person on guestlist.studio_sessions (issuer, subject)',
  'create index studio_sessions_expired on guestlist.studio_sessions (expires_at)',
]);
