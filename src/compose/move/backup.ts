/**
 * Backs up an installation while it runs: all rows as of one moment, the uploaded files and the credentials of the data
 * folder, in one sealed file. The file is a target of the same copy as that of a move, and `restore.ts` has it as a source.
 */
import { createReadStream, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { type Kysely, sql, type Transaction } from 'kysely';
import { handled } from '../../model/handled.js';
import type { Config } from '../../platform/config/config.js';
import { loadCredentials } from '../../platform/config/credentials.js';
import { openDatabase } from '../../platform/databases/database.js';
import { askForSnapshot } from '../../platform/databases/embedded-snapshot.js';
import {
  type BackedFile,
  checkBackup,
  type Manifest,
  readBackup,
  type Totals,
  writeBackup,
} from '../../platform/databases/move/backup-file.js';
import { type Contents, listSchemas, readContents } from '../../platform/databases/move/catalog.js';
import { assertUsable, findMark } from '../../platform/databases/move/mark.js';
import { nameOf, type Place } from '../../platform/databases/move/places.js';
import { type Digest, databaseRows, setFormats } from '../../platform/databases/move/rows.js';
import { fileFault } from '../../platform/files/file-faults.js';
import { FolderInUse } from '../../platform/files/folder-lock.js';
import { uploadPathOf } from '../../platform/files/upload-folder.js';
import { writeWhole } from '../../platform/files/whole-file.js';
import { seal, unseal } from '../../platform/keys/sealed-file.js';
import type { KeyRing } from '../../platform/keys/sealing.js';
import { closeAll } from '../../platform/work/close-all.js';
import { schemaName as serviceSchema, type Tables } from '../../service/store/tables.js';
import { type MetadataOptions, openingOf } from '../metadata.js';
import {
  assertNothingElse,
  assertSourceThere,
  type End,
  type FoundPart,
  findParts,
  folderAt,
  namesOf,
  openEnd,
  placeIn,
  productParts,
  type Say,
} from './ends.js';

export type BackupRequest = {
  /** Of a process with the service in it; otherwise that of a gateway alone. */
  readonly service: boolean;
  readonly ring: KeyRing;
  /** The path of a new file, or a stream. */
  readonly to: string | NodeJS.WritableStream;
  /** The version of Guestlist. */
  readonly version: string;
  readonly say: Say;
};

export type BackedUp = Totals & {
  readonly from: string;
  readonly at: string;
  readonly tables: number;
  readonly rowsOf: readonly { readonly name: string; readonly rows: number }[];
  /** Sealed bytes. */
  readonly bytes: number;
  /** Files that datasources read and that the backup does not hold, because an operator placed them. */
  readonly others: readonly string[];
  /** Whether the file was read again and checked. */
  readonly isChecked: boolean;
  readonly durationInMs: number;
};

export type Source = Pick<End, 'place' | 'name' | 'db'> & { readonly close: () => Promise<void> };

/** Opens the database of the configuration; where a process has it open, a copy that the process makes. */
export const openSource = async (
  config: Pick<Config, 'settings' | 'secrets' | 'isDemo'>,
  place: Place,
  service: boolean,
  surroundings: Pick<MetadataOptions, 'clock' | 'log'>,
): Promise<Source> => {
  const folder = folderAt(place, service);
  if (folder === null) {
    const end = await openEnd(place, service, { markKey: null, isFlushed: true, ...surroundings });
    return { ...end, close: end.metadata.database.close };
  }
  const { keyRing } = await loadCredentials(config.settings.dataDir, config.secrets);
  try {
    const end = await openEnd(place, service, { ...openingOf(config, keyRing), ...surroundings });
    end.metadata.startMarking();
    return { ...end, close: end.metadata.database.close };
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error;
  }
  const snapshot = await askForSnapshot(folder);
  try {
    const database = await openDatabase({ databaseUrl: null, folder: snapshot.folder, isFlushed: false });
    const close = () => closeAll([database.close, snapshot.remove]);
    return { place, name: nameOf(place), db: database.connect<unknown>(), close };
  } catch (error) {
    await snapshot.remove();
    throw error;
  }
};

/** The statement marks a session without a time limit for the pool. */
const keepMovesAway = async (db: Transaction<unknown>, name: string): Promise<void> => {
  const { rows } = await sql<{ free: boolean }>`
    select pg_try_advisory_lock_shared(hashtextextended('guestlist move', 0)) as free`.execute(db);
  if (rows[0]?.free !== true)
    throw new Error(`A move or a restore is running on ${name}: run this again when it has ended.`);
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(db);
};

/** Reads everything as of one moment, while others write. Migrations wait until the end. */
export const withSnapshot = <T>(
  { db, name }: Source,
  parts: readonly FoundPart[],
  work: (transaction: Transaction<unknown>, contents: Contents) => Promise<T>,
): Promise<T> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (transaction) => {
      await keepMovesAway(transaction, name);
      await setFormats(transaction);
      const contents = await readContents(transaction, namesOf(parts));
      const names = contents.tables.map((table) => sql.raw(table.name));
      await sql`lock table ${sql.join(names)} in access share mode`.execute(transaction);
      return work(transaction, contents);
    });

const listSourceFiles = async (db: Kysely<unknown>): Promise<readonly string[]> => {
  if ((await listSchemas(db, [serviceSchema])).length === 0) return [];
  const rows = await (db as Kysely<Tables>)
    .withSchema(serviceSchema)
    .selectFrom('datasources')
    .select('path')
    .execute();
  return rows.flatMap(({ path }) => path ?? []);
};

async function* readFile(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path) as AsyncIterable<Buffer>;
  } catch (cause) {
    throw await fileFault(path, 'read', cause);
  }
}

const fileAt = (path: string, was: string): BackedFile => ({ path, was, read: () => readFile(was) });

const assertUploadsHere = (files: readonly BackedFile[], dataDir: string): void => {
  const gone = files.find(({ was }) => !existsSync(was));
  if (gone !== undefined)
    throw new Error(
      `The uploaded file ${gone.was} is not on this machine (the data folder is ${dataDir}): run this where the data folder is. If its datasource was deleted a moment ago, run this again.`,
    );
};

/** The uploads and the credentials; and which files the rows name beside them. */
const findFiles = async (db: Kysely<unknown>, dataDir: string) => {
  const paths = await listSourceFiles(db);
  const uploads = paths.flatMap((was) => {
    const path = uploadPathOf(was);
    return path === undefined ? [] : [fileAt(path, was)];
  });
  assertUploadsHere(uploads, dataDir);
  const credentials = join(dataDir, 'credentials.json');
  const files = existsSync(credentials) ? [fileAt(basename(credentials), credentials), ...uploads] : uploads;
  return { files, others: paths.filter((path) => uploadPathOf(path) === undefined) };
};

/** Opens a sealed file. What it yields is authentic, and whole if it ends without an error. */
export const openSealed = (stream: AsyncIterable<Buffer>, ring: KeyRing): AsyncIterable<Buffer> => {
  const gunzip = createGunzip();
  // An error of the source ends the iteration too.
  handled(pipeline(Readable.from(unseal(stream, ring)), gunzip));
  return gunzip as AsyncIterable<Buffer>;
};

/** Reads a sealed file from the disk. */
export const readSealed = (path: string, ring: KeyRing): AsyncIterable<Buffer> => openSealed(readFile(path), ring);

async function* counted(stream: AsyncIterable<Buffer>, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const part of stream) {
    count(part.length);
    yield part;
  }
}

/** Compresses and seals the records, and writes them. Returns the number of sealed bytes. */
export const writeSealed = async (
  records: AsyncIterable<Buffer>,
  { ring, to }: Pick<BackupRequest, 'ring' | 'to'>,
): Promise<number> => {
  const gzip = createGzip({ level: 1 });
  const compressing = handled(pipeline(Readable.from(records), gzip));
  let bytes = 0;
  const sealed = counted(seal(gzip as AsyncIterable<Buffer>, ring), (count) => {
    bytes += count;
  });
  if (typeof to === 'string') await writeWhole(to, sealed);
  else await pipeline(Readable.from(sealed), to, { end: false });
  await compressing;
  return bytes;
};

export const assertNew = (to: BackupRequest['to']): void => {
  if (typeof to === 'string' && existsSync(to))
    throw new Error(`${resolve(to)} exists already, and nothing was written: name another file.`);
};

/** Reads the file again. What the disk did not keep is removed. */
export const assertWritten = async (file: string, ring: KeyRing, say: Say): Promise<void> => {
  say(`checking ${file}`);
  try {
    await checkBackup(await readBackup(readSealed(file, ring)));
  } catch (cause) {
    await rm(file, { force: true });
    throw new Error(`${file} could not be read back as it was written, and was removed. Check the disk.`, { cause });
  }
};

/**
 * Writes the backup, and reads it again if it is a file. Rejects with an Error that says what to do, and leaves no file
 * then.
 */
export const backUp = async (
  config: Pick<Config, 'settings' | 'secrets' | 'isDemo'>,
  { service, ring, to, version, say }: BackupRequest,
  surroundings: Pick<MetadataOptions, 'clock' | 'log'>,
): Promise<BackedUp> => {
  assertNew(to);
  const startedMs = performance.now();
  const dataDir = resolve(config.settings.dataDir);
  const place = placeIn(config);
  await assertSourceThere(place, service);
  say('opening the database');
  const source = await openSource(config, place, service, surroundings);
  try {
    assertUsable(source.name, await findMark(source.db));
    const newer = 'Run `guestlist backup` of that version.';
    const parts = await findParts(source, productParts, newer);
    await assertNothingElse(source, productParts, newer);
    const written = await withSnapshot(source, parts, async (transaction, contents) => {
      const at = surroundings.clock.now().toISOString();
      const { files, others } = await findFiles(transaction, dataDir);
      const rowsOf: { name: string; rows: number }[] = [];
      const table = (name: string, { rows }: Digest): void => void rowsOf.push({ name, rows });
      const manifest: Manifest = {
        format: 1,
        madeBy: version,
        at,
        service,
        parts: parts.map(({ schema, done }) => ({ schema, done: [...done] })),
        contents: contents as Manifest['contents'],
      };
      const rows = databaseRows(transaction, contents);
      const bytes = await writeSealed(writeBackup(manifest, files, rows, { say, table }), { ring, to });
      return { at, others, rowsOf, bytes, files: files.length };
    });
    const rows = written.rowsOf.reduce((sum, one) => sum + one.rows, 0);
    if (typeof to === 'string') await assertWritten(to, ring, say);
    const durationInMs = performance.now() - startedMs;
    const isChecked = typeof to === 'string';
    return { ...written, from: source.name, rows, tables: written.rowsOf.length, isChecked, durationInMs };
  } finally {
    await source.close();
  }
};
