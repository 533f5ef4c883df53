/**
 * Moves the metadata of an installation between the embedded database and PostgreSQL, both ways. A move that is cut off
 * at any moment leaves the source as it was, and a target that no process starts on; the same move is then run again.
 */
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { ChainHead } from '../../gateway/audit/chain.js';
import type { Config } from '../../platform/config/config.js';
import { loadCredentials } from '../../platform/config/credentials.js';
import { readContents } from '../../platform/databases/move/catalog.js';
import { assertUsable, closeSource, findMark, type Mark, writeMark } from '../../platform/databases/move/mark.js';
import { nameOf, type Place } from '../../platform/databases/move/places.js';
import { countRows, databaseRows, type RowSource, setFormats } from '../../platform/databases/move/rows.js';
import { closeAll } from '../../platform/work/close-all.js';
import { assertKeyOpens } from '../../service/store/key-canary.js';
import type { Tables } from '../../service/store/tables.js';
import { type MetadataOptions, openingOf } from '../metadata.js';
import { sealedColumns } from '../reseal.js';
import {
  assertNoSessions,
  assertNothingElse,
  assertSourceThere,
  assertTargetFolder,
  assertTargetFree,
  type End,
  type FoundPart,
  findParts,
  folderAt,
  isEmptyFolder,
  namesOf,
  openEnd,
  type Part,
  productParts,
  type Say,
  takeLock,
} from './ends.js';
import { type CopiedTable, fill, verifyCopiedAudit } from './fill.js';

export type MoveRequest = {
  readonly from: Place;
  readonly to: Place;
  /** Which database of a data folder: that of a process with the service in it, or that of the gateway alone. */
  readonly service: boolean;
  /** Whether nothing is written. */
  readonly isDry: boolean;
  readonly say: Say;
  /** The schemas that are copied. Left out: those of the product. */
  readonly parts?: readonly Part[];
};

export type Moved = {
  readonly from: string;
  readonly to: string;
  /** `before`: an earlier run had copied everything. `dry`: nothing was written. */
  readonly outcome: 'now' | 'before' | 'dry';
  readonly tables: readonly CopiedTable[];
  readonly sequences: number;
  /** The verified head of the audit in the target; null if there is no audit, or nothing was copied. */
  readonly audit: ChainHead | null;
  readonly durationInMs: number;
};

const otherVersion = 'Run `guestlist move` of that version.';

/** The parts of the source. Throws if there is none, or if another version made them. */
const findMovable = async (from: End, parts: readonly Part[]): Promise<readonly FoundPart[]> => {
  const there = await findParts(from, parts, otherVersion);
  for (const { what, migrations, done } of there) {
    const missing = Object.keys(migrations).find((one) => !done.includes(one));
    if (missing !== undefined)
      throw new Error(
        `The ${what} in ${from.name} is of an earlier version of Guestlist: it lacks the migration ${missing}. Start this version on it once, stop it, then run this again.`,
      );
  }
  return there;
};

/** The source in a transaction. Nothing writes to its tables until the transaction ends. */
type Held = { readonly source: RowSource; readonly parts: readonly FoundPart[] };

const holdSource = async (from: End, transaction: Transaction<unknown>, parts: readonly FoundPart[]): Promise<Held> => {
  await takeLock(transaction);
  await setFormats(transaction);
  await assertNoSessions(from, transaction);
  const { tables } = await readContents(transaction, namesOf(parts));
  const names = tables.map(({ name }) => sql.raw(name));
  await sql`lock table ${sql.join(names)} in share row exclusive mode`.execute(transaction);
  return { source: databaseRows(transaction, await readContents(transaction, namesOf(parts))), parts };
};

/** Throws if the target holds anything that this move did not bring, with what to do. */
const assertFree = (to: End, from: End, parts: readonly Part[]): Promise<void> =>
  assertTargetFree(to, parts, (mark) => {
    const isOurs = mark.stage === 'filling' || mark.stage === 'filled';
    if (isOurs && mark.other !== from.name) assertUsable(to.name, mark);
    return isOurs;
  });

const auditOf = async (target: Transaction<unknown>, parts: readonly Part[], say: Say): Promise<ChainHead | null> => {
  const verified = await verifyCopiedAudit(target, parts, say);
  if (verified === null || verified.fault === null) return verified?.head ?? null;
  const { seq, message } = verified.fault;
  throw new Error(
    `The audit chain has a fault at entry ${seq}: ${message}. The source has the same fault; nothing was moved. See \`guestlist audit verify\`.`,
  );
};

/** Replicas may run meanwhile: the rows are counted, not held. */
const countAll = (from: End, parts: readonly Part[]): Promise<Outcome> =>
  from.db.transaction().execute(async (source) => {
    const contents = await readContents(source, namesOf(parts));
    const tables: CopiedTable[] = [];
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

const copyBetween = async (from: End, to: End, parts: readonly FoundPart[], say: Say): Promise<Outcome> => {
  await assertNoSessions(to, to.db);
  const id = randomUUID();
  const mark = { id, other: from.name };
  const copied = await from.db.transaction().execute(async (transaction) => {
    const held = await holdSource(from, transaction, parts);
    const { tables, finished: audit } = await fill(held, to, mark, {
      say,
      finish: async (target) => {
        const head = await auditOf(target, parts, say);
        await writeMark(target, { ...mark, stage: 'filled' });
        return head;
      },
    });
    const { contents } = held.source;
    const names = contents.tables.map(({ name }) => name);
    await closeSource(transaction, names, { id, other: to.name });
    return { tables, audit, sequences: contents.sequences.length };
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
  const there = await findMovable(from, parts);
  await assertNothingElse(from, parts, 'Run `guestlist move` of the version that made them.');
  await assertKey(from.metadata.database.connect<Tables>());
  const to = await openTarget();
  if (to !== null) await assertFree(to, from, parts);
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
  await assertSourceThere(source, service);
  await assertTargetFolder(target, service);
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
