import { readdir } from 'node:fs/promises';
import { basename, dirname, extname } from 'node:path';

/** Names of the files in the same folder with the same extension: the databases of other clients. */
export const listNeighbours = async (path: string): Promise<readonly string[]> => {
  const end = extname(path);
  if (end === '') return [];
  const files = (await readdir(dirname(path))).filter((file) => extname(file) === end && file !== basename(path));
  return files.map((file) => basename(file, end)).sort();
};
