/** Makes a folder read-only under a process that has it open, root included. */
import { spawnSync } from 'node:child_process';

const mount = (...args: readonly string[]): boolean => spawnSync('mount', [...args]).status === 0;

/** Only root may. Says so loudly where it cannot, and answers undefined; otherwise what makes it writable again. */
export const makeReadOnly = (folder: string): (() => void) | undefined => {
  if (!mount('--bind', folder, folder)) {
    console.warn('NOTHING CAN BE MOUNTED HERE: THE TEST OF A READ-ONLY FOLDER IS SKIPPED');
    return undefined;
  }
  const undo = (): void => void spawnSync('umount', ['-l', folder]);
  if (mount('-o', 'remount,bind,ro', folder)) return undo;
  undo();
  throw new Error(`${folder} is being written to: make it read-only at another moment`);
};
