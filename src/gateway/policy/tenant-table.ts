/** Reads the file of a tenant table, together with the policy and again after each change. */
import { constants, readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { handled } from '../../model/handled.js';
import type { Log } from '../../platform/logs/log.js';
import { PolicyFaults } from './source.js';
import { createTableReader, type TenantTable } from './tenant-csv.js';

export type TenantTableFile = {
  readonly file: string;
  /** Returns the newest valid table. */
  readonly current: () => TenantTable;
  /**
   * Reads the file again without blocking requests. If the file has faults or is missing, keeps the current table and
   * logs an error.
   */
  readonly reload: () => Promise<void>;
  /** Reloads after each change of the file, until `close`. Does not keep the process running. */
  readonly watch: (options: WatchOptions) => void;
  /** Ends the watch. `current` still works. */
  readonly close: () => void;
};

export type WatchOptions = {
  readonly log: Log;
  /**
   * Interval of polling in milliseconds. Polling by name detects a replaced file, a changed link, and changes on a
   * network folder.
   */
  readonly everyMs?: number;
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';

/** Returns a stamp that differs after each change of the file, also if the file disappears or becomes unreadable. */
const stampOf = (file: string): string => {
  try {
    const { ino, size, mtimeMs } = statSync(file);
    return `${ino} ${size} ${mtimeMs}`;
  } catch (error) {
    return codeOf(error);
  }
};

const unreadable = (file: string, error: unknown): PolicyFaults =>
  new PolicyFaults([{ at: `${file}:1:1`, message: `the table of tenants cannot be read (${codeOf(error)})` }]);

const bytesOf = (file: string): Uint8Array => {
  try {
    return readFileSync(file);
  } catch (error) {
    throw unreadable(file, error);
  }
};

const pieceBytes = 65_536;

const readAtOnce = (file: string): TenantTable => {
  const reader = createTableReader(file);
  const bytes = bytesOf(file);
  // In pieces: if decoded as one string, every key and tenant would keep that whole string in memory.
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.push(bytes.subarray(at, at + pieceBytes));
  return reader.end();
};

const maxBytes = 1_073_741_824;

const faultOf = (file: string, message: string): PolicyFaults => new PolicyFaults([{ at: `${file}:1:1`, message }]);

/** Reads a regular file, up to the size that it has at the beginning: a device or a pipe would never end. */
const readBeside = async (file: string): Promise<TenantTable> => {
  const reader = createTableReader(file);
  // A pipe that nobody writes to would otherwise wait for its writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw faultOf(file, 'the table of tenants is no regular file');
    if (stats.size > maxBytes) throw faultOf(file, `the table of tenants is larger than ${maxBytes} bytes`);
    if (stats.size > 0)
      for await (const bytes of handle.createReadStream({ start: 0, end: stats.size - 1, autoClose: false }))
        reader.push(bytes);
  } catch (error) {
    throw error instanceof PolicyFaults ? error : unreadable(file, error);
  } finally {
    await handle.close();
  }
  return reader.end();
};

const sayKept = (log: Log, file: string, size: number, error: unknown): void => {
  if (!(error instanceof PolicyFaults)) throw error;
  const { faults } = error;
  log.error(
    { event: 'tenant_table.refused', file, faults, keys: size },
    'the changed table of tenants has faults; the earlier table stays in force',
  );
};

/** Reads a table at once, where no request waits. Throws PolicyFaults with every fault of the file. */
export const loadTenantTable = (file: string): TenantTableFile => {
  // Read before the file, so that a change during the read counts as a change.
  const stamp = stampOf(file);
  return followTable(file, stamp, readAtOnce(file));
};

/** Reads a table without blocking requests. Rejects with PolicyFaults with every fault of the file. */
export const openTenantTable = async (file: string): Promise<TenantTableFile> => {
  const stamp = stampOf(file);
  return followTable(file, stamp, await readBeside(file));
};

const followTable = (file: string, firstStamp: string, first: TenantTable): TenantTableFile => {
  let stamp = firstStamp;
  let table = first;
  let log: Log | null = null;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const readAgain = async (): Promise<void> => {
    stamp = stampOf(file);
    try {
      table = await readBeside(file);
      log?.info({ event: 'tenant_table.loaded', file, keys: table.size }, 'loaded the changed table of tenants');
    } catch (error) {
      if (log === null) throw error;
      sayKept(log, file, table.size, error);
    }
  };
  // One reload at a time, so that the latest change takes effect.
  const reload = (): Promise<void> => {
    running = handled(running.then(readAgain, readAgain));
    return running;
  };
  return {
    file,
    current: () => table,
    reload,
    watch: ({ log: to, everyMs = 1_000 }) => {
      log = to;
      clearInterval(timer);
      timer = setInterval(() => {
        if (stampOf(file) !== stamp) void reload();
      }, everyMs).unref();
    },
    close: () => clearInterval(timer),
  };
};
