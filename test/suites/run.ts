/**
 * Builds the server's modules, which tests import, where a source is newer. Names the run and creates its folder. When
 * the run ends, removes the folder, and drops the databases of this run and of runs whose process was killed.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onServer } from './postgres.js';

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const answersUs = (): Promise<boolean> =>
  onServer((client) => client.query('select 1')).then(
    () => true,
    () => false,
  );

const dropDatabases = (run: string): Promise<void> =>
  onServer(async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      "select datname from pg_database where datname like 'guestlist\\_test\\_%'",
    );
    for (const { datname } of rows) {
      const [, pid = '', id = ''] = /^guestlist_test_(\d+)_([0-9a-z]+)_/.exec(datname) ?? [];
      if (`${pid}_${id}` !== run && (pid === '' || isAlive(Number(pid)))) continue;
      await client.query(`drop database if exists ${datname} with (force)`);
    }
  });

export const setup = async (): Promise<() => Promise<void>> => {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../build.mjs', import.meta.url)), '--server'], {
    stdio: 'inherit',
  });
  const run = `${process.pid}_${randomUUID().slice(0, 8)}`;
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-run-'));
  process.env.GUESTLIST_TEST_RUN = run;
  process.env.GUESTLIST_TEST_FOLDER = folder;
  return async () => {
    await rm(folder, { recursive: true, force: true });
    // Where the tests found no server, or may not log in, they made nothing on it.
    if (await answersUs()) await dropDatabases(run);
  };
};
