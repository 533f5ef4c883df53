/** A Redis server for one test, which may stop it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether Redis can be started. Otherwise warns and skips the tests; fails under CI. */
export const isRedisServerThere = (): boolean => {
  if (spawnSync('redis-server', ['--version']).status === 0) return true;
  if (process.env.CI === 'true') throw new Error('NO redis-server ON PATH');
  console.warn('NO redis-server ON PATH: ITS TESTS ARE SKIPPED');
  return false;
};

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};

const ready = async (args: readonly string[]): Promise<ChildProcess> => {
  const child = spawn('redis-server', [...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    if (/Ready to accept connections|monitor master/.test(text)) break;
  }
  child.stdout?.resume();
  return child;
};

export type OwnRedis = {
  readonly port: number;
  readonly url: string;
  readonly child: () => ChildProcess;
  /** Stops it at once; all its data is lost. */
  readonly stop: () => Promise<void>;
  /** Starts it again, empty, at the same address. */
  readonly start: () => Promise<void>;
};

/** Of a server that keeps nothing. The file that it writes to feed a replica is its own: another server would load it. */
export const redisArgs = (port: number): readonly string[] => [
  ...['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
  ...['--dir', process.env.GUESTLIST_TEST_FOLDER ?? '/tmp', '--dbfilename', `${port}.rdb`],
];

/** Starts an empty Redis on a free port of loopback. */
export const startOwnRedis = async (extra: readonly string[] = []): Promise<OwnRedis> => {
  const port = await freePort();
  const args = redisArgs(port);
  let child = await ready([...args, ...extra]);
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    child: () => child,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    start: async () => {
      child = await ready([...args, ...extra]);
    },
  };
};

/** Starts a Sentinel that watches `master` under the name `main`, and fails over half a second after it is gone. */
export const startSentinel = async (
  master: OwnRedis,
): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-sentinel-'));
  const file = join(folder, 'sentinel.conf');
  const port = await freePort();
  const lines = [
    ...[`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, `sentinel monitor main 127.0.0.1 ${master.port} 1`],
    ...['sentinel down-after-milliseconds main 500', 'sentinel failover-timeout main 3000', ''],
  ];
  await writeFile(file, lines.join('\n'));
  const child = await ready([file, '--sentinel']);
  return {
    port,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
};
