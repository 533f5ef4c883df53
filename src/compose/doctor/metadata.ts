/** Looks at the metadata database: its user, connection, clock, version, migrations, keys and unfinished work. */

import { type Kysely, sql } from 'kysely';
import { type LedgerTables, schemaName as ledgerSchema } from '../../gateway/ledger/tables.js';
import { listUnfinished } from '../../gateway/unfinished-work.js';
import type { Clock } from '../../model/ports.js';
import { counted } from '../../model/texts/counted.js';
import type { UsageFault } from '../../model/usage.js';
import { findSweptAt } from '../../platform/databases/aged-rows.js';
import { readDatabaseTime, tolerableSkewMs } from '../../platform/databases/database-clock.js';
import { listDone } from '../../platform/databases/migrate.js';
import { assertUsable, findMark } from '../../platform/databases/move/mark.js';
import type { KeyRing } from '../../platform/keys/sealing.js';
import { assertKeyOpens, WrongKey } from '../../service/store/key-canary.js';
import { schemaName as serviceSchema, type Tables } from '../../service/store/tables.js';
import { createUsageSending } from '../../service/store/usage-sending.js';
import { productParts } from '../move/ends.js';
import { sealedColumns } from '../reseal.js';
import { type Finding, finding, good } from './finding.js';

/** The keys that open stored secrets, and where they come from. */
export type Keys = { readonly keyRing: KeyRing; readonly keySource: string };

export type MetadataExam = {
  readonly db: Kysely<unknown>;
  readonly name: string;
  readonly isServer: boolean;
  readonly isLocal: boolean;
  readonly clock: Clock;
  /** Whether what tenants used is sent to a billing system. */
  readonly sendsUsage: boolean;
  /** Null: this machine has no key. */
  readonly keys: Keys | null;
};

const area = 'metadata database';

type User = {
  readonly version: string;
  readonly is_super: boolean;
  readonly bypasses: boolean;
  readonly administers: boolean;
  readonly is_encrypted: boolean | null;
};

const userFindings = async ({ db, isLocal }: MetadataExam): Promise<readonly Finding[]> => {
  const { rows } = await sql<User>`
    select current_setting('server_version') as version, rolsuper as is_super, rolbypassrls as bypasses,
      rolcreaterole or rolcreatedb or rolreplication as administers,
      (select ssl from pg_stat_ssl where pid = pg_backend_pid()) as is_encrypted
    from pg_roles where rolname = current_user`.execute(db);
  const [user] = rows;
  if (user === undefined) return [];
  const own =
    'Give DATABASE_URL a user of its own: CREATE ROLE guestlist LOGIN; and make it the owner of this database alone.';
  return [
    good(area, `PostgreSQL ${user.version.split(' ')[0] ?? ''} answers`),
    ...(user.is_super
      ? [finding('warning', area, 'its user is a superuser, and needs no such right', { mend: own })]
      : []),
    ...(user.bypasses && !user.is_super
      ? [finding('warning', area, 'its user has BYPASSRLS, and needs no such right', { mend: own })]
      : []),
    ...(user.administers && !user.is_super
      ? [
          finding('warning', area, 'its user may make roles, databases or replicas, and needs none of this', {
            mend: own,
          }),
        ]
      : []),
    ...(user.is_encrypted === true || isLocal
      ? []
      : [
          finding('warning', 'TLS', 'the connection to the metadata database is not encrypted', {
            mend: 'Add ?sslmode=verify-full to DATABASE_URL, and let the server require TLS (hostssl in pg_hba.conf).',
          }),
        ]),
  ];
};

const clockFindings = async ({ db, clock }: MetadataExam): Promise<readonly Finding[]> => {
  const skewMs = Math.round(clock.now().getTime() - (await readDatabaseTime(db)).getTime());
  if (Math.abs(skewMs) <= tolerableSkewMs)
    return [good('clocks', 'this machine and the metadata database have the same time')];
  return [
    finding(
      'fault',
      'clocks',
      `this machine is ${Math.abs(skewMs)} ms ${skewMs > 0 ? 'ahead of' : 'behind'} the metadata database`,
      {
        mend: 'Synchronize both clocks (chrony, systemd-timesyncd): sessions and tokens are judged by them.',
      },
    ),
  ];
};

const migrationFindings = async ({ db, name }: MetadataExam): Promise<readonly Finding[]> => {
  try {
    assertUsable(name, await findMark(db));
  } catch (error) {
    return [
      finding('fault', area, 'the metadata was moved elsewhere, or a move or restore into it has not ended', {
        subject: error instanceof Error ? error.message : String(error),
        mend: 'Do what the message says.',
      }),
    ];
  }
  const found: Finding[] = [];
  for (const { schema, migrations, what } of productParts) {
    const done = await listDone(db, schema);
    const pending = Object.keys(migrations).filter((one) => !done.includes(one));
    const unknown = done.filter((one) => !Object.hasOwn(migrations, one));
    if (done.length === 0)
      found.push(finding('note', 'versions', `the ${what} has no tables here yet: the first start makes them`));
    else if (unknown.length > 0)
      found.push(
        finding('fault', 'versions', `a newer version of Guestlist made the ${what}: ${unknown.join(', ')}`, {
          mend: 'Start that version, or restore the backup that was made before it.',
        }),
      );
    else if (pending.length > 0)
      found.push(
        finding('warning', 'versions', `the ${what} has pending migrations: ${pending.join(', ')}`, {
          mend: 'Make a backup (guestlist backup), then start this version: it migrates at the start.',
        }),
      );
    else found.push(good('versions', `the ${what} has all migrations of this version`));
  }
  return found;
};

const staleDays = 365;
const dayMs = 86_400_000;

type KeyRow = { readonly name: string; readonly created_at: Date; readonly expires_at: Date | null };

const ageFindings = (rows: readonly KeyRow[], what: string, mend: string, now: Date): readonly Finding[] => {
  const old = rows.filter(({ created_at: at }) => now.getTime() - at.getTime() > staleDays * dayMs);
  const ending = rows.filter(({ expires_at: at }) => at !== null && at.getTime() - now.getTime() < 14 * dayMs);
  const names = (some: readonly KeyRow[]): string => some.map(({ name }) => name).join(', ');
  return [
    ...(old.length === 0
      ? [good('keys', `no ${what} is older than ${staleDays} days`)]
      : [
          finding('warning', 'keys', `${old.length} ${what}s are older than ${staleDays} days`, {
            subject: names(old),
            mend,
          }),
        ]),
    ...(ending.length === 0
      ? []
      : [
          finding('warning', 'keys', `${ending.length} ${what}s expire within 14 days`, {
            subject: names(ending),
            mend,
          }),
        ]),
  ];
};

const liveKeys = (db: Kysely<Tables>, table: 'api_keys' | 'service_tokens', now: Date): Promise<readonly KeyRow[]> =>
  db
    .withSchema(serviceSchema)
    .selectFrom(table)
    .select(['name', 'created_at', 'expires_at'])
    .where('revoked_at', 'is', null)
    .where('replaced_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .execute();

const sealingFindings = async ({ db, keys }: MetadataExam): Promise<readonly Finding[]> => {
  if (keys === null)
    return [
      finding('note', 'keys', 'this machine has no encryption key, so the stored secrets were not looked at', {
        mend: 'Run this where GUESTLIST_ENCRYPTION_KEY is set, or where the data folder is.',
      }),
    ];
  const { keyRing: ring, keySource } = keys;
  try {
    await assertKeyOpens(db as Kysely<Tables>, { ring, keySource, columns: sealedColumns });
  } catch (error) {
    if (!(error instanceof WrongKey)) throw error;
    return [
      finding('fault', 'keys', 'the encryption key does not open the stored secrets', {
        subject: error.message,
        mend: 'Set GUESTLIST_ENCRYPTION_KEY to the key of the other replicas.',
      }),
    ];
  }
  return ring.length === 1
    ? [good('keys', 'the encryption key opens the stored secrets')]
    : [
        finding('warning', 'keys', `GUESTLIST_ENCRYPTION_KEY has ${ring.length} keys`, {
          mend: 'Run guestlist keys reseal, then keep the first one alone.',
        }),
      ];
};

const keyFindings = async (exam: MetadataExam): Promise<readonly Finding[]> => {
  if ((await listDone(exam.db, serviceSchema)).length === 0) return [];
  const db = exam.db as Kysely<Tables>;
  const now = exam.clock.now();
  const rotate =
    'Create another (guestlist keys create, guestlist service-tokens create), give it to its user, and delete the old one.';
  return [
    ...(await sealingFindings(exam)),
    ...ageFindings(await liveKeys(db, 'api_keys', now), 'API key', rotate, now),
    ...ageFindings(await liveKeys(db, 'service_tokens', now), 'service token', rotate, now),
  ];
};

const stuckSeconds = 600;

const mends = {
  rollout: 'guestlist tenants rollouts lists it, and guestlist tenants apply continues it.',
  provisioning: 'guestlist tenants provision makes what is missing.',
  erasure: 'guestlist tenants erase ID continues it, and says what is left.',
  revocation: 'Look for revocation.* in the log of the gateway: the service must be reachable.',
} as const;

const workFindings = async ({ db }: MetadataExam): Promise<readonly Finding[]> => {
  if ((await listDone(db, ledgerSchema)).length === 0) return [];
  const work = await listUnfinished((db as Kysely<LedgerTables>).withSchema(ledgerSchema));
  const stuck = work.filter(({ count, seconds }) => count > 0 && seconds > stuckSeconds);
  if (stuck.length === 0) return [good('work', 'no work of the gateway is stuck')];
  return stuck.map(({ kind, count, seconds }) =>
    finding('fault', 'work', `${count} of ${kind} wait, the oldest for ${Math.round(seconds / 60)} minutes`, {
      mend: mends[kind],
    }),
  );
};

const deliveryFindings = async ({ db }: MetadataExam): Promise<readonly Finding[]> => {
  if ((await listDone(db, serviceSchema)).length === 0) return [];
  const { rows } = await sql<{ count: string }>`
    select count(*)::text as count from guestlist.deliveries
    where finished_at is null and attempt_at < now() - interval '1 hour' and (leased_until is null or leased_until < now())`.execute(
    db,
  );
  const count = Number(rows[0]?.count ?? 0);
  return count === 0
    ? [good('work', 'no delivery is late')]
    : [
        finding('fault', 'work', `${counted(count, 'delivery is', 'deliveries are')} more than an hour late`, {
          mend: 'A process with mail.from and GUESTLIST_SMTP_URL must run: guestlist mail try ADDRESS tells what it lacks.',
        }),
      ];
};

const sweepDays = 2;

/** A half without its table of this version is named by its pending migrations. */
const sweepFindings = async ({ db, clock }: MetadataExam): Promise<readonly Finding[]> => {
  const late: string[] = [];
  for (const { schema, what } of productParts) {
    const { rows } = await sql<{ is_there: boolean }>`
      select to_regclass(${`${schema}.retention`}) is not null as is_there`.execute(db);
    if (rows[0]?.is_there !== true) continue;
    const sweptAt = await findSweptAt(db, schema);
    if (clock.now().getTime() - sweptAt.getTime() > sweepDays * dayMs) late.push(what);
  }
  return late.length === 0
    ? [good('retention', 'what is old enough is deleted')]
    : late.map((what) =>
        finding('warning', 'retention', `for ${sweepDays} days, no sweep of the ${what} went through everything`, {
          mend: 'Look for retention.failed in the log. A process must run for an hour; guestlist retention --dry-run says what waits.',
        }),
      );
};

/** Hours close five minutes after their end, and are sent within a minute. */
const lateUsageMs = 2 * 3_600_000;

const usageMend: Readonly<Record<UsageFault, string>> = {
  refused: 'Its answer is the status of usage.send_failed in the log: the receiver must answer 2xx.',
  unreachable: 'Nobody listens at the url of the channel, or its certificate is not trusted.',
  unanswered: 'The receiver took the message and did not answer within 20 seconds.',
  barred: 'The url of the channel leads into a private network: allowPrivateAddresses: true permits it.',
};

const usageFindings = async ({ db, clock, sendsUsage }: MetadataExam): Promise<readonly Finding[]> => {
  if (!sendsUsage || !(await listDone(db, serviceSchema)).includes('0026-usage-sending')) return [];
  const sent = await createUsageSending((db as Kysely<Tables>).withSchema(serviceSchema)).sent();
  if (sent === null) return [finding('note', 'work', 'nothing of what was used was sent yet: the next start begins')];
  const { until, waiting, fault } = sent;
  const lateMs = clock.now().getTime() - until.getTime() - 3_600_000;
  if (lateMs < lateUsageMs) return [good('work', 'the billing system has what was used')];
  const hours = Math.round(lateMs / 3_600_000);
  const mend = fault === null ? 'A process with the service and usage.channel must run.' : usageMend[fault];
  return [
    finding(
      'fault',
      'work',
      `the billing system lacks the use of ${counted(hours, 'hour')}; ${counted(waiting, 'message waits', 'messages wait')}`,
      { mend },
    ),
  ];
};

/** Looks at an opened database. */
export const examineMetadata = async (exam: MetadataExam): Promise<readonly Finding[]> => [
  ...(exam.isServer
    ? [...(await userFindings(exam)), ...(await clockFindings(exam))]
    : [good(area, 'the embedded database opens')]),
  ...(await migrationFindings(exam)),
  ...(await keyFindings(exam)),
  ...(await workFindings(exam)),
  ...(await deliveryFindings(exam)),
  ...(await sweepFindings(exam)),
  ...(await usageFindings(exam)),
];

/** The number of rows of each table of the product, for support. */
export const countTables = async (db: Kysely<unknown>): Promise<Readonly<Record<string, number>>> => {
  const counts: Record<string, number> = {};
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname in (${serviceSchema}, ${ledgerSchema}) order by 1`.execute(db);
  for (const { name } of rows) {
    const found = await sql<{ count: string }>`select count(*)::text as count from ${sql.raw(name)}`.execute(db);
    counts[name] = Number(found.rows[0]?.count ?? 0);
  }
  return counts;
};
