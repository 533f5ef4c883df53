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

/** Whether this process took the lock; false if another one has it. */
const take = async (lock: string): Promise<boolean> => {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
};

/** Makes the file or folder `name` in the run's folder once for all processes, by `make`, and returns its path. */
export const madeOnce = async (name: string, make: (path: string) => Promise<void>): Promise<string> => {
  const path = join(runFolder(), name);
  const lock = `${path}.making`;
  while (!existsSync(path)) {
    if (!(await take(lock))) {
      await wait(50);
      continue;
    }
    const unfinished = `${path}.unfinished`;
    try {
      // Another process may have made it before the lock was taken, or may have failed half-way.
      if (existsSync(path)) return path;
      await rm(unfinished, { recursive: true, force: true });
      await make(unfinished);
      await rename(unfinished, path);
    } finally {
      await rm(lock, { recursive: true });
    }
  }
  return path;
};

/** The process of the run. */
export const runner = (): number => Number(process.env.GUESTLIST_TEST_RUN?.split('_')[0]);
