// The packed and installed sizes of the published packages: packs each, installs it into an empty folder, and adds up the files.
// `node test/bench/package-sizes.mjs`; needs the registry.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'guestlist-sizes-'));

const run = (command, args, cwd) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
};

const filesIn = (home) => readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;

const installedSize = (name, wanted) => {
  const home = join(folder, name);
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{"type":"module","private":true}');
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', ...wanted], home);
  const sizes = filesIn(join(home, 'node_modules')).map((entry) => statSync(join(entry.parentPath, entry.name)).size);
  return sizes.reduce((sum, size) => sum + size, 0);
};

const pack = (name) => {
  const home = name === 'guestlist' ? root : join(root, 'packages', name);
  const file = run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], home).trim().split('\n').at(-1);
  return join(folder, file);
};

try {
  run(process.execPath, ['packages/build.mjs'], root);
  const embedded = ['@electric-sql/pglite@0.5.8', '@electric-sql/pglite-prepopulatedfs@0.5.8'];
  const tarballs = Object.fromEntries(['guestlist', 'gateway', 'elements', 'client'].map((name) => [name, pack(name)]));
  const rows = [
    ['express alone', null, ['express@5.3.0']],
    ['@guestlist/gateway with express', 'gateway', ['express@5.3.0']],
    ['@guestlist/gateway with express and the embedded database', 'gateway', ['express@5.3.0', ...embedded]],
    ['@guestlist/elements', 'elements', []],
    ['@guestlist/client', 'client', []],
    ['guestlist', 'guestlist', []],
  ];
  console.log('| installed | packed | installed |\n|---|---|---|');
  for (const [at, [what, name, others]] of rows.entries()) {
    const tarball = tarballs[name];
    const wanted = tarball === undefined ? others : [tarball, ...others];
    const packed = tarball === undefined ? '' : megabytes(statSync(tarball).size);
    console.log(`| ${what} | ${packed} | ${megabytes(installedSize(String(at), wanted))} |`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
