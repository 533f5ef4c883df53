/**
 * Restores a backup into an installation that holds nothing: the same rows, each table compared by number and hash, the
 * files and the audit. Until everything is there, no process starts on the target; a failure leaves it as it was.
 */
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { type LedgerTables, schemaName as ledgerSchema } from '../../gateway/ledger/tables.js';
import type { Config } from '../../platform/config/config.js';
import { loadCredentials } from '../../platform/config/credentials.js';
import { migrateSchema } from '../../platform/databases/migrate.js';
import {
  checkBackup,
  type FileHead,
  type Manifest,
  type OpenedBackup,
  readBackup,
  type Totals,
} from '../../platform/databases/move/backup-file.js';
import { markSchema, writeMark } from '../../platform/databases/move/mark.js';
import { isBackupName, nameOf, nameOfBackup, type Place } from '../../platform/databases/move/places.js';
import { writeWhole } from '../../platform/files/whole-file.js';
import { markFileOf } from '../../platform/keys/high-water-mark.js';
import type { KeyRing } from '../../platform/keys/sealing.js';
import { assertKeyOpens, WrongKey } from '../../service/store/key-canary.js';
import { schemaName as serviceSchema, type Tables } from '../../service/store/tables.js';
import { type MetadataOptions, openingOf } from '../metadata.js';
import { sealedColumns } from '../reseal.js';
import { openSealed, readSealed } from './backup.js';
import {
  assertKnown,
  assertNoSessions,
  assertTargetFolder,
  assertTargetFree,
  type End,
  type FoundPart,
  folderAt,
  isEmptyFolder,
  namesOf,
  openEnd,
  placeIn,
  productParts,
  type Say,
} from './ends.js';
import { type CopiedTable, fill, verifyCopiedAudit } from './fill.js';
import { noteInAudit } from './writable.js';

export type RestoreRequest = {
  /** The path of the file, or a stream. */
  readonly from: string | AsyncIterable<Buffer>;
  readonly ring: KeyRing;
  /** Whether nothing is written: the whole file is read, and the target is looked at. */
  readonly isDry: boolean;
  readonly say: Say;
};

export type Restored = Pick<Manifest, 'at' | 'madeBy'> & {
  readonly to: string;
  readonly isDry: boolean;
  readonly files: number;
  readonly tables: readonly CopiedTable[];
  readonly rows: number;
  /** The head of the audit; null if there is none, or if it was not verified. */
  readonly audit: { readonly seq: number; readonly hash: string } | null;
  /** What the operator must know before the first start. */
  readonly warnings: readonly string[];
  readonly durationInMs: number;
};

type Configured = Pick<Config, 'settings' | 'secrets' | 'isDemo'>;

const partsIn = ({ parts, at, tenant }: Manifest): readonly FoundPart[] => {
  if (tenant !== undefined)
    throw new Error('This is the file of one tenant: guestlist import-tenant reads it. Name a backup.');
  return parts.map(({ schema, done }) => {
    const part = productParts.find((one) => one.schema === schema);
    if (part === undefined)
      throw new Error(
        `The ${nameOfBackup(at)} has the schema ${JSON.stringify(schema)}, which this version does not know. Restore it with the version that made it.`,
      );
    const found = { ...part, done };
    assertKnown(found, `the ${nameOfBackup(at)}`, 'Restore it with that version.');
    return found;
  });
};

/** What a restore has written so far, to be removed if it fails. */
type Written = { readonly files: string[] };

const isSame = async (path: string, content: AsyncIterable<Buffer>): Promise<boolean> => {
  const parts: Buffer[] = [];
  for await (const part of content) parts.push(part);
  return (await readFile(path)).equals(Buffer.concat(parts));
};

const credentials = 'credentials.json';

/** The credentials of the target stay: whether their key opens the secrets is looked at later. */
const placeFile = async (
  path: string,
  { path: name }: FileHead,
  content: AsyncIterable<Buffer>,
  written: Written,
): Promise<void> => {
  if (!existsSync(path)) {
    await writeWhole(path, content);
    written.files.push(path);
    return;
  }
  if (name === credentials) {
    for await (const part of content) void part;
    return;
  }
  if (!(await isSame(path, content)))
    throw new Error(
      `${path} exists already, with another content than in the backup: move it away, then run this again.`,
    );
};

const placeFiles = async ({ files }: OpenedBackup, dataDir: string, written: Written): Promise<readonly FileHead[]> => {
  const heads: FileHead[] = [];
  await files(async (head, content) => {
    heads.push(head);
    await placeFile(join(dataDir, ...head.path.split('/')), head, content, written);
  });
  return heads;
};

/** Datasources read their uploads from the folder of this installation. */
const renamePaths = async (db: Kysely<unknown>, heads: readonly FileHead[], dataDir: string): Promise<void> => {
  const sources = (db as Kysely<Tables>).withSchema(serviceSchema);
  for (const { path, was } of heads) {
    if (path === credentials) continue;
    const now = join(dataDir, ...path.split('/'));
    await sources.updateTable('datasources').set({ path: now }).where('path', '=', was).execute();
  }
};

/** Removes what a failed restore has left in a target that was empty. */
const emptyServer = async ({ db }: End): Promise<void> => {
  for (const schema of [...namesOf(productParts), markSchema])
    await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(db);
};

const emptyFolder = async (folder: string): Promise<void> => {
  await rm(folder, { recursive: true, force: true });
  await rm(markFileOf(folder), { force: true });
};

const keyWarning = async (
  { db }: End,
  { keyRing: ring, keySource }: Awaited<ReturnType<typeof loadCredentials>>,
): Promise<readonly string[]> => {
  try {
    await assertKeyOpens(db as Kysely<Tables>, { ring, keySource, columns: sealedColumns });
    return [];
  } catch (error) {
    if (error instanceof WrongKey) return [error.message];
    throw error;
  }
};

type Target = { readonly config: Configured; readonly place: Place; readonly dataDir: string };

/** Rows, then the migrations of this version, then the audit. */
const restoreRows = async (
  to: End,
  { manifest, source, end }: OpenedBackup,
  finish: (db: Kysely<unknown>) => Promise<void>,
  say: Say,
) => {
  const parts = partsIn(manifest);
  const mark = { id: manifest.at, other: nameOfBackup(manifest.at) };
  const { tables, finished } = await fill({ source, parts }, to, mark, {
    say,
    finish: async (target) => {
      const totals = await end();
      await finish(target);
      return totals;
    },
  });
  say('migrating');
  for (const part of parts) await migrateSchema({ db: to.db, ...part });
  return { tables, totals: finished, verified: await verifyCopiedAudit(to.db, parts, say) };
};

/** Says in the audit that the rows before this entry came from a backup. A faulty chain gets no further entry. */
const noteRestore = async (
  { db }: End,
  { at: backupOf, madeBy }: Manifest,
  verified: Awaited<ReturnType<typeof verifyCopiedAudit>>,
  at: Date,
): Promise<void> => {
  if (verified === null || verified.fault !== null) return;
  const ledger = (db as Kysely<LedgerTables>).withSchema(ledgerSchema);
  const event = { kind: 'admin', code: 'OK', detail: { command: 'restore', backupOf, madeBy } } as const;
  await noteInAudit({ ledger }, event, at);
};

const auditWarning = (verified: Awaited<ReturnType<typeof verifyCopiedAudit>>): readonly string[] =>
  verified === null || verified.fault === null
    ? []
    : [
        `The audit chain has a fault at entry ${verified.fault.seq}: ${verified.fault.message}. Every row is as in the backup, so the installation that was backed up had the same fault.`,
      ];

const fillTarget = async (
  to: End,
  opened: OpenedBackup,
  { config, dataDir }: Target,
  written: Written,
  { say, now }: { readonly say: Say; readonly now: Date },
): Promise<Pick<Restored, 'tables' | 'rows' | 'files' | 'audit' | 'warnings'>> => {
  say('writing the files');
  const heads = await placeFiles(opened, dataDir, written);
  const hadCredentials = existsSync(join(dataDir, credentials));
  const loaded = await loadCredentials(dataDir, config.secrets);
  if (!hadCredentials) written.files.push(loaded.file);
  const { tables, totals, verified } = await restoreRows(to, opened, (db) => renamePaths(db, heads, dataDir), say);
  const warnings = [...(await keyWarning(to, loaded)), ...auditWarning(verified)];
  await noteRestore(to, opened.manifest, verified, now);
  const mark = { id: opened.manifest.at, other: nameOfBackup(opened.manifest.at) };
  await writeMark(to.db, { ...mark, stage: 'complete' });
  return { tables, rows: totals.rows, files: totals.files, audit: verified?.head ?? null, warnings };
};

const openTarget = async (
  { config, place, dataDir }: Target,
  { service }: Manifest,
  surroundings: Pick<MetadataOptions, 'clock' | 'log'>,
): Promise<End> => {
  // An embedded database that is not there has no mark to verify. The key of the next one comes with the files.
  const folder = folderAt(place, service);
  const isNew = folder === null || !existsSync(markFileOf(folder));
  const opening = isNew
    ? { markKey: null, isFlushed: config.settings.embeddedDatabase.flush ?? !config.isDemo }
    : openingOf(config, (await loadCredentials(dataDir, config.secrets)).keyRing);
  return openEnd(place, service, { ...opening, ...surroundings });
};

/** An earlier restore that did not end left nothing that anybody uses. */
const assertFree = (to: End): Promise<void> =>
  assertTargetFree(to, productParts, ({ stage, other }) => stage === 'filling' && isBackupName(other));

const readFrom = (from: RestoreRequest['from'], ring: KeyRing): Promise<OpenedBackup> =>
  readBackup(typeof from === 'string' ? readSealed(from, ring) : openSealed(from, ring));

const look = async (
  target: Target,
  { from, ring, say }: RestoreRequest,
  surroundings: Pick<MetadataOptions, 'clock' | 'log'>,
): Promise<Pick<Restored, 'tables' | 'rows' | 'files' | 'audit' | 'warnings' | 'at' | 'madeBy'>> => {
  say('reading the backup');
  const opened = await readFrom(from, ring);
  partsIn(opened.manifest);
  const { rows, files }: Totals = await checkBackup(opened);
  const folder = folderAt(target.place, opened.manifest.service);
  await assertTargetFolder(target.place, opened.manifest.service);
  // Opening a folder would create a database in it.
  if (folder === null || !(await isEmptyFolder(folder))) {
    const to = await openTarget(target, opened.manifest, surroundings);
    await assertFree(to).finally(to.metadata.database.close);
  }
  const tables = await Promise.all(
    opened.source.contents.tables.map(async (table) => ({
      name: table.name,
      rows: (await opened.source.digest(table)).rows,
    })),
  );
  const { at, madeBy } = opened.manifest;
  return { tables, rows, files, audit: null, warnings: [], at, madeBy };
};

const restoreInto = async (
  target: Target,
  opened: OpenedBackup,
  say: Say,
  surroundings: Pick<MetadataOptions, 'clock' | 'log'>,
) => {
  const { manifest } = opened;
  partsIn(manifest);
  await assertTargetFolder(target.place, manifest.service);
  const folder = folderAt(target.place, manifest.service);
  const wasEmpty = folder === null || (await isEmptyFolder(folder));
  const to = await openTarget(target, manifest, surroundings);
  const written: Written = { files: [] };
  let isOurs = wasEmpty && folder !== null;
  let isDone = false;
  try {
    await assertFree(to);
    await assertNoSessions(to, to.db);
    isOurs = true;
    const restored = await fillTarget(to, opened, target, written, { say, now: surroundings.clock.now() });
    isDone = true;
    return restored;
  } finally {
    if (!isDone && isOurs && folder === null) await emptyServer(to);
    await to.metadata.database.close();
    if (!isDone && isOurs && folder !== null) await emptyFolder(folder);
    if (!isDone) for (const file of written.files) await rm(file, { force: true });
  }
};

/** Restores the backup, or only looks whether it could. Rejects with an Error that says what to do. */
export const restore = async (
  config: Configured,
  request: RestoreRequest,
  surroundings: Pick<MetadataOptions, 'clock' | 'log'>,
): Promise<Restored> => {
  const { from, ring, isDry, say } = request;
  const startedMs = performance.now();
  const dataDir = resolve(config.settings.dataDir);
  const place = placeIn(config);
  const target = { config, place, dataDir };
  // A file is read twice: what is damaged at its end is found before anything is written.
  const looked = isDry || typeof from === 'string' ? await look(target, request, surroundings) : undefined;
  const common = { to: nameOf(place), isDry };
  if (isDry && looked !== undefined) return { ...looked, ...common, durationInMs: performance.now() - startedMs };
  const opened = await readFrom(from, ring);
  const { at, madeBy } = opened.manifest;
  const restored = await restoreInto(target, opened, say, surroundings);
  return { ...restored, ...common, at, madeBy, durationInMs: performance.now() - startedMs };
};
