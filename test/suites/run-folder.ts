import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** The folder of files that the tests of a run share. It is removed when the run ends. */
const runFolder = (): string => {
  const folder = process.env.GUESTLIST_TEST_FOLDER;
  if (folder === undefined) throw new Error('test/suites/run.ts was not set up');
  return folder;
};

/** Makes the file or folder `name` in the run's folder once for all processes, by `make`, and returns its path. */
export const madeOnce = async (name: string, make: (path: string) => Promise<void>): Promise<string> => {
  const path = join(runFolder(), name);
  const lock = `${path}.making`;
  while (!existsSync(path)) {
    const isOurs = await mkdir(lock).then(
      () => true,
      () => false,
    );
    if (isOurs) {
      const unfinished = `${path}.unfinished`;
      try {
        await make(unfinished);
        await rename(unfinished, path);
      } finally {
        await rm(lock, { recursive: true });
      }
    } else await wait(50);
  }
  return path;
};

/** The process of the run. */
export const runner = (): number => Number(process.env.GUESTLIST_TEST_RUN?.split('_')[0]);
