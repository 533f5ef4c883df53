/** Says when files may have changed. A look at their stamps every so often finds what the system's events miss: renames, and mounts. */
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Runs a task again and again, until the answer is called. */
export type Every = (ms: number, task: () => void) => () => void;

/** Keeps no process alive. */
export const every: Every = (ms, task) => {
  const timer = setInterval(task, ms);
  timer.unref();
  return () => clearInterval(timer);
};

export type FileWatchOptions = {
  readonly every?: Every | undefined;
  readonly pollMs?: number | undefined;
  /** False: only the looks count. */
  readonly hasEvents?: boolean | undefined;
  /** Whatever may have changed: the caller looks for itself. */
  readonly onChange: () => void;
};

export type FileWatch = {
  /** Takes the place of what was watched before. Other paths than those count as a change. */
  readonly follow: (paths: readonly string[]) => Promise<void>;
  /** Looks at the stamps now, as every so often. */
  readonly look: () => Promise<void>;
  /** The next look counts as a change: what the last one led to has failed. */
  readonly forget: () => void;
  readonly close: () => void;
};

/** An editor writes in several steps: what it leaves at the end counts. */
const settleMs = 100;

/** Through symbolic links, as mounted settings have them. */
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

/** The system's events of some folders, until others are followed. */
const createFolderEvents = (onEvent: () => void) => {
  let watchers: readonly FSWatcher[] = [];
  const watchFolder = (folder: string): readonly FSWatcher[] => {
    try {
      const watcher = watch(folder, { persistent: false }, onEvent);
      // What is watched may go away, and the system may have no watches left: the looks go on.
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
      // What changed between the caller's reading and the first stamp is found by reading once more.
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
