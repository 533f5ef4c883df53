/**
 * The folder of uploaded files. Each upload has a folder of its own, because files of one folder are offered as databases
 * of clients. No name that a caller sent is part of a path.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { Clock } from '../domain/ports.js';
import type { UploadedKind, UploadFolder, UploadPlace } from '../domain/studio/upload.js';

const fileNames: Readonly<Record<UploadedKind, string>> = { tables: 'tables.duckdb', database: 'database.duckdb' };

const unfinished = '.unfinished';
/** Longer than a request may take. */
const unfinishedMs = 2 * 3_600_000;
const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

const createPlace = (folder: string): UploadPlace => {
  const finished = join(folder, randomUUID());
  const working = `${finished}${unfinished}`;
  const made = join(working, 'made');
  return {
    received: join(working, 'received'),
    made,
    finish: async (kind) => {
      await mkdir(finished, { mode: 0o700 });
      await rename(made, join(finished, fileNames[kind]));
      await rm(working, { recursive: true, force: true });
      return join(finished, fileNames[kind]);
    },
    remove: async () => {
      await rm(working, { recursive: true, force: true });
      await rm(finished, { recursive: true, force: true });
    },
  };
};

const folderIn = (dataDir: string): string => join(dataDir, 'sources', 'uploads');

/** Whether the file at a path was uploaded, however the path is written. */
export const isUploadIn = async (dataDir: string, path: string): Promise<boolean> => {
  const [file, folder] = await Promise.all(
    [path, folderIn(dataDir)].map((one) => realpath(one).catch(() => undefined)),
  );
  return file !== undefined && folder !== undefined && file.startsWith(`${folder}${sep}`);
};

/** The uploads below `dataDir`, in the folder whose files may be sources. */
export const createUploadFolder = (dataDir: string, clock: Clock): UploadFolder => {
  const folder = folderIn(dataDir);
  const kindOf = (path: string): UploadedKind | undefined => {
    const kinds = Object.keys(fileNames) as readonly UploadedKind[];
    return kinds.find((kind) => {
      const name = path.slice(folder.length + 1, -fileNames[kind].length - 1);
      return path === join(folder, name, fileNames[kind]) && new RegExp(`^${id}$`).test(name);
    });
  };
  return {
    kindOf,
    create: async () => {
      const place = createPlace(folder);
      await mkdir(dirname(place.received), { recursive: true, mode: 0o700 });
      return place;
    },
    remove: async (path) => {
      if (kindOf(path) !== undefined) await rm(dirname(path), { recursive: true, force: true });
    },
    removeUnfinished: async () => {
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
