/**
 * A lock without any package: a Unix socket beside the folder, which the holder listens on. The kernel answers for it as
 * long as the process lives, also if the process is stopped or busy, and refuses connections from the moment it ends.
 * Pathnames of sockets work across containers that share the folder, but not between machines.
 */
import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { createConnection, createServer, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileFault } from './file-faults.js';
import { LockHeld, type Release } from './lock-held.js';

/** Neither the system nor the file system of the folder has sockets. `message` says what to install instead. */
export class SocketsUnsupported extends Error {
  override readonly name = 'SocketsUnsupported';
}

const unsupported = (file: string, cause?: unknown): SocketsUnsupported =>
  new SocketsUnsupported(
    `The folder of ${file} cannot be locked: no socket can be made there. Install the package @duckdb/node-api, which locks a file instead; or give the URL of a PostgreSQL database (databaseUrl, DATABASE_URL).`,
    { cause },
  );

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A path of a socket has at most 107 bytes on Linux, 103 on macOS. A longer one is reached through its open folder. */
const maxPathBytes = 103;

type Folder = { readonly pathOf: (name: string) => string; readonly close: () => Promise<void> };

const openFolder = async (folder: string, longestName: number): Promise<Folder> => {
  if (Buffer.byteLength(folder) + 1 + longestName <= maxPathBytes) {
    return { pathOf: (name) => join(folder, name), close: async () => {} };
  }
  if (process.platform !== 'linux') throw unsupported(folder);
  const handle = await open(folder, 'r');
  return { pathOf: (name) => `/proc/self/fd/${handle.fd}/${name}`, close: () => handle.close() };
};

const listen = (path: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((connection) => connection.destroy());
    server.once('error', reject);
    server.listen(path, () => resolve(server.unref()));
  });

const close = (server: Server): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));

/** Whether a process listens on the socket. What cannot be determined counts as alive. */
const isAlive = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const connection = createConnection(path);
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', (error) => resolve(!['ECONNREFUSED', 'ENOENT'].includes(codeOf(error))));
  });

const supportsNoSockets = new Set(['ENOTSUP', 'EOPNOTSUPP', 'EPERM', 'EINVAL', 'EACCES', 'EAFNOSUPPORT']);

/** Listens under a draft name first: a listed name is that of a process that listens, or of one that has ended. */
const listenAs = async ({ pathOf }: Folder, file: string, name: string): Promise<Server> => {
  const draft = `${name}.new`;
  try {
    const server = await listen(pathOf(draft));
    await rename(pathOf(draft), pathOf(name));
    return server;
  } catch (error) {
    if (supportsNoSockets.has(codeOf(error))) throw unsupported(file, error);
    throw await fileFault(dirname(file), 'written', error);
  }
};

/** Returns the names of other processes that hold the lock or try to. Removes the names of processes that have ended. */
const listRivals = async ({ pathOf }: Folder, file: string, own: string): Promise<readonly string[]> => {
  const prefix = `${basename(file)}.`;
  const names = (await readdir(dirname(file))).filter(
    (name) => name.startsWith(prefix) && /^[0-9a-f]{12}$/.test(name.slice(prefix.length)) && name !== own,
  );
  const alive: string[] = [];
  for (const name of names) {
    if (await isAlive(pathOf(name))) alive.push(name);
    else await rm(pathOf(name), { force: true });
  }
  return alive;
};

const patienceMs = 2_000;
const pauseMs = 50;

/**
 * Holds the lock once no other process listens. Every process listens before it looks for others, so of two that come at
 * once at least one sees the other. The lower name stays and waits for the other to give up; a holder never does.
 */
const assertAlone = async (folder: Folder, file: string, own: string): Promise<void> => {
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    const rivals = await listRivals(folder, file, own);
    if (rivals.length === 0) return;
    if (waitedMs >= patienceMs || rivals.some((name) => name < own)) throw new LockHeld(`${file} is locked`);
    await wait(pauseMs);
  }
};

/** Locks by a socket `<file>.<id>`. Throws LockHeld, SocketsUnsupported, or an Error that says what is wrong with the folder. */
export const lockSocket = async (file: string): Promise<Release> => {
  if (process.platform === 'win32') throw unsupported(file);
  const own = `${basename(file)}.${randomBytes(6).toString('hex')}`;
  const folder = await openFolder(dirname(file), Buffer.byteLength(own) + '.new'.length);
  try {
    const server = await listenAs(folder, file, own);
    const release = async (): Promise<void> => {
      // Removed first: a name that is listed and not alive is always that of a process that has ended.
      await rm(join(dirname(file), own), { force: true });
      await close(server);
    };
    await assertAlone(folder, file, own).catch(async (error: unknown) => {
      await release();
      throw error;
    });
    return release;
  } finally {
    await folder.close();
  }
};
