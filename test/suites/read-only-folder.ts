/** Makes a folder read-only while a process has it open, even for root. */
import { spawnSync } from 'node:child_process';

const mount = (...args: readonly string[]): boolean => spawnSync('mount', [...args]).status === 0;

/** Returns a function that makes the folder writable again. Needs root; without it, warns and returns undefined. */
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
