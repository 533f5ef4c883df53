/** HAProxy as a balancer of TCP connections, in front of servers of which the first is used while it is there. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './redis.js';

export type HaProxy = {
  readonly port: number;
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
  readonly remove: () => Promise<void>;
};

/** Whether HAProxy is installed. Otherwise warns and skips the tests. */
export const isHaProxyThere = (): boolean => {
  if (spawnSync('haproxy', ['-v']).status === 0) return true;
  console.warn("NO haproxy (Debian's package haproxy): ITS TESTS ARE SKIPPED");
  return false;
};

const configOf = (port: number, targets: readonly number[]): string =>
  [
    'defaults',
    '  mode tcp',
    '  timeout connect 1s',
    '  timeout client 60s',
    '  timeout server 60s',
    'listen all',
    `  bind 127.0.0.1:${port}`,
    // A connection to a server that is down ends, so that its client connects to the other.
    '  default-server check inter 200ms fall 2 rise 1 on-marked-down shutdown-sessions',
    ...targets.map((target, at) => `  server s${at} 127.0.0.1:${target}${at === 0 ? '' : ' backup'}`),
    '',
  ].join('\n');

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** Starts HAProxy before these ports of loopback. The later ones are used while the first is down. */
export const startHaProxy = async (targets: readonly number[]): Promise<HaProxy> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-haproxy-'));
  const file = join(folder, 'haproxy.cfg');
  const port = await freePort();
  await writeFile(file, configOf(port, targets));
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    child = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
    while (!(await accepts(port))) if (child.exitCode !== null) throw new Error(`haproxy ended with ${child.exitCode}`);
  };
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  await start();
  return {
    port,
    kill,
    start,
    remove: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
