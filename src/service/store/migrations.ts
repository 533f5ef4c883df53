/**
 * The service's migrations. The list is append-only: a database records which migrations it has run, so a released one
 * must not be changed, renamed or removed. To change a table, add a file with the next number to migrations/ and an
 * entry to the end of the list.
 */
import type { Kysely } from 'kysely';
import { assertWritable, type Migrations, migrateSchema } from '../../platform/databases/migrate.js';
import { firstRelease } from './migrations/0001-first-release.js';
import { sharedViews } from './migrations/0002-shared-views.js';
import { studioSessions } from './migrations/0003-studio-sessions.js';
import { schedules } from './migrations/0004-schedules.js';
import { alerts } from './migrations/0005-alerts.js';
import { channels } from './migrations/0006-channels.js';
import { tiles } from './migrations/0007-tiles.js';
import { reportContent } from './migrations/0008-report-content.js';
import { guestBoards } from './migrations/0009-guest-boards.js';
import { recipients } from './migrations/0010-recipients.js';
import { alertStates } from './migrations/0012-alert-states.js';
import { hostSchedules } from './migrations/0013-host-schedules.js';
import { hostAlerts } from './migrations/0014-host-alerts.js';
import { sealingCanary } from './migrations/0015-sealing-canary.js';
import { tokenGateways } from './migrations/0016-token-gateways.js';
import { sessionChecks } from './migrations/0017-session-checks.js';
import { erasureFences } from './migrations/0018-erasure-fences.js';
import { rollups } from './migrations/0019-rollups.js';
import { usage } from './migrations/0020-usage.js';
import { staleAnswers } from './migrations/0021-stale-answers.js';
import { running } from './migrations/0022-running.js';
import { retention } from './migrations/0023-retention.js';
import { usageSending } from './migrations/0026-usage-sending.js';
import { aside } from './migrations/0027-aside.js';
import { tokensOfEmbeds } from './migrations/0028-tokens-of-embeds.js';
import { schemaName, type Tables } from './tables.js';

/** All migrations, in order. */
export const migrations: Migrations = {
  '0001-first-release': firstRelease,
  '0002-shared-views': sharedViews,
  '0003-studio-sessions': studioSessions,
  '0004-schedules': schedules,
  '0005-alerts': alerts,
  '0006-channels': channels,
  '0007-tiles': tiles,
  '0008-report-content': reportContent,
  '0009-guest-boards': guestBoards,
  '0010-recipients': recipients,
  '0012-alert-states': alertStates,
  '0013-host-schedules': hostSchedules,
  '0014-host-alerts': hostAlerts,
  '0015-sealing-canary': sealingCanary,
  '0016-token-gateways': tokenGateways,
  '0017-session-checks': sessionChecks,
  '0018-erasure-fences': erasureFences,
  '0019-rollups': rollups,
  '0020-usage': usage,
  '0021-stale-answers': staleAnswers,
  '0022-running': running,
  '0023-retention': retention,
  '0026-usage-sending': usageSending,
  '0027-aside': aside,
  '0028-tokens-of-embeds': tokensOfEmbeds,
};

/** Throws if the metadata database does not accept writes. */
export const assertMetadataWritable = (db: Kysely<Tables>): Promise<void> => assertWritable(db, schemaName);

/** Runs the pending migrations of the metadata database, by `migrateSchema`. */
export const migrate = (db: Kysely<Tables>, list: Migrations = migrations): Promise<void> =>
  migrateSchema({ db, schema: schemaName, migrations: list, what: 'metadata' });
