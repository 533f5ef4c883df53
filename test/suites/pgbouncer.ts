/**
 * PgBouncer in front of the tests' PostgreSQL, in transaction mode: each transaction uses any of a few connections to
 * the server.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './redis.js';

const program = '/usr/sbin/pgbouncer';

export type Pooler = {
  /** Returns the URL of the same database through the pooler. */
  readonly at: (url: string) => string;
  /** Ends it at once, with all its connections. */
  readonly kill: () => Promise<void>;
  /** Starts it again at the same port. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** Every client is the tests' user, since the pooler's own authentication is not tested. */
const configOf = (target: URL, port: number, poolSize: number, databases: readonly string[]): string => {
  const host = `host=${target.hostname} port=${target.port === '' ? '5432' : target.port}`;
  const user = `user=${decodeURIComponent(target.username)}`;
  const password = target.password === '' ? '' : ` password=${decodeURIComponent(target.password)}`;
  return [
    '[databases]',
    ...databases.map((line) => `${line} ${host} ${user}${password}`),
    `* = ${host} ${user}${password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${poolSize}`,
    'max_client_conn = 200',
    // PgBouncer refuses to run as root.
    ...(process.getuid?.() === 0 ? ['user = postgres'] : []),
    '',
  ].join('\n');
};

const isUp = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    const lines: string[] = [];
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`pgbouncer ended: ${lines.join('\n')}`)));
    const { stderr } = child;
    if (stderr === null) throw new Error('pgbouncer has no output');
    createInterface({ input: stderr }).on('line', (line) => {
      lines.push(line);
      if (line.includes('process up')) resolve();
    });
  });

/** Whether PgBouncer is installed. Otherwise warns and skips the tests; fails under CI. */
export const isPgBouncerThere = async (): Promise<boolean> => {
  const child = spawn(program, ['--version'], { stdio: 'ignore' });
  const isThere = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
  if (isThere) return true;
  const message = `NO PGBOUNCER at ${program} (Debian's package pgbouncer)`;
  if (process.env.CI === 'true') throw new Error(message);
  console.warn(`${message}: ITS TESTS ARE SKIPPED`);
  return false;
};

/** Starts PgBouncer. `databases`: lines such as `name = dbname=other`, which map a name to another database. */
export const startPgBouncer = async (
  url: string,
  poolSize: number,
  databases: readonly string[] = [],
): Promise<Pooler> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-pgbouncer-'));
  const file = join(folder, 'pgbouncer.ini');
  const port = await freePort();
  await writeFile(file, configOf(new URL(url), port, poolSize, databases));
  await chmod(folder, 0o755);
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    child = spawn(program, [file], { stdio: ['ignore', 'ignore', 'pipe'] });
    await isUp(child);
  };
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    kill,
    start,
    at: (address) => {
      const own = new URL(address);
      own.hostname = '127.0.0.1';
      own.port = String(port);
      return own.href;
    },
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
