/**
 * Rotates the encryption key, one step at each run, while replicas serve: a second key that opens, then the second key as
 * the one that seals, then every stored secret sealed with it. Which step is next follows from the ring of the
 * configuration and from the key of the canary, which is resealed last. An embedded database has one process, which is
 * stopped: all steps are one.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { LedgerTables } from '../../gateway/ledger/tables.js';
import type { SigningKey } from '../../model/signing-keys.js';
import type { Config } from '../../platform/config/config.js';
import { storeCredentials } from '../../platform/config/credentials.js';
import { secretVariables } from '../../platform/config/environment.js';
import { writeWhole } from '../../platform/files/whole-file.js';
import { type KeyRing, markOf, sealerMarkOf, textOfRing } from '../../platform/keys/sealing.js';
import { schemaName, type Tables } from '../../service/store/tables.js';
import { type Configured, noteInAudit, openWritable, type Surroundings, type WritableEnd } from '../move/writable.js';
import { resealAll } from '../reseal.js';
import { createIssuers } from '../session-issuers.js';
import { createReadSigningKeys } from '../signing-keys.js';
import { listVariables } from './variables.js';

export type RotateRequest = {
  /** Whether a rotation begins, if none is under way. Otherwise the secrets are only listed. */
  readonly begins: boolean;
  /** Path of a new file for the next value of GUESTLIST_ENCRYPTION_KEY, if the keys come from there. */
  readonly to: string | undefined;
};

/** What was done. `added`, `first` and `resealed` are the steps with replicas; `stopped` is all of them at once. */
type Step = 'none' | 'added' | 'first' | 'resealed' | 'stopped';

/** A secret that the installation uses. */
export type KeptSecret = {
  readonly what: string;
  readonly keptIn: string;
  /** Since when it is what it is; null: the installation does not know. */
  readonly since: Date | null;
  readonly how: string;
};

export type Rotated = {
  readonly step: Step;
  readonly resealed: number;
  /** Stored secrets that no key opens. The old key stays until there is none. */
  readonly unreadable: readonly string[];
  /** Where the keys are that processes start with next; null if nothing changed. */
  readonly next: string | null;
  readonly secrets: readonly KeptSecret[];
  readonly now: Date;
};

const canaryMark = async (db: Kysely<Tables>): Promise<string> => {
  const row = await db.withSchema(schemaName).selectFrom('sealing_canary').select('sealed').executeTakeFirst();
  if (row === undefined) throw new Error('No process has started on this database yet: start Guestlist once.');
  return sealerMarkOf(row.sealed);
};

type Keep = (ring: KeyRing) => Promise<string>;

/** Keeps the ring where processes read it, or where the operator takes it from. */
const createKeep = ({ settings, secrets }: Configured, { to }: RotateRequest): Keep => {
  if (secrets.encryptionKey === null)
    return (ring) => storeCredentials(settings.dataDir, { encryptionKey: textOfRing(ring) });
  if (to === undefined)
    throw new Error(
      'The keys come from GUESTLIST_ENCRYPTION_KEY, which this command cannot change: name a new file for its next value with --to.',
    );
  if (existsSync(to)) throw new Error(`${to} exists already: name another file. Nothing was changed.`);
  return async (ring) => {
    // It is of this run: it was not there before.
    await rm(to, { force: true });
    await writeWhole(to, Readable.from([Buffer.from(`${textOfRing(ring)}\n`)]));
    return to;
  };
};

type Done = Pick<Rotated, 'step' | 'resealed' | 'unreadable' | 'next'>;
const nothing: Done = { step: 'none', resealed: 0, unreadable: [], next: null };

/** The ring with this key first. */
const withFirst = (ring: KeyRing, first: Buffer): KeyRing => [
  first,
  ...ring.filter((key) => markOf(key) !== markOf(first)),
];

const resealWith = async (end: WritableEnd, ring: KeyRing, step: Step, keep: Keep): Promise<Done> => {
  const { resealed, unreadable } = await resealAll(end.db as Kysely<Tables>, ring, end.keySource);
  if (unreadable.length > 0) return { ...nothing, step, resealed, unreadable };
  return { step, resealed, unreadable, next: await keep([ring[0]]) };
};

/** Only one process can have an embedded database, and it is this one. */
const rotateStopped = async (end: WritableEnd, target: Buffer, keep: Keep): Promise<Done> => {
  const ring = withFirst(end.ring, target);
  // If this process is killed from here on, every value opens with the kept ring.
  await keep(ring);
  return resealWith(end, ring, 'stopped', keep);
};

/** The next step while replicas serve. */
const rotateServing = async (end: WritableEnd, sealedBy: string, keep: Keep): Promise<Done> => {
  const { ring } = end;
  const [first, second] = ring;
  if (second === undefined) return { ...nothing, step: 'added', next: await keep([first, randomBytes(32)]) };
  if (sealedBy === markOf(first)) return { ...nothing, step: 'first', next: await keep(withFirst(ring, second)) };
  return resealWith(end, ring, 'resealed', keep);
};

const rotate = async (end: WritableEnd, config: Configured, request: RotateRequest): Promise<Done> => {
  const isUnderWay = end.ring.length > 1;
  if (!isUnderWay && !request.begins) return nothing;
  const sealedBy = await canaryMark(end.db as Kysely<Tables>);
  const keep = createKeep(config, request);
  if (end.place.kind === 'server') return rotateServing(end, sealedBy, keep);
  const other = end.ring.find((key) => markOf(key) !== sealedBy);
  return rotateStopped(end, other ?? randomBytes(32), keep);
};

/** When the encryption key was last rotated; else when the first entry of the audit was written, also one that was archived. */
const findKeyTime = async (ledger: Kysely<LedgerTables>): Promise<Date | null> => {
  const row = await ledger
    .selectFrom('audit_events')
    .select(({ fn }) => [fn.min('at').as('first')])
    .select(
      sql<Date | null>`max(at) filter (where kind = 'admin' and content::jsonb -> 'detail' ->> 'command' = 'rotate'
        and content::jsonb -> 'detail' ->> 'step' in ('resealed', 'stopped'))`.as('rotated'),
    )
    .executeTakeFirst();
  const archived = await ledger
    .selectFrom('audit_segments')
    .select(({ fn }) => [fn.min('began_at').as('first')])
    .executeTakeFirst();
  return row?.rotated ?? archived?.first ?? row?.first ?? null;
};

const overlap =
  'the variable takes the new one beside the old one; roll it out, change the sender, then take the old one away';
const together = 'set a new one here and at the other end, and roll it out';
const atOtherEnd = 'make a second one at the other end, roll it out here, then remove the first one there';

/** `values`: how many values the variable has. Undefined: it takes one alone. */
const byCommand = (variable: string, values: number): string =>
  values > 1
    ? `two values hold: guestlist rotate --secret ${variable} ends the rotation`
    : `guestlist rotate --secret ${variable}`;

const howOf = ({ purpose, source }: SigningKey, variables: ReadonlyMap<string, number>): string => {
  if (source.kind === 'jwks') return 'at its issuer; new keys are fetched';
  const values = source.kind === 'variable' && source.name !== null ? variables.get(source.name) : undefined;
  if (values !== undefined && source.name !== null) return byCommand(source.name, values);
  if (purpose === 'hooks') return overlap;
  return purpose === 'mail' ? 'publish the new key under another selector first, then roll it out' : together;
};

/** How the secrets of variables are rotated that no other part of the list names. */
const howOfVariable = (
  name: 'gatewayToken' | 'metricsToken' | 'studioClientSecret' | 'smtpUrl' | 'backupKey',
  variables: ReadonlyMap<string, number>,
): string => {
  const { variable } = secretVariables[name];
  const values = variables.get(variable);
  if (values !== undefined) return byCommand(variable, values);
  return name === 'backupKey' ? 'write the new one before the old one, with a comma' : atOtherEnd;
};

const listConfigured = (config: Config, surroundings: Surroundings): readonly KeptSecret[] => {
  const issuers = createIssuers({ ...config, isDemo: false }, { demoJwtSecret: '' }, surroundings);
  const { keys } = createReadSigningKeys({ config, issuers, startedAt: surroundings.clock.now() })();
  const variables = listVariables(config);
  const signing = keys.map((key): KeptSecret => {
    const { purpose, of, source } = key;
    const keptIn = source.name ?? 'the configuration';
    return { what: `${purpose}${of === null ? '' : ` of ${of}`}`, keptIn, since: null, how: howOf(key, variables) };
  });
  const given = (['gatewayToken', 'metricsToken', 'studioClientSecret', 'smtpUrl', 'backupKey'] as const).flatMap(
    (name): readonly KeptSecret[] =>
      config.secrets[name] === null
        ? []
        : [
            {
              what: secretVariables[name].meaning.split(/[,:;]/)[0] ?? name,
              keptIn: secretVariables[name].variable,
              since: null,
              how: howOfVariable(name, variables),
            },
          ],
  );
  return [...signing, ...given];
};

const listStored = async (db: Kysely<Tables>): Promise<readonly KeptSecret[]> => {
  const { rows } = await sql<{ what: string; since: Date | null; kind: string }>`
    select 'API key ' || api_keys.name || ' of ' || data_apps.name as what, api_keys.created_at as since, 'key' as kind
      from guestlist.api_keys join guestlist.data_apps on data_apps.id = data_app_id
      where revoked_at is null and replaced_at is null and (expires_at is null or expires_at > now())
    union all select 'service token ' || name, created_at, 'key' from guestlist.service_tokens
      where revoked_at is null and replaced_at is null and (expires_at is null or expires_at > now())
    union all select 'password of the datasource ' || name, null, 'datasource' from guestlist.datasources where sealed is not null
    order by 3, 1`.execute(db);
  return rows.map(({ what, since, kind }) => ({
    ...{ what, since, keptIn: kind === 'key' ? 'the database, as a hash' : 'the database, sealed' },
    how:
      kind === 'key'
        ? 'guestlist rotate --tokens, or its holder by the interface; the old one stays valid for the time that you say'
        : 'make a second login at the database, then guestlist datasources set-password',
  }));
};

const listSecrets = async (
  end: WritableEnd,
  config: Config,
  surroundings: Surroundings,
): Promise<readonly KeptSecret[]> => [
  {
    what: `encryption key ${end.ring.map(markOf).join(', ')}`,
    keptIn: end.keySource,
    since: await findKeyTime(end.ledger),
    how: 'guestlist rotate --begin',
  },
  ...(await listStored(end.db as Kysely<Tables>)),
  ...listConfigured(config, surroundings),
];

/**
 * Does the next step of a rotation, or begins one, and lists the secrets. Rejects with an Error that says what to do;
 * whatever was done, every process that runs can still open every secret.
 */
export const rotateSecrets = async (
  config: Config,
  request: RotateRequest,
  surroundings: Surroundings,
): Promise<Rotated> => {
  const end = await openWritable(config, surroundings);
  try {
    const done = await rotate(end, config, request);
    const now = surroundings.clock.now();
    if (done.step !== 'none') {
      const detail = { command: 'rotate', what: 'encryption-key', step: done.step, resealed: done.resealed };
      await noteInAudit(end, { kind: 'admin', code: done.unreadable.length === 0 ? 'OK' : 'UNREADABLE', detail }, now);
    }
    return { ...done, secrets: await listSecrets(end, config, surroundings), now };
  } finally {
    await end.close();
  }
};
