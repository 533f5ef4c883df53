/**
 * Moves the metadata of an installation between the embedded database and PostgreSQL, both ways. A move that is cut off
 * at any moment leaves the source as it was, and a target that no process starts on; the same move is then run again.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { ChainHead } from '../gateway/audit/chain.js';
import { verifyAudit } from '../gateway/audit/read.js';
import { ledgerMigrations } from '../gateway/ledger/migrations.js';
import { type LedgerTables, schemaName as ledgerSchema } from '../gateway/ledger/tables.js';
import type { Config } from '../platform/config/config.js';
import { loadCredentials } from '../platform/config/credentials.js';
import { listDone, type Migrations, migrateSchema } from '../platform/databases/migrate.js';
import {
  type Contents,
  listOtherSchemas,
  listOtherSessions,
  listReferences,
  listSchemas,
  readContents,
} from '../platform/databases/move/catalog.js';
import {
  assertUsable,
  closeSource,
  findMark,
  type Mark,
  markSchema,
  writeMark,
} from '../platform/databases/move/mark.js';
import { nameOf, type Place } from '../platform/databases/move/places.js';
import {
  copyRows,
  copySequence,
  countRows,
  type Ends,
  haveSameRows,
  setFormats,
} from '../platform/databases/move/rows.js';
import { markFileOf } from '../platform/keys/high-water-mark.js';
import { closeAll } from '../platform/work/close-all.js';
import { assertKeyOpens } from '../service/store/key-canary.js';
import { migrations as serviceMigrations } from '../service/store/migrations.js';
import { schemaName as serviceSchema, type Tables } from '../service/store/tables.js';
import { folderOf, type Metadata, type MetadataOptions, openingOf, openUnmarked } from './metadata.js';
import { sealedColumns } from './reseal.js';

/** What a schema of the product holds, and how its tables are made. */
export type Part = { readonly schema: string; readonly migrations: Migrations; readonly what: string };

/** @internal Tests only: they add a part. */
export const productParts: readonly Part[] = [
  { schema: serviceSchema, migrations: serviceMigrations, what: 'metadata' },
  { schema: ledgerSchema, migrations: ledgerMigrations, what: "gateway's ledger" },
];

export type MoveRequest = {
  readonly from: Place;
  readonly to: Place;
  /** Which database of a data folder: that of a process with the service in it, or that of the gateway alone. */
  readonly service: boolean;
  /** Whether nothing is written. */
  readonly isDry: boolean;
  /** Told what is being done. */
  readonly say: (text: string) => void;
  /** The schemas that are copied. Left out: those of the product. */
  readonly parts?: readonly Part[];
};

export type MovedTable = { readonly name: string; readonly rows: number };

export type Moved = {
  readonly from: string;
  readonly to: string;
  /** `before`: an earlier run had copied everything. `dry`: nothing was written. */
  readonly outcome: 'now' | 'before' | 'dry';
  readonly tables: readonly MovedTable[];
  readonly sequences: number;
  /** The verified head of the audit in the target; null if there is no audit, or nothing was copied. */
  readonly audit: ChainHead | null;
  readonly durationInMs: number;
};

type End = { readonly place: Place; readonly name: string; readonly metadata: Metadata; readonly db: Kysely<unknown> };
type Opening = Pick<MetadataOptions, 'markKey' | 'isFlushed' | 'clock' | 'log'>;

const folderAt = (place: Place, service: boolean): string | null =>
  place.kind === 'folder' ? folderOf(place.dataDir, { service }) : null;

const openEnd = async (place: Place, service: boolean, opening: Opening): Promise<End> => {
  const metadata = await openUnmarked({
    ...opening,
    databaseUrl: place.kind === 'server' ? place.databaseUrl : null,
    folder: folderAt(place, service),
    acceptsLoss: false,
  });
  return { place, name: nameOf(place), metadata, db: metadata.database.connect<unknown>() };
};

const isEmptyFolder = async (folder: string): Promise<boolean> =>
  !existsSync(folder) || (await readdir(folder)).length === 0;

/** An open of a missing folder would create an empty database in it. */
const assertSourceThere = async ({ from, service }: MoveRequest): Promise<void> => {
  const folder = folderAt(from, service);
  if (folder !== null && (await isEmptyFolder(folder)))
    throw new Error(`There is no embedded database in ${folder}: name the data folder that has one, with --from.`);
};

/** The mark beside a removed folder would report a loss. */
const assertTargetFolder = async ({ to, service }: MoveRequest): Promise<void> => {
  const folder = folderAt(to, service);
  if (folder === null || !existsSync(markFileOf(folder)) || !(await isEmptyFolder(folder))) return;
  throw new Error(
    `${markFileOf(folder)} belongs to an embedded database that is not there any more. Move it away too, then run this again.`,
  );
};

/** The parts that the database holds. Throws if there is none, or if another version made them. */
const findParts = async ({ db, name }: End, parts: readonly Part[]): Promise<readonly Part[]> => {
  const there: Part[] = [];
  for (const part of parts) {
    const done = await listDone(db, part.schema);
    if (done.length === 0) continue;
    const known = Object.keys(part.migrations);
    const unknown = done.find((one) => !known.includes(one));
    const missing = known.find((one) => !done.includes(one));
    if (unknown !== undefined)
      throw new Error(
        `The ${part.what} in ${name} was made by a newer version of Guestlist: it has the migration ${unknown}, which this version does not know. Run \`guestlist move\` of that version.`,
      );
    if (missing !== undefined)
      throw new Error(
        `The ${part.what} in ${name} is of an earlier version of Guestlist: it lacks the migration ${missing}. Start this version on it once, stop it, then run this again.`,
      );
    there.push(part);
  }
  if (there.length === 0) throw new Error(`There is no metadata of Guestlist in ${name}.`);
  return there;
};

/** A schema that no part names would be left behind. A server may hold schemas of others, a folder may not. */
const assertNothingElse = async ({ db, place, name }: End, parts: readonly Part[]): Promise<void> => {
  const known = [...parts.map(({ schema }) => schema), markSchema];
  const others = (await listOtherSchemas(db, known)).filter(
    (schema) => place.kind === 'folder' || schema.startsWith('guestlist'),
  );
  if (others.length > 0)
    throw new Error(
      `${name} also has tables in ${others.map((schema) => JSON.stringify(schema)).join(', ')}, which this version would not copy. Run \`guestlist move\` of the version that made them.`,
    );
};

const sessionsGoneMs = 3_000;
const lookEveryMs = 100;

/** The sessions of a process that has just ended may still be listed for a moment. */
const assertNoSessions = async ({ place, name }: End, db: Kysely<unknown>): Promise<void> => {
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

/** The text marks a session without a time limit for the pool; the lock keeps two moves apart. */
const takeLock = async (db: Kysely<unknown>): Promise<void> => {
  await sql`select pg_advisory_lock(hashtextextended('guestlist move', 0))`.execute(db);
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(db);
  await sql`set local lock_timeout = '15s'`.execute(db);
};

const describeTables = ({ tables, sequences }: Contents): string => JSON.stringify([tables, sequences]);

/** Both ends have run the same migrations, so another table or column was made by hand. */
const assertSameTables = (source: Contents, target: Contents): void => {
  if (describeTables(source) === describeTables(target)) return;
  const theirs = new Map(target.tables.map((table) => [table.name, JSON.stringify(table.columns)]));
  const names = [
    ...source.tables
      .filter(({ name, columns }) => theirs.get(name) !== JSON.stringify(columns))
      .map(({ name }) => name),
    ...source.sequences.filter((name) => !target.sequences.includes(name)),
  ];
  throw new Error(
    `The migrations of this version do not make the source's tables: ${names.join(', ') || 'the target has more'} was made or changed by something else. Remove it, or move with the version that made it.`,
  );
};

/** The source in a transaction. After `holdSource`, nothing writes to its tables until the transaction ends. */
type Held = {
  readonly source: Transaction<unknown>;
  readonly contents: Contents;
  readonly parts: readonly Part[];
};

const namesOf = (parts: readonly Part[]): readonly string[] => parts.map(({ schema }) => schema);

const readSource = async (source: Transaction<unknown>, parts: readonly Part[]): Promise<Held> => ({
  source,
  contents: await readContents(source, namesOf(parts)),
  parts,
});

const holdSource = async (from: End, source: Transaction<unknown>, parts: readonly Part[]): Promise<Held> => {
  await takeLock(source);
  await setFormats(source);
  await assertNoSessions(from, source);
  const { contents } = await readSource(source, parts);
  const names = contents.tables.map(({ name }) => sql.raw(name));
  await sql`lock table ${sql.join(names)} in share row exclusive mode`.execute(source);
  return readSource(source, parts);
};

/** Throws if the target holds anything that this move did not bring, with what to do. */
const assertTargetFree = async (to: End, from: End, parts: readonly Part[]): Promise<void> => {
  const mark = await findMark(to.db);
  const isOurs = mark?.stage === 'filling' || mark?.stage === 'filled';
  if (isOurs && mark.other !== from.name) assertUsable(to.name, mark);
  if (isOurs) return;
  const there = await listSchemas(to.db, namesOf(parts));
  if (there.length === 0 && mark === undefined) return;
  const mend =
    to.place.kind === 'folder'
      ? `Move ${to.name}'s embedded database away (the folder metadata, or gateway, and the file of the same name with .mark)`
      : 'Name an empty database';
  throw new Error(`${to.name} is not empty: metadata of Guestlist is in it. ${mend}, then run this again.`);
};

/** Creates the tables of the target anew. Until the move has ended, the mark keeps every start away. */
const makeTarget = async (
  { db, name }: End,
  parts: readonly Part[],
  mark: Omit<Mark, 'at' | 'stage'>,
): Promise<void> => {
  try {
    await writeMark(db, { ...mark, stage: 'filling' });
  } catch (cause) {
    throw new Error(`${name} takes no tables: its user must be allowed to create a schema.`, { cause });
  }
  for (const { schema } of parts) await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(db);
  for (const part of parts) await migrateSchema({ db, ...part });
};

/** Rows are copied as they are: no trigger changes them, and references are checked when all rows are there. */
const withoutRules = async <T>(
  target: Transaction<unknown>,
  { tables }: Contents,
  schemas: readonly string[],
  work: () => Promise<T>,
): Promise<T> => {
  const references = await listReferences(target, schemas);
  for (const { table, name } of references)
    await sql`alter table ${sql.raw(table)} drop constraint ${sql.raw(name)}`.execute(target);
  for (const { name } of tables) await sql`alter table ${sql.raw(name)} disable trigger user`.execute(target);
  const done = await work();
  for (const { name } of tables) await sql`alter table ${sql.raw(name)} enable trigger user`.execute(target);
  for (const { table, name, definition } of references)
    await sql`alter table ${sql.raw(table)} add constraint ${sql.raw(name)} ${sql.raw(definition)}`.execute(target);
  return done;
};

const copyTables = async (ends: Ends, { tables, sequences }: Contents, say: MoveRequest['say']) => {
  const moved: MovedTable[] = [];
  for (const table of tables) {
    // Migrations write first rows, which the source has too.
    await sql`delete from ${sql.raw(table.name)}`.execute(ends.target);
    const note = (rows: number): void => say(`copying ${table.name}: ${rows} rows`);
    moved.push({ name: table.name, rows: await copyRows(ends, table, note) });
  }
  for (const sequence of sequences) await copySequence(ends, sequence);
  return moved;
};

const assertCopied = async (ends: Ends, { tables }: Contents, say: MoveRequest['say']): Promise<void> => {
  for (const table of tables) {
    say(`comparing ${table.name}`);
    if (await haveSameRows(ends, table)) continue;
    const [source, target] = [await countRows(ends.source, table), await countRows(ends.target, table)];
    throw new Error(
      `The copy of ${table.name} differs from the source (${source} rows there, ${target} here). Nothing was moved; the source is as it was.`,
    );
  }
};

/** Null: there is no ledger. */
const verifyCopiedAudit = async (target: Transaction<unknown>, parts: readonly Part[]): Promise<ChainHead | null> => {
  if (!parts.some(({ schema }) => schema === ledgerSchema)) return null;
  const db = (target as unknown as Transaction<LedgerTables>).withSchema(ledgerSchema);
  const { head, fault } = await verifyAudit({ db });
  if (fault === null) return head;
  throw new Error(
    `The audit chain has a fault at entry ${fault.seq}: ${fault.message}. The source has the same fault; nothing was moved. See \`guestlist audit verify\`.`,
  );
};

type Copied = Pick<Moved, 'tables' | 'audit'>;

const fill = async (
  { source, contents, parts }: Held,
  to: End,
  mark: Omit<Mark, 'at' | 'stage'>,
  say: MoveRequest['say'],
): Promise<Copied> => {
  await makeTarget(to, parts, mark);
  return to.db.transaction().execute(async (target) => {
    await takeLock(target);
    await setFormats(target);
    const schemas = namesOf(parts);
    assertSameTables(contents, await readContents(target, schemas));
    const ends = { source, target };
    const tables = await withoutRules(target, contents, schemas, () => copyTables(ends, contents, say));
    await assertCopied(ends, contents, say);
    say('verifying the audit');
    const audit = await verifyCopiedAudit(target, parts);
    await writeMark(target, { ...mark, stage: 'filled' });
    return { tables, audit };
  });
};

/** Replicas may run meanwhile: the rows are counted, not held. */
const countAll = (from: End, parts: readonly Part[]): Promise<Outcome> =>
  from.db.transaction().execute(async (source) => {
    const { contents } = await readSource(source, parts);
    const tables: MovedTable[] = [];
    for (const table of contents.tables) tables.push({ name: table.name, rows: await countRows(source, table) });
    return { outcome: 'dry', tables, sequences: contents.sequences.length, audit: null };
  });

const complete = (to: End, mark: Pick<Mark, 'id' | 'other'>): Promise<void> =>
  writeMark(to.db, { ...mark, stage: 'complete' });

/** Finishes a move that was cut off after its copy. Returns whether the move has ended, now or earlier. */
const finishEarlier = async (from: End, to: End, moved: Mark): Promise<boolean> => {
  const mark = await findMark(to.db);
  if (mark?.id !== moved.id || mark.stage === 'moved') return false;
  if (mark.stage === 'filled') await complete(to, { id: moved.id, other: from.name });
  return true;
};

type Outcome = Omit<Moved, 'from' | 'to' | 'durationInMs'>;

const nothing = { tables: [], sequences: 0, audit: null } as const;

const copyBetween = async (from: End, to: End, parts: readonly Part[], say: MoveRequest['say']): Promise<Outcome> => {
  await assertNoSessions(to, to.db);
  const id = randomUUID();
  const copied = await from.db.transaction().execute(async (source) => {
    const held = await holdSource(from, source, parts);
    const filled = await fill(held, to, { id, other: from.name }, say);
    const { tables, sequences } = held.contents;
    const names = tables.map(({ name }) => name);
    await closeSource(source, names, { id, other: to.name });
    return { ...filled, sequences: sequences.length };
  });
  await complete(to, { id, other: from.name });
  return { outcome: 'now', ...copied };
};

/** `openTarget` is called when the source has been found fit. Resolves to null if a dry run needs no target. */
const moveFrom = async (
  from: End,
  openTarget: () => Promise<End | null>,
  request: MoveRequest,
  assertKey: (db: Kysely<Tables>) => Promise<void>,
): Promise<Outcome> => {
  const { parts = productParts, isDry, say } = request;
  const mark = await findMark(from.db);
  if (mark?.stage === 'moved' && !isDry) {
    const target = await openTarget();
    if (target !== null && (await finishEarlier(from, target, mark))) return { outcome: 'before', ...nothing };
  }
  assertUsable(from.name, mark);
  const there = await findParts(from, parts);
  await assertNothingElse(from, parts);
  await assertKey(from.metadata.database.connect<Tables>());
  const to = await openTarget();
  if (to !== null) await assertTargetFree(to, from, parts);
  return isDry || to === null ? countAll(from, there) : copyBetween(from, to, there, say);
};

const assertPlaces = ({ from, to }: MoveRequest, { settings }: Pick<Config, 'settings'>): void => {
  if (nameOf(from) === nameOf(to))
    throw new Error(`Source and target are the same, ${nameOf(to)}: name the other one with --from or --to.`);
  const dataDir = resolve(settings.dataDir);
  for (const place of [from, to])
    if (place.kind === 'folder' && place.dataDir !== dataDir)
      throw new Error(
        `${place.dataDir} is not the data folder of this configuration, ${dataDir}, which also has the keys and the uploaded files. Set GUESTLIST_DATA_DIR to it.`,
      );
};

/**
 * Moves all metadata from one place to the other, and compares every row. No process may run on either. Rejects with an
 * Error that says what to do; the source is then as it was.
 */
export const moveMetadata = async (
  config: Pick<Config, 'settings' | 'secrets' | 'isDemo'>,
  request: MoveRequest,
  surroundings: Pick<MetadataOptions, 'clock' | 'log'>,
): Promise<Moved> => {
  const { from: source, to: target, service, isDry } = request;
  assertPlaces(request, config);
  await assertSourceThere(request);
  await assertTargetFolder(request);
  const { keyRing: ring, keySource } = await loadCredentials(config.settings.dataDir, config.secrets);
  const opening = { ...openingOf(config, ring), ...surroundings };
  const startedMs = performance.now();
  const opened: End[] = [];
  const open = async (place: Place): Promise<End> => {
    const end = await openEnd(place, service, opening);
    opened.push(end);
    return end;
  };
  const folder = folderAt(target, service);
  const openTarget = async (): Promise<End | null> => {
    // Opening a folder would create a database in it.
    if (isDry && folder !== null && (await isEmptyFolder(folder))) return null;
    return opened.find(({ place }) => place === target) ?? open(target);
  };
  try {
    const assertKey = (db: Kysely<Tables>): Promise<void> =>
      assertKeyOpens(db, { ring, keySource, columns: sealedColumns });
    const outcome = await moveFrom(await open(source), openTarget, request, assertKey);
    if (!isDry) for (const { metadata } of opened) metadata.startMarking();
    const durationInMs = performance.now() - startedMs;
    return { from: nameOf(source), to: nameOf(target), durationInMs, ...outcome };
  } finally {
    await closeAll(opened.map(({ metadata }) => metadata.database.close));
  }
};
