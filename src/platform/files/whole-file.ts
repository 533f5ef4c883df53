/** Files that appear whole or not at all. */
import { link, mkdir, open, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileFault } from './file-faults.js';

/** Flushes the entries of new files. */
export const flushFolder = async (folder: string): Promise<void> => {
  const opened = await open(folder, 'r');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
};

const isSystemError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';

/**
 * Writes a new file that only its owner can read: first under another name, flushed, then under its own. Throws, and
 * leaves nothing behind, if the path exists, if the disk does not take the file, or if the stream fails. `by` tells
 * writers of one file apart, where they are not all of this machine.
 */
export const writeWhole = async (
  path: string,
  content: AsyncIterable<Buffer>,
  by: string = String(process.pid),
): Promise<void> => {
  const file = resolve(path);
  const draft = `${file}.${by}.part`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const opened = await open(draft, 'w', 0o600);
    try {
      for await (const part of content) await opened.writeFile(part);
      await opened.sync();
    } finally {
      await opened.close();
    }
    // Unlike a rename, a link never replaces a file.
    await link(draft, file);
    await flushFolder(dirname(file));
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')
      throw new Error(`${file} exists already, and nothing was written: name another file.`, { cause });
    throw isSystemError(cause) ? await fileFault(file, 'written', cause) : cause;
  } finally {
    await rm(draft, { force: true });
  }
};
