/**
 * One ClickHouse for all files of a run: the server at TEST_CLICKHOUSE_URL or, if it is installed, chdb with an HTTP
 * interface.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const isInstalled = (): boolean => {
  try {
    createRequire(import.meta.url).resolve('chdb');
    return true;
  } catch {
    return false;
  }
};

const start = async (folder: string, password: string): Promise<{ child: ChildProcess; port: string }> => {
  const file = fileURLToPath(new URL('clickhouse-front.mjs', import.meta.url));
  const child = spawn(process.execPath, [file, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, CLICKHOUSE_FRONT_PASSWORD: password },
  });
  const [line] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('chdb did not start'))),
  ]);
  return { child, port: String(line).trim() };
};

export const setup = async (): Promise<(() => Promise<void>) | undefined> => {
  if (process.env.TEST_CLICKHOUSE_URL !== undefined || !isInstalled()) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-clickhouse-'));
  const password = randomUUID();
  const { child, port } = await start(folder, password);
  process.env.TEST_CLICKHOUSE_URL = `http://default:${password}@127.0.0.1:${port}`;
  process.env.TEST_CLICKHOUSE_FRONT = '1';
  return async () => {
    const ended = once(child, 'exit');
    child.stdin?.end();
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
};
