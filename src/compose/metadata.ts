/**
 * Opens the metadata database. The embedded one is compared with its high-water mark: if it lost acknowledged writes,
 * the start is refused until an operator accepts the loss.
 */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { AuditEvent } from '../gateway/audit/audit.js';
import type { LedgerTables } from '../gateway/ledger/tables.js';
import { handled } from '../model/handled.js';
import type { Clock } from '../model/ports.js';
import { placeOf } from '../platform/addresses/database-url.js';
import type { Config } from '../platform/config/config.js';
import { type Database, type DatabaseOptions, openDatabase } from '../platform/databases/database.js';
import { openDatabaseClock, readDatabaseTime, tolerableSkewMs } from '../platform/databases/database-clock.js';
import { answerSnapshots } from '../platform/databases/embedded-snapshot.js';
import { assertUsable, findMark } from '../platform/databases/move/mark.js';
import {
  type HighWaterMark,
  type MarkKey,
  MarkUnreadable,
  markFileOf,
  markKeyOf,
  readMark,
  writeMark,
} from '../platform/keys/high-water-mark.js';
import type { KeyRing } from '../platform/keys/sealing.js';
import type { Log } from '../platform/logs/log.js';
import { closeAll } from '../platform/work/close-all.js';
import { systemClock } from '../platform/work/time.js';
import { findHead, findLoss, findLossInFiles, isUnused, type Loss, loadWrittenLsn } from './metadata-loss.js';

export type MetadataOptions = Omit<DatabaseOptions, 'log'> & {
  /** Keys of the mark, of which the first signs it; null: the mark is not signed. */
  readonly markKey: MarkKey;
  /** Whether an operator has accepted the loss. */
  readonly acceptsLoss: boolean;
  readonly clock: Clock;
  readonly log: Log;
};

export type Metadata = {
  /** Its `close` writes the mark for the last time. */
  readonly database: Database;
  /** The loss that was accepted; null if there was none. */
  readonly loss: Loss | null;
  /**
   * Starts updating the mark, and answering backups. Call it after the accepted loss is in the audit: until then, the old mark must stay, so
   * that a crash does not hide the loss.
   */
  readonly startMarking: () => void;
};

/** The database has lost writes. `message` says what is missing and what to do. */
class LossFound extends Error {
  override readonly name = 'LossFound';
}

/** The start would begin anew beside the metadata of the data folder. `message` says what to do. */
class EmptyStart extends Error {
  override readonly name = 'EmptyStart';
}

/** Interval in milliseconds at which the mark is updated. A loss of writes younger than this is not noticed. */
const markEveryMs = 250;

const entriesOf = ({ firstEntry, lastEntry }: Loss): string =>
  typeof firstEntry === 'number' ? ` (${firstEntry} to ${String(lastEntry)})` : '';

const refuse = (folder: string, loss: Loss): LossFound => {
  const when = typeof loss.markedAt === 'string' ? `, which was written at ${loss.markedAt}` : '';
  return new LossFound(
    `The embedded database in ${folder} is behind its high-water mark ${markFileOf(folder)}${when}: ${String(loss.why)}${entriesOf(loss)}. ` +
      'Files were cut, deleted or replaced by older ones, and later acknowledged writes are lost. ' +
      'Restore the folder and its mark together from a backup; or continue without the missing data by `guestlist serve --accept-loss`, which the audit records.',
  );
};

type Marks = { readonly write: (isBehind: HighWaterMark | null) => Promise<void> };

const createMarks = (
  database: Database,
  folder: string,
  { markKey, clock, isFlushed = true }: MetadataOptions,
): Marks => {
  const db = database.connect<LedgerTables>();
  const file = markFileOf(folder);
  return {
    write: async (behind) => {
      if (behind !== null) return writeMark(file, { ...behind, isBehind: true }, markKey, isFlushed);
      const lsn = await loadWrittenLsn(db);
      const mark = {
        version: 1,
        at: clock.now().toISOString(),
        lsn,
        audit: await findHead(db),
        isBehind: false,
      } as const;
      return writeMark(file, mark, markKey, isFlushed);
    },
  };
};

/** Updates the mark after writes, and logs once if that fails. */
const follow = ({ writes }: Database, marks: Marks, log: Log) => {
  let marked = -1;
  let running = Promise.resolve();
  let isFailing = false;
  const mark = async (): Promise<void> => {
    const now = writes?.() ?? 0;
    if (now === marked) return;
    try {
      await marks.write(null);
      marked = now;
      isFailing = false;
    } catch (err) {
      if (!isFailing) log.warn({ event: 'mark.write_failed', err }, 'failed to write the high-water mark');
      isFailing = true;
    }
  };
  const next = (): Promise<void> => {
    running = handled(running.then(mark));
    return running;
  };
  const timer = setInterval(next, markEveryMs);
  timer.unref();
  void next();
  return async (): Promise<void> => {
    clearInterval(timer);
    await next();
  };
};

const withMarks = (
  database: Database,
  marks: Marks,
  loss: Loss | null,
  { folder, log }: { readonly folder: string; readonly log: Log },
): Metadata => {
  let end: (() => Promise<void>) | undefined;
  return {
    database: {
      ...database,
      close: () => closeAll([async () => end?.(), database.close]),
    },
    loss,
    startMarking: () => {
      if (end !== undefined) return;
      const endMarks = follow(database, marks, log);
      const endSnapshots = answerSnapshots(folder, database.connect<unknown>(), log);
      end = () => closeAll([endSnapshots, endMarks]);
    },
  };
};

const tryReadMark = async (folder: string, { markKey, acceptsLoss }: MetadataOptions) => {
  try {
    return { mark: await readMark(markFileOf(folder), markKey), unreadable: null };
  } catch (error) {
    if (!(error instanceof MarkUnreadable)) throw error;
    const loss: Loss = { why: error.message };
    if (acceptsLoss) return { mark: undefined, unreadable: loss };
    throw new LossFound(
      `${error.message}: whether the embedded database in ${folder} is complete cannot be determined. Restore the file or the key; or continue by \`guestlist serve --accept-loss\`, which the audit records.`,
      { cause: error },
    );
  }
};

const openEmbedded = async (folder: string, options: MetadataOptions): Promise<Metadata> => {
  const { acceptsLoss, log } = options;
  const { mark, unreadable } = await tryReadMark(folder, options);
  const inFiles = unreadable ?? (await findLossInFiles(folder, mark));
  if (inFiles !== null && !acceptsLoss) throw refuse(folder, inFiles);
  const database = await openDatabase(options);
  const marks = createMarks(database, folder, options);
  try {
    const loss = inFiles ?? (mark === undefined ? null : await findLoss(database, mark));
    if (loss !== null && !acceptsLoss) {
      if (mark !== undefined) await marks.write(mark);
      throw refuse(folder, loss);
    }
    if (loss !== null)
      log.warn(
        { event: 'loss.accepted', ...loss },
        'the embedded database lost acknowledged writes; continuing without them',
      );
    else if (acceptsLoss)
      log.warn({ event: 'loss.not_found' }, 'the embedded database lost nothing; remove --accept-loss');
    return withMarks(database, marks, loss, { folder, log });
  } catch (error) {
    await database.close();
    throw error;
  }
};

/**
 * Opens the metadata database, also one that a move has emptied or not filled: for a move. Throws LossFound if
 * acknowledged writes are missing, and every error of `openDatabase`.
 */
export const openUnmarked = async (options: MetadataOptions): Promise<Metadata> => {
  if (options.databaseUrl === null && options.folder !== null) return openEmbedded(resolve(options.folder), options);
  return { database: await openDatabase(options), loss: null, startMarking: () => {} };
};

const closingIfRefused = async (metadata: Metadata, check: () => Promise<void>): Promise<Metadata> => {
  try {
    await check();
    return metadata;
  } catch (error) {
    await metadata.database.close();
    throw error;
  }
};

/** Opens the metadata database. Throws NotUsable after a move, and every error of `openUnmarked`. */
export const openMetadata = async (options: MetadataOptions): Promise<Metadata> => {
  const { databaseUrl, folder } = options;
  const here = databaseUrl === null ? dirname(resolve(folder ?? '')) : placeOf(databaseUrl);
  const metadata = await openUnmarked(options);
  return closingIfRefused(metadata, async () => assertUsable(here, await findMark(metadata.database.connect())));
};

/** The folder of the embedded database. A gateway alone has one of its own. */
export const folderOf = (dataDir: string, { service }: { readonly service: boolean }): string =>
  join(dataDir, service ? 'metadata' : 'gateway');

/** How databases are opened by the configuration. */
export const openingOf = (
  { settings, isDemo }: Pick<Config, 'settings' | 'isDemo'>,
  keyRing: KeyRing,
): Required<Pick<MetadataOptions, 'isFlushed' | 'markKey'>> => ({
  isFlushed: settings.embeddedDatabase.flush ?? !isDemo,
  markKey: markKeyOf(keyRing),
});

/**
 * Throws EmptyStart if a start would begin anew in an empty database although the data folder holds an embedded one,
 * whose tenants and keys nobody would find.
 */
const assertNotForgotten = async (database: Database, folder: string, databaseUrl: string): Promise<void> => {
  if (!existsSync(join(folder, 'PG_VERSION')) || !(await isUnused(database))) return;
  const place = placeOf(databaseUrl);
  throw new EmptyStart(
    `The database ${place} is empty, but ${folder} has metadata of this installation. Run \`guestlist move --from ${dirname(folder)}\` to copy it to ${place}; if it was moved already, DATABASE_URL names another database than the target of that move. ` +
      'If an empty start is meant, run `guestlist serve --accept-empty` once.',
  );
};

/** Returns the audit entries for accepted losses. */
export const lossEvents = (...losses: readonly (Loss | null)[]): readonly AuditEvent[] =>
  losses.flatMap((detail) => (detail === null ? [] : [{ kind: 'admin', code: 'LOSS_ACCEPTED', detail }]));

/** The time that leases and due moments go by, and what `/readyz` says of it. */
type CommonClock = {
  /** The metadata server's time, if there is a server: replicas share it. A clock that a test gave is the time of all. */
  readonly commonClock: Clock;
  readonly warnings: () => { readonly clockSkewMs?: number };
};

const openCommonClock = async (
  database: Database,
  { clock, log }: Pick<MetadataOptions, 'clock' | 'log'>,
): Promise<CommonClock & { readonly close: () => Promise<void> }> => {
  if (database.kind === 'pglite' || clock !== systemClock)
    return { commonClock: clock, warnings: () => ({}), close: async () => {} };
  const read = () => readDatabaseTime(database.connect());
  const { clock: commonClock, skewMs, close } = await openDatabaseClock({ read, clock, log });
  const warnings = () => (Math.abs(skewMs()) > tolerableSkewMs ? { clockSkewMs: skewMs() } : {});
  return { commonClock, warnings, close };
};

export type ConfiguredMetadata = Metadata & CommonClock & { readonly close: () => Promise<void> };

/**
 * Opens the database by the configuration. `keyRing` has the keys that encrypt the credentials of datasources.
 */
export const openConfiguredMetadata = async (
  { settings, isDemo }: Pick<Config, 'settings' | 'isDemo'>,
  halves: { readonly service: boolean; readonly acceptsLoss?: boolean; readonly acceptsEmpty?: boolean },
  keyRing: KeyRing,
  surroundings: Pick<MetadataOptions, 'clock' | 'log'>,
): Promise<ConfiguredMetadata> => {
  const { databaseUrl } = settings;
  const folder = folderOf(settings.dataDir, halves);
  const metadata = await openMetadata({
    ...openingOf({ settings, isDemo }, keyRing),
    databaseUrl,
    folder,
    acceptsLoss: halves.acceptsLoss ?? false,
    ...surroundings,
  });
  const { database } = metadata;
  try {
    // The demo makes its data anew.
    if (databaseUrl !== null && !isDemo && halves.acceptsEmpty !== true)
      await assertNotForgotten(database, resolve(folder), databaseUrl);
    const { close, ...common } = await openCommonClock(database, surroundings);
    return { ...metadata, ...common, close: () => closeAll([close, database.close]) };
  } catch (error) {
    await database.close();
    throw error;
  }
};
