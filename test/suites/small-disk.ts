/** A small file system that a test can fill. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type SmallDisk = {
  readonly folder: string;
  readonly fill: () => void;
  /** Removes what `fill` wrote. */
  readonly empty: () => Promise<void>;
  readonly remove: () => Promise<void>;
};

/** Mounts a small disk. Needs root; without it, warns and returns undefined. */
export const mountSmallDisk = async (megabytes: number): Promise<SmallDisk | undefined> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-full-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  if (status !== 0) {
    console.warn('NO tmpfs CAN BE MOUNTED HERE: THE TEST OF A FULL DISK IS SKIPPED');
    await removeFolder();
    return undefined;
  }
  // The filler is in another folder than the tested files.
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: () => void spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k']),
    empty: () => rm(filler, { force: true }),
    remove: async () => {
      spawnSync('umount', ['-l', folder]);
      await removeFolder();
    },
  };
};
