/**
 * The folder of uploaded files. Each upload has a folder of its own, because files of one folder are offered as databases
 * of clients. No name that a caller sent is part of a path.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { Clock } from '../../model/ports.js';
import type { UploadedKind } from '../../model/upload.js';

const fileNames: Readonly<Record<UploadedKind, string>> = { tables: 'tables.duckdb', database: 'database.duckdb' };

const unfinished = '.unfinished';
/** Longer than a request may take. */
const unfinishedMs = 2 * 3_600_000;
const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

const createPlace = (folder: string) => {
  const finished = join(folder, randomUUID());
  const working = `${finished}${unfinished}`;
  const made = join(working, 'made');
  return {
    /** Where the file that arrives is written. */
    received: join(working, 'received'),
    /** Where the database that is made of it is written. */
    made,
    /** Moves the database to the place where a source reads it, and returns its path. */
    finish: async (kind: UploadedKind): Promise<string> => {
      await mkdir(finished, { mode: 0o700 });
      await rename(made, join(finished, fileNames[kind]));
      await rm(working, { recursive: true, force: true });
      return join(finished, fileNames[kind]);
    },
    /** Removes everything that this upload has written. */
    remove: async (): Promise<void> => {
      await rm(working, { recursive: true, force: true });
      await rm(finished, { recursive: true, force: true });
    },
  };
};

/** One upload on the server. All of its files are in a folder of its own. */
export type UploadPlace = ReturnType<typeof createPlace>;

const folderIn = (dataDir: string): string => join(dataDir, 'sources', 'uploads');

const uploadPath = new RegExp(`(?:^|[/\\\\])sources[/\\\\]uploads[/\\\\](${id})[/\\\\]((?:tables|database)\\.duckdb)$`);

/** The path of an upload as it is below any data folder, with `/`; undefined if the path is that of no finished upload. */
export const uploadPathOf = (path: string): string | undefined => {
  const [, name, file] = uploadPath.exec(path) ?? [];
  return name === undefined || file === undefined ? undefined : `sources/uploads/${name}/${file}`;
};

/** Whether the file at a path was uploaded, however the path is written. */
export const isUploadIn = async (dataDir: string, path: string): Promise<boolean> => {
  const [file, folder] = await Promise.all(
    [path, folderIn(dataDir)].map((one) => realpath(one).catch(() => undefined)),
  );
  return file !== undefined && folder !== undefined && file.startsWith(`${folder}${sep}`);
};

/**
 * The uploads below `dataDir`, in the folder whose files may be sources. Nothing outside of it is written or removed,
 * whatever a path says.
 */
export const createUploadFolder = (dataDir: string, clock: Clock) => {
  const folder = folderIn(dataDir);
  /** What the file at the path was made of. Undefined: the path is not that of a finished upload. */
  const kindOf = (path: string): UploadedKind | undefined => {
    const kinds = Object.keys(fileNames) as readonly UploadedKind[];
    return kinds.find((kind) => {
      const name = path.slice(folder.length + 1, -fileNames[kind].length - 1);
      return path === join(folder, name, fileNames[kind]) && new RegExp(`^${id}$`).test(name);
    });
  };
  return {
    kindOf,
    create: async (): Promise<UploadPlace> => {
      const place = createPlace(folder);
      await mkdir(dirname(place.received), { recursive: true, mode: 0o700 });
      return place;
    },
    /** Removes a finished upload. */
    remove: async (path: string): Promise<void> => {
      if (kindOf(path) !== undefined) await rm(dirname(path), { recursive: true, force: true });
    },
    /** Removes what uploads left that ended with their process. */
    removeUnfinished: async (): Promise<void> => {
      const names = await readdir(folder).catch(() => []);
      const working = new RegExp(`^${id}\\${unfinished}$`);
      for (const name of names.filter((one) => working.test(one))) {
        const { mtimeMs } = await stat(join(folder, name));
        if (clock.now().getTime() - mtimeMs > unfinishedMs)
          await rm(join(folder, name), { recursive: true, force: true });
      }
    },
  };
};

export type UploadFolder = ReturnType<typeof createUploadFolder>;
