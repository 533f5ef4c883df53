/** Describes why a file cannot be used and how to fix it. */
import { stat } from 'node:fs/promises';

const codeOf = (cause: unknown): string | undefined =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;

const ownerOf = async (path: string): Promise<string> => {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return 'its folder does not let this process in';
  return `it belongs to user ${found.uid} with mode ${(found.mode & 0o777).toString(8)}`;
};

const userId = (): string => String(process.getuid?.() ?? 'of this session');

const describe = async (path: string, code: string): Promise<string | undefined> => {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `${await ownerOf(path)}, and this process runs as user ${userId()}. Give it to that user (chown -R ${userId()} ${path}), or start Guestlist as its owner.`;
    case 'EROFS':
      return 'its file system is mounted read-only. Mount it writable, or name another data folder (GUESTLIST_DATA_DIR).';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the disk is full. Free some space, then start again.';
    case 'ENOTDIR':
    case 'EEXIST':
      return 'a file stands where a folder is needed. Move the file away, or name another data folder (GUESTLIST_DATA_DIR).';
    case 'EIO':
      return 'the disk reports an error. Check the disk, and restore the data folder from a backup.';
    default:
      return undefined;
  }
};

/** Returns the error for a file or folder that could not be used. `what` is `read`, `written` or `opened`. */
export const fileFault = async (path: string, what: string, cause: unknown): Promise<Error> => {
  const code = codeOf(cause);
  const said = code === undefined ? undefined : await describe(path, code);
  const rest = said ?? 'check that the folder is there and that this process may use it.';
  return new Error(`${path} cannot be ${what}${code === undefined ? '' : ` (${code})`}: ${rest}`, { cause });
};
