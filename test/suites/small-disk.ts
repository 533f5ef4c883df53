/** A small file system of a test's own, that it may fill. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type SmallDisk = {
  readonly folder: string;
  readonly fill: () => void;
  /** Takes back what `fill` did. */
  readonly empty: () => Promise<void>;
  readonly remove: () => Promise<void>;
};

/** Only root may make one. Says so loudly where it cannot, and answers undefined. */
export const mountSmallDisk = async (megabytes: number): Promise<SmallDisk | undefined> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-full-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  if (status !== 0) {
    console.warn('NO tmpfs CAN BE MOUNTED HERE: THE TEST OF A FULL DISK IS SKIPPED');
    await removeFolder();
    return undefined;
  }
  // Beside what is tested: a folder of its own stays whole.
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
