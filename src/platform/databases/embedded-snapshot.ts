/**
 * Snapshots of an embedded database that a process has open. No other process may open its folder, so a backup asks the
 * process for a copy: it makes a folder in `snapshots` beside the database and writes its wish into it, and the process
 * copies the files between two statements. Who may write to the data folder could read it anyway.
 */
import { randomUUID } from 'node:crypto';
import { constants, copyFile, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Log } from '../../model/log-events.js';
import { repeat, systemTiming } from '../work/time.js';

const lookEveryMs = 250;
const snapshotsOf = (folder: string): string => join(dirname(folder), 'snapshots');
const wishOf = (folder: string): string => `${basename(folder)}.wanted`;
const takenOf = (folder: string): string => `${basename(folder)}.taken`;
const failed = 'failed';

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

/** Shares the blocks where the file system can. */
const copyFolder = async (from: string, to: string): Promise<void> => {
  await mkdir(to, { mode: 0o700 });
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const source = join(entry.parentPath, entry.name);
    const target = join(to, relative(from, source));
    if (entry.isDirectory()) await mkdir(target, { recursive: true, mode: 0o700 });
    else if (entry.isFile()) await copyFile(source, target, constants.COPYFILE_FICLONE);
  }
};

/** PGlite has one connection and no other processes: while this holds it, nothing writes to the files. */
const copyBetweenStatements = (db: Kysely<unknown>, folder: string, to: string): Promise<void> =>
  db.connection().execute(async (held) => {
    await sql`checkpoint`.execute(held);
    await copyFolder(folder, to);
  });

const listWishes = async (folder: string): Promise<readonly string[]> => {
  const snapshots = snapshotsOf(folder);
  const names = await readdir(snapshots).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  });
  return names.map((name) => join(snapshots, name));
};

/** Takes over the wish. Returns whether there was one. */
const take = async (folder: string, wished: string): Promise<boolean> => {
  try {
    await rename(join(wished, wishOf(folder)), join(wished, takenOf(folder)));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return false;
    throw error;
  }
};

/** Makes the snapshots that others ask for, until the returned function is called. */
export const answerSnapshots = (folder: string, db: Kysely<unknown>, log: Pick<Log, 'info' | 'warn'>) => {
  const copy = async (wished: string): Promise<void> => {
    const startedMs = performance.now();
    const draft = join(wished, `${basename(folder)}.part`);
    try {
      await copyBetweenStatements(db, folder, draft);
      await rename(draft, join(wished, basename(folder)));
      const durationInMs = Math.round(performance.now() - startedMs);
      log.info({ event: 'snapshot.taken', durationInMs }, 'copied the embedded database for a backup');
    } catch (err) {
      log.warn({ event: 'snapshot.failed', err }, 'failed to copy the embedded database for a backup');
      await rm(draft, { recursive: true, force: true });
      await writeFile(join(wished, failed), err instanceof Error ? err.message : String(err));
    }
  };
  return repeat(systemTiming, lookEveryMs, async () => {
    try {
      for (const wished of await listWishes(folder)) if (await take(folder, wished)) await copy(wished);
    } catch (err) {
      log.warn({ event: 'snapshot.failed', err }, 'failed to look for snapshots that backups ask for');
    }
  });
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
};

/** Removes the snapshots of backups that were killed. */
const removeLeft = async (folder: string): Promise<void> => {
  for (const left of await listWishes(folder)) {
    const pid = Number(basename(left).split('-')[0]);
    if (Number.isInteger(pid) && !isAlive(pid)) await rm(left, { recursive: true, force: true });
  }
};

const readIfThere = async (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });

const exists = async (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    (error: unknown) => {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    },
  );

const askEveryMs = 50;
const noticedMs = 30_000;
const copiedMs = 600_000;

const assertPatient = async (folder: string, own: string, waitedMs: number): Promise<void> => {
  const limitMs = waitedMs >= noticedMs && (await exists(join(own, takenOf(folder)))) ? copiedMs : noticedMs;
  if (waitedMs < limitMs) return;
  throw new Error(
    `The process that uses ${folder} made no copy of it within ${limitMs / 1_000} s. It is starting, or stopped, or of a version without backups: try again, or stop it first.`,
  );
};

const awaitCopy = async (folder: string, own: string): Promise<string> => {
  const copy = join(own, basename(folder));
  for (let waitedMs = 0; ; waitedMs += askEveryMs) {
    if (await exists(copy)) return copy;
    const reason = await readIfThere(join(own, failed));
    if (reason !== undefined)
      throw new Error(`The process that uses ${folder} could not copy its files for the backup: ${reason}`);
    await assertPatient(folder, own, waitedMs);
    await wait(askEveryMs);
  }
};

export type Snapshot = { readonly folder: string; readonly remove: () => Promise<void> };

/**
 * Asks the process that has the database in `folder` open for a copy of it, which no other process uses. Call `remove`
 * at the end. Throws if no process answers, or if the copy fails.
 */
export const askForSnapshot = async (folder: string): Promise<Snapshot> => {
  await removeLeft(folder);
  const own = join(snapshotsOf(folder), `${process.pid}-${randomUUID()}`);
  const remove = () => rm(own, { recursive: true, force: true });
  try {
    await mkdir(own, { recursive: true, mode: 0o700 });
    await writeFile(join(own, wishOf(folder)), '');
    return { folder: await awaitCopy(folder, own), remove };
  } catch (error) {
    await remove();
    throw error;
  }
};
