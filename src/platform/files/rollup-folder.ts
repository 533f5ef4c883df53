/**
 * Where rollups are kept: a folder for each one, with immutable files of its periods, and one manifest that says which of
 * them are in force. A manifest is replaced by a rename, so a reader has either the earlier version or the later one,
 * and a builder that was killed leaves the earlier one. Replicas share the folder; one builder writes at a time.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Rollup } from '../../model/datamart/datamart.js';
import { Refusal } from '../../model/refusal.js';
import { repeat, type Timing } from '../work/time.js';
import { orMissing } from './missing.js';

const keptFile = z.strictObject({
  file: z.string().regex(/^[0-9a-z.-]+$/),
  rows: z.number(),
  bytes: z.number(),
  /** The first and the last client that it has rows of, in the order of the column's type; null: rows of any client. */
  clients: z.tuple([z.string(), z.string()]).nullable(),
});

const partition = z.strictObject({
  /** The first day of the period, and of the next one. The first partition also has all earlier rows. */
  from: z.string(),
  to: z.string(),
  files: z.array(keptFile),
  /** Rows of the source that the files were made of. */
  sourceRows: z.number(),
  /** Changes with the number of those rows and with sums over them. */
  mark: z.string(),
  builtAt: z.string(),
});

const manifest = z.strictObject({
  /** A random name of this version. Part of the keys of cached answers. */
  version: z.string(),
  hash: z.string(),
  /** All rows before this day are in the files. */
  closedUntil: z.string(),
  checkedAt: z.string(),
  /** The column that says whose a row is; null: there is none. */
  clientColumn: z.string().nullable(),
  partitions: z.array(partition),
  /** Files that readers of an earlier version may still open. */
  retired: z.array(z.strictObject({ file: z.string(), at: z.string() })),
  /** The erased clients whose rows are not in the files: as `erasedMark` writes them. */
  erased: z.array(z.string()),
});

export type Manifest = z.output<typeof manifest>;
export type Partition = Manifest['partitions'][number];
export type KeptFile = Partition['files'][number];

export const filesOf = (partitions: readonly Partition[]): readonly string[] =>
  partitions.flatMap(({ files }) => files.map(({ file }) => file));

/** The folder of a rollup. Names of datamarts and rollups may be any text. */
export const folderOf = (root: string, datamartId: string, { name }: Pick<Rollup, 'name'>): string =>
  join(
    root,
    createHash('sha256')
      .update(JSON.stringify([datamartId, name]))
      .digest('hex'),
  );

const manifestFile = 'manifest.json';

/** Undefined: there is none, or it is of another release. */
export const readManifest = async (folder: string): Promise<Manifest | undefined> => {
  const text = await orMissing(readFile(join(folder, manifestFile), 'utf8'));
  return text === undefined ? undefined : manifest.safeParse(JSON.parse(text)).data;
};

/** Changes with each manifest; null: there is none. */
export const stampOf = async (folder: string): Promise<string | null> => {
  const found = await orMissing(stat(join(folder, manifestFile), { bigint: true }));
  return found === undefined ? null : `${found.ino}:${found.mtimeNs}:${found.size}`;
};

const sync = async (path: string): Promise<void> => {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Writes under another name, and renames it once its bytes are on the disk. */
const publish = async (folder: string, name: string, text: string): Promise<void> => {
  const made = join(folder, `.${name}.${randomUUID()}`);
  const file = await open(made, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(made, join(folder, name));
  await sync(folder);
};

export const publishManifest = (folder: string, made: Manifest): Promise<void> =>
  publish(folder, manifestFile, JSON.stringify(made));

export type WrittenFile = Pick<KeptFile, 'rows' | 'clients'> & { readonly path: string };

/** Gives files of a period their names, once their bytes are on the disk. */
export const publishFiles = async (
  folder: string,
  start: string,
  written: readonly WrittenFile[],
): Promise<readonly KeptFile[]> => {
  const files: KeptFile[] = [];
  for (const { path, rows, clients } of written) {
    const file = `${start}-${randomUUID()}.parquet`;
    await sync(path);
    await rename(path, join(folder, file));
    const { size: bytes } = await stat(join(folder, file));
    files.push({ file, rows, bytes, clients });
  }
  return files;
};

export const removeFile = async (folder: string, file: string): Promise<void> => {
  await orMissing(unlink(join(folder, file)));
};

/** No rollup of this declaration is in force any more. */
export const removeManifest = (folder: string): Promise<void> => removeFile(folder, manifestFile);

/** What a build that was killed has left is no younger than this. */
export const strayMs = 3_600_000;

/** Removes what no manifest names and is older than `ageMs`: files of a killed build. */
export const removeStrays = async (
  folder: string,
  kept: ReadonlySet<string>,
  { now, ageMs }: { readonly now: Date; readonly ageMs: number },
): Promise<void> => {
  for (const file of await readdir(folder)) {
    if (kept.has(file) || file === manifestFile || file === lockFile) continue;
    const found = await orMissing(stat(join(folder, file)));
    if (found !== undefined && now.getTime() - found.mtimeMs >= ageMs)
      await rm(join(folder, file), { recursive: true, force: true });
  }
};

const erasedFile = 'erased.json';
const erasedList = z.array(z.string().regex(/^[0-9a-f]{64}$/));

/** The list of erased clients names none: each stands there by its hash. */
export const erasedMark = (clientId: string): string => createHash('sha256').update(clientId).digest('hex');

/** The clients that were erased. Throws if the list cannot be read: it must never be taken for an empty one. */
export const readErased = async (root: string): Promise<readonly string[]> => {
  const text = await orMissing(readFile(join(root, erasedFile), 'utf8'));
  return text === undefined ? [] : erasedList.parse(JSON.parse(text));
};

export const writeErased = (root: string, erased: readonly string[]): Promise<void> =>
  publish(root, erasedFile, JSON.stringify(erased));

/** The folders of all rollups. */
export const listFolders = async (root: string): Promise<readonly string[]> => {
  const names = (await orMissing(readdir(root))) ?? [];
  return names.filter((name) => /^[0-9a-f]{64}$/.test(name)).map((name) => join(root, name));
};

/** Removes the files of a rollup that no datamart declares any more. */
export const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

const lockFile = 'lock';
const beatMs = 10_000;
/** A lock whose owner has not touched it for so long is one of a process that was killed. */
const staleMs = 60_000;

export type Lock = {
  /** Throws if another process has taken the lock, for which this one was too slow. */
  readonly assertHeld: () => Promise<void>;
};

const busy = (): Refusal =>
  new Refusal('METRIC_QUERY_ERROR', 'Another process builds this rollup. Retry once it has ended.', {
    reason: 'rollup-busy',
  });

const take = async (path: string, owner: string): Promise<boolean> => {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(owner);
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};

/** Removes the lock of a killed process. Only one of several processes that see it takes it away. */
const takeAway = async (path: string, owner: string, now: Date): Promise<void> => {
  const [found, held] = [await orMissing(stat(path)), await orMissing(readFile(path, 'utf8'))];
  if (found === undefined || held === undefined || now.getTime() - found.mtimeMs <= staleMs) return;
  const aside = `${path}.${owner}`;
  await orMissing(rename(path, aside));
  const taken = await orMissing(readFile(aside, 'utf8'));
  // Between the look and the rename, another process may have taken the lock anew.
  if (taken !== undefined && taken !== held) await orMissing(rename(aside, path));
  else await orMissing(unlink(aside));
};

/**
 * Runs the work while this process alone writes in the folder. Throws METRIC_QUERY_ERROR with the reason `rollup-busy`
 * where another one does.
 */
export const withLock = async <R>(
  folder: string,
  { now, timing }: { readonly now: () => Date; readonly timing: Timing },
  work: (lock: Lock) => Promise<R>,
): Promise<R> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, lockFile);
  const owner = randomUUID();
  if (!(await take(path, owner))) {
    await takeAway(path, owner, now());
    if (!(await take(path, owner))) throw busy();
  }
  const isOwn = async (): Promise<boolean> => (await orMissing(readFile(path, 'utf8'))) === owner;
  const touch = async (): Promise<void> => {
    const at = now();
    if (await isOwn()) await orMissing(utimes(path, at, at));
  };
  const stop = repeat(timing, beatMs, () => touch().catch(() => undefined));
  try {
    return await work({
      assertHeld: async () => {
        if (!(await isOwn())) throw busy();
      },
    });
  } finally {
    await stop();
    if (await isOwn()) await orMissing(unlink(path));
  }
};
