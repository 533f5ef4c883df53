/** Reports when files may have changed. Polls their stamps too, because system events miss renames and mounted folders. */
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Runs a task every `ms` milliseconds until the returned function is called. */
export type Every = (ms: number, task: () => void) => () => void;

/** The timer does not keep the process alive. */
const every: Every = (ms, task) => {
  const timer = setInterval(task, ms);
  timer.unref();
  return () => clearInterval(timer);
};

export type FileWatchOptions = {
  readonly every?: Every | undefined;
  readonly pollMs?: number | undefined;
  /** If false, files are only polled. */
  readonly hasEvents?: boolean | undefined;
  /** Called if a file may have changed. The caller then reads the files. */
  readonly onChange: () => void;
};

export type FileWatch = {
  /** Replaces the watched paths. A different list counts as a change. */
  readonly follow: (paths: readonly string[]) => Promise<void>;
  /** Polls the stamps now. */
  readonly look: () => Promise<void>;
  /** Makes the next poll count as a change, because handling the last change failed. */
  readonly forget: () => void;
  readonly close: () => void;
};

/** Delay in milliseconds, so that several writes by an editor count as one change. */
const settleMs = 100;

/** Returns a file's stamp, which differs after a change. Follows symbolic links, which mounted settings use. */
const stampOf = async (path: string): Promise<string> => {
  try {
    const { mtimeMs, ctimeMs, size, ino } = await stat(path);
    return [mtimeMs, ctimeMs, size, ino].join(' ');
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
  }
};

const stampsOf = async (paths: readonly string[]): Promise<string> =>
  JSON.stringify(await Promise.all(paths.map(stampOf)));

/** Watches the folders that were given last for system events. */
const createFolderEvents = (onEvent: () => void) => {
  let watchers: readonly FSWatcher[] = [];
  const watchFolder = (folder: string): readonly FSWatcher[] => {
    try {
      const watcher = watch(folder, { persistent: false }, onEvent);
      // The folder can disappear, or the system can run out of watches. Polling continues.
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch (error) {
      if (error instanceof Error && 'code' in error) return [];
      throw error;
    }
  };
  return {
    follow: (folders: readonly string[]): void => {
      for (const watcher of watchers) watcher.close();
      watchers = folders.flatMap(watchFolder);
    },
  };
};

export const createFileWatch = (options: FileWatchOptions): FileWatch => {
  const { onChange, pollMs = 2000, hasEvents = true } = options;
  let paths: readonly string[] = [];
  let stamps: string | null = null;
  let settling: NodeJS.Timeout | undefined;
  const events = createFolderEvents(() => {
    clearTimeout(settling);
    settling = setTimeout(onChange, settleMs);
    settling.unref();
  });
  const look = async (): Promise<void> => {
    const asked = paths;
    const found = await stampsOf(asked);
    if (asked !== paths || found === stamps) return;
    stamps = found;
    onChange();
  };
  const stop = (options.every ?? every)(pollMs, () => void look());
  return {
    follow: async (next) => {
      if (JSON.stringify(next) === JSON.stringify(paths)) return;
      paths = next;
      stamps = null;
      if (hasEvents) events.follow([...new Set(next.map((path) => dirname(path)))]);
      // If a file changed between the caller's read and the first stamp, one more read finds the change.
      await look();
    },
    look,
    forget: () => {
      stamps = null;
    },
    close: () => {
      stop();
      clearTimeout(settling);
      events.follow([]);
      paths = [];
    },
  };
};
