/** A PostgreSQL server for one test, which may restart, freeze and stop it. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './redis.js';

const run = promisify(execFile);

const versionsFolder = '/usr/lib/postgresql';

const findPrograms = (): string | undefined =>
  existsSync(versionsFolder)
    ? readdirSync(versionsFolder)
        .toSorted((a, b) => Number(b) - Number(a))
        .map((version) => join(versionsFolder, version, 'bin'))
        .find((folder) => existsSync(join(folder, 'initdb')))
    : undefined;

/** Whether a server can be started. Otherwise warns and skips the tests; fails under CI. */
export const isPostgresServerThere = (): boolean => {
  if (findPrograms() !== undefined) return true;
  const message = `NO initdb IN ${versionsFolder}/*/bin`;
  if (process.env.CI === 'true') throw new Error(message);
  console.warn(`${message}: ITS TESTS ARE SKIPPED`);
  return false;
};

const isRoot = process.getuid?.() === 0;
const owner = 'postgres';

/** PostgreSQL refuses to run as root. */
const asOwner = (program: string, args: readonly string[]): readonly [string, readonly string[]] =>
  isRoot ? ['runuser', ['-u', owner, '--', program, ...args]] : [program, args];

const idOfOwner = (flag: '-u' | '-g'): number => Number(execFileSync('id', [flag, owner], { encoding: 'utf8' }));

export type StopMode = 'fast' | 'immediate';

export type OwnPostgres = {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly stop: (mode: StopMode) => Promise<void>;
  /** Resolves when the server accepts connections. */
  readonly start: () => Promise<void>;
  /** Kills every process of the server. */
  readonly kill: () => void;
  /** Freezes every process of the server by SIGSTOP: it neither answers nor closes connections. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Promotes a standby to the primary. */
  readonly promote: () => Promise<void>;
  /** Creates a database and returns its URL. */
  readonly createDatabase: (name: string) => Promise<string>;
  /** Runs a statement in a new session. */
  readonly execute: (statement: string) => Promise<string>;
  readonly remove: () => Promise<void>;
};

const parentOf = (pid: string): string | undefined => {
  try {
    return /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  } catch {
    // The process has ended meanwhile.
    return undefined;
  }
};

/** Returns the server's processes, the postmaster first, so that it is stopped before it can start another process. */
const processesOf = (folder: string): readonly number[] => {
  const [postmaster = ''] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster);
  return [postmaster, ...children].map(Number);
};

const signalAll = (folder: string, signal: NodeJS.Signals): void => {
  const send = (pid: number): void => {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // The process has ended meanwhile.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  };
  const [postmaster] = processesOf(folder);
  if (postmaster !== undefined) send(postmaster);
  for (const pid of processesOf(folder)) send(pid);
};

const settingsOf = (port: number, folder: string): string =>
  [
    '',
    `port = ${port}`,
    "listen_addresses = '127.0.0.1'",
    `unix_socket_directories = '${folder}'`,
    'fsync = off',
    'shared_buffers = 16MB',
    'max_connections = 60',
    'wal_level = replica',
    'hot_standby = on',
    'max_wal_senders = 4',
    'min_wal_size = 32MB',
    'max_wal_size = 64MB',
    '',
  ].join('\n');

/** Creates the folder `data` in `home`, before the server is configured. */
type Fill = (call: (program: string, args: readonly string[]) => Promise<string>, folder: string) => Promise<unknown>;

const startCluster = async (home: string, fill: Fill): Promise<OwnPostgres> => {
  const programs = findPrograms();
  if (programs === undefined) throw new Error('PostgreSQL is not installed');
  if (isRoot) chownSync(home, idOfOwner('-u'), idOfOwner('-g'));
  chmodSync(home, 0o755);
  const folder = join(home, 'data');
  const port = await freePort();
  const call = async (program: string, args: readonly string[]): Promise<string> => {
    const [file, given] = asOwner(join(programs, program), args);
    return (await run(file, [...given], { cwd: home })).stdout;
  };
  await fill(call, folder);
  await appendFile(join(folder, 'postgresql.conf'), settingsOf(port, home));
  const control = async (...args: readonly string[]): Promise<void> =>
    void (await call('pg_ctl', ['-D', folder, '-w', '-t', '30', '-l', join(home, 'log'), ...args]));
  const execute = (statement: string) =>
    call('psql', ['-h', '127.0.0.1', '-p', String(port), '-U', owner, '-d', 'postgres', '-Atc', statement]);
  const urlOf = (name: string) => `postgres://${owner}@127.0.0.1:${port}/${name}`;
  const isRunning = () => existsSync(join(folder, 'postmaster.pid'));
  await control('start');
  return {
    url: urlOf(owner),
    port,
    folder,
    stop: (mode) => control('stop', '-m', mode),
    start: () => control('start'),
    kill: () => signalAll(folder, 'SIGKILL'),
    freeze: () => signalAll(folder, 'SIGSTOP'),
    thaw: () => signalAll(folder, 'SIGCONT'),
    promote: () => control('promote'),
    createDatabase: async (name) => {
      await execute(`create database ${name}`);
      return urlOf(name);
    },
    execute,
    remove: async () => {
      if (isRunning()) {
        signalAll(folder, 'SIGCONT');
        const [file, args] = asOwner(join(programs, 'pg_ctl'), ['-D', folder, '-w', '-m', 'immediate', 'stop']);
        spawnSync(file, [...args]);
      }
      await rm(home, { recursive: true, force: true });
    },
  };
};

const makeHome = (parent: string): Promise<string> => mkdtemp(join(parent, 'guestlist-postgres-'));

/** Creates a cluster in a new folder in `parent`, and starts it. */
export const startOwnPostgres = async (parent = tmpdir()): Promise<OwnPostgres> =>
  startCluster(await makeHome(parent), (call, folder) =>
    call('initdb', ['-D', folder, '-U', owner, '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-instructions']),
  );

/** Starts a standby that follows `primary` by streaming. The primary confirms a commit only when the standby has it. */
export const startStandby = async (primary: OwnPostgres): Promise<OwnPostgres> => {
  const standby = await startCluster(await makeHome(tmpdir()), (call, folder) =>
    call('pg_basebackup', ['-d', primary.url, '-D', folder, '-R', '-X', 'stream', '-c', 'fast', '--no-sync']),
  );
  await primary.execute("alter system set synchronous_standby_names = '*'");
  await primary.execute('select pg_reload_conf()');
  while ((await primary.execute('select sync_state from pg_stat_replication')).trim() !== 'sync');
  return standby;
};
