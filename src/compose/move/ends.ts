/** The ends of a copy of the metadata: databases, which schemas of the product they hold, and who else uses them. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { ledgerMigrations } from '../../gateway/ledger/migrations.js';
import { schemaName as ledgerSchema } from '../../gateway/ledger/tables.js';
import type { Config } from '../../platform/config/config.js';
import { listDone, type Migrations } from '../../platform/databases/migrate.js';
import { listOtherSchemas, listOtherSessions, listSchemas } from '../../platform/databases/move/catalog.js';
import { findMark, markSchema } from '../../platform/databases/move/mark.js';
import { nameOf, type Place } from '../../platform/databases/move/places.js';
import { markFileOf } from '../../platform/keys/high-water-mark.js';
import { migrations as serviceMigrations } from '../../service/store/migrations.js';
import { schemaName as serviceSchema } from '../../service/store/tables.js';
import { folderOf, type Metadata, type MetadataOptions, openUnmarked } from '../metadata.js';

/** What a schema of the product holds, and how its tables are made. */
export type Part = { readonly schema: string; readonly migrations: Migrations; readonly what: string };

/** All of them. */
export const productParts: readonly Part[] = [
  { schema: serviceSchema, migrations: serviceMigrations, what: 'metadata' },
  { schema: ledgerSchema, migrations: ledgerMigrations, what: "gateway's ledger" },
];

/** Where the configured installation has its metadata. */
export const placeIn = ({ settings }: Pick<Config, 'settings'>): Place =>
  settings.databaseUrl === null
    ? { kind: 'folder', dataDir: resolve(settings.dataDir) }
    : { kind: 'server', databaseUrl: settings.databaseUrl };

export const namesOf = (parts: readonly Part[]): readonly string[] => parts.map(({ schema }) => schema);

/** Told what is being done. */
export type Say = (text: string) => void;

export type End = {
  readonly place: Place;
  readonly name: string;
  readonly metadata: Metadata;
  readonly db: Kysely<unknown>;
};
export type Opening = Pick<MetadataOptions, 'markKey' | 'isFlushed' | 'clock' | 'log'>;

/** The folder of the embedded database; null for a server. */
export const folderAt = (place: Place, service: boolean): string | null =>
  place.kind === 'folder' ? folderOf(place.dataDir, { service }) : null;

export const openEnd = async (place: Place, service: boolean, opening: Opening): Promise<End> => {
  const metadata = await openUnmarked({
    ...opening,
    databaseUrl: place.kind === 'server' ? place.databaseUrl : null,
    folder: folderAt(place, service),
    acceptsLoss: false,
  });
  return { place, name: nameOf(place), metadata, db: metadata.database.connect<unknown>() };
};

export const isEmptyFolder = async (folder: string): Promise<boolean> =>
  !existsSync(folder) || (await readdir(folder)).length === 0;

/** Throws if the place has no embedded database: an open would create an empty one in it. */
export const assertSourceThere = async (place: Place, service: boolean): Promise<void> => {
  const folder = folderAt(place, service);
  if (folder !== null && (await isEmptyFolder(folder)))
    throw new Error(
      `There is no embedded database in ${folder}: name the data folder that has one, with --from or GUESTLIST_DATA_DIR.`,
    );
};

/** The mark beside a removed folder would report a loss. */
export const assertTargetFolder = async (place: Place, service: boolean): Promise<void> => {
  const folder = folderAt(place, service);
  if (folder === null || !existsSync(markFileOf(folder)) || !(await isEmptyFolder(folder))) return;
  throw new Error(
    `${markFileOf(folder)} belongs to an embedded database that is not there any more. Move it away too, then run this again.`,
  );
};

/** A part that a database or a file holds, with the names of the migrations that made it. */
export type FoundPart = Part & { readonly done: readonly string[] };

/** Throws if a newer version made the part. */
export const assertKnown = ({ what, migrations, done }: FoundPart, where: string, mend: string): void => {
  const unknown = done.find((one) => !Object.hasOwn(migrations, one));
  if (unknown !== undefined)
    throw new Error(
      `The ${what} in ${where} was made by a newer version of Guestlist: it has the migration ${unknown}, which this version does not know. ${mend}`,
    );
};

/** The parts that the database holds. Throws if there is none, or if a newer version made them. */
export const findParts = async (
  { db, name }: Pick<End, 'db' | 'name'>,
  parts: readonly Part[],
  mend: string,
): Promise<readonly FoundPart[]> => {
  const there: FoundPart[] = [];
  for (const part of parts) {
    const found = { ...part, done: await listDone(db, part.schema) };
    if (found.done.length === 0) continue;
    assertKnown(found, name, mend);
    there.push(found);
  }
  if (there.length === 0) throw new Error(`There is no metadata of Guestlist in ${name}.`);
  return there;
};

/** A schema that no part names would be left behind. A server may hold schemas of others, a folder may not. */
export const assertNothingElse = async (
  { db, place, name }: Pick<End, 'db' | 'place' | 'name'>,
  parts: readonly Part[],
  mend: string,
): Promise<void> => {
  const known = [...namesOf(parts), markSchema];
  const others = (await listOtherSchemas(db, known)).filter(
    (schema) => place.kind === 'folder' || schema.startsWith('guestlist'),
  );
  if (others.length > 0)
    throw new Error(
      `${name} also has tables in ${others.map((schema) => JSON.stringify(schema)).join(', ')}, which this version would not copy. ${mend}`,
    );
};

const sessionsGoneMs = 3_000;
const lookEveryMs = 100;

/** The sessions of a process that has just ended may still be listed for a moment. */
export const assertNoSessions = async (
  { place, name }: Pick<End, 'place' | 'name'>,
  db: Kysely<unknown>,
): Promise<void> => {
  if (place.kind === 'folder') return;
  let others = await listOtherSessions(db);
  for (let waitedMs = 0; others.length > 0 && waitedMs < sessionsGoneMs; waitedMs += lookEveryMs) {
    await wait(lookEveryMs);
    others = await listOtherSessions(db);
  }
  if (others.length > 0)
    throw new Error(
      `${name} is in use by other sessions of its user: process ids ${others.join(', ')}. Stop every Guestlist on it, and whatever else uses it as this user, then run this again.`,
    );
};

/** The text marks a session without a time limit for the pool; the lock keeps two moves, or a move and a backup, apart. */
export const takeLock = async (db: Kysely<unknown>, kind: 'alone' | 'shared' = 'alone'): Promise<void> => {
  const lock = sql.raw(kind === 'alone' ? 'pg_advisory_lock' : 'pg_advisory_lock_shared');
  await sql`select ${lock}(hashtextextended('guestlist move', 0))`.execute(db);
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(db);
  await sql`set local lock_timeout = '15s'`.execute(db);
};

/** Throws if the target holds anything, with what to do. `isOurs`: whether an earlier copy that did not end may be replaced. */
export const assertTargetFree = async (
  to: End,
  parts: readonly Part[],
  isOurs: (mark: NonNullable<Awaited<ReturnType<typeof findMark>>>) => boolean,
): Promise<void> => {
  const mark = await findMark(to.db);
  if (mark !== undefined && isOurs(mark)) return;
  const there = await listSchemas(to.db, namesOf(parts));
  if (there.length === 0 && mark === undefined) return;
  const mend =
    to.place.kind === 'folder'
      ? `Move ${to.name}'s embedded database away (the folder metadata, or gateway, and the file of the same name with .mark)`
      : 'Name an empty database';
  throw new Error(`${to.name} is not empty: metadata of Guestlist is in it. ${mend}, then run this again.`);
};
