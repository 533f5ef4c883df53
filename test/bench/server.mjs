// Starts the product for a bench: a separate process with its own port and folder, without a log.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export const root = new URL('../../', import.meta.url).pathname;

export const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
};

const answers = async (url) => {
  try {
    return (await fetch(url)).status === 200;
  } catch {
    // The server does not listen yet.
    return false;
  }
};

/** Waits until `url` answers 200. Returns the milliseconds since `since`. Throws if the process has ended. */
export const untilReady = async (child, url, since) => {
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    await pause(20);
  }
  return performance.now() - since;
};

const isAlive = (group) => {
  try {
    return process.kill(group, 0);
  } catch (error) {
    if (error.code === 'ESRCH') return false;
    throw error;
  }
};

/** Starts `command` with the product's environment; `detached`, so that a whole tree of processes can be ended. `hasIpc`: it can be asked over IPC. */
export const launch = async (command, { dataDir, env = {}, hasIpc = false }) => {
  const port = await freePort();
  const since = performance.now();
  const child = spawn(command[0], command.slice(1), {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', ...(hasIpc ? ['ipc'] : [])],
    env: { ...process.env, PORT: String(port), GUESTLIST_DATA_DIR: dataDir, ...env },
  });
  const url = `http://127.0.0.1:${port}`;
  const readyInMs = await untilReady(child, `${url}/readyz`, since);
  return {
    url,
    child,
    readyInMs,
    stop: async () => {
      process.kill(-child.pid, 'SIGTERM');
      // Ends the whole process group: npm ends before the server that it started.
      while (isAlive(-child.pid)) await pause(20);
    },
  };
};

export const inTemporaryFolder = async (work) => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-bench-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

export const credentialsIn = async (dataDir) => JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'));

export const median = (values) => values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)];
