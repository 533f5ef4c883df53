/** The examples that install packages, each as its README says, with our packages from their tarballs. Takes minutes and the registry. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, test } from 'vitest';
import { root } from '../documents/blocks.js';
import { type OwnPostgres, startOwnPostgres } from '../suites/postgres-server.js';
import { lookAtExample, runExample } from './example.js';

const minutes = 60_000;
const run = promisify(execFile);
let folder: string;
let postgres: OwnPostgres | undefined;

/** The repository's packages, which an example names by their folder, from the tarballs. */
const useTarballs = async (name: string, tarballs: ReadonlyMap<string, string>): Promise<void> => {
  const file = join(folder, 'examples', name, 'package.json');
  const text = await readFile(file, 'utf8');
  const changed = text.replaceAll(/file:\.\.\/\.\.\/packages\/(\w+)/g, (_, own: string) => `file:${tarballs.get(own)}`);
  if (changed === text) throw new Error(`${file} uses none of our packages`);
  await writeFile(file, changed);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-examples-'));
  await run(process.execPath, ['packages/build.mjs'], { cwd: root });
  for (const home of ['.', 'packages/gateway', 'packages/elements'])
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: join(root, home) });
  const files = await readdir(folder);
  const tarballs = new Map(
    ['gateway', 'elements'].map((own) => [
      own,
      join(folder, files.find((file) => file.startsWith(`guestlist-${own}`)) ?? ''),
    ]),
  );
  await cp(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
  for (const name of ['react', 'vue', 'angular', 'next', 'express']) await useTarballs(name, tarballs);
  // The server itself, above the examples, where each of them finds it.
  await writeFile(join(folder, 'package.json'), '{"private": true}');
  const own = join(folder, files.find((file) => /^guestlist-\d/.test(file)) ?? '');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await run('npm', ['install', ...options, own, 'vega-datasets@3.2.1'], { cwd: folder });
  postgres = await startOwnPostgres();
}, 6 * minutes);
afterAll(async () => {
  await postgres?.stop('immediate');
  await rm(folder, { recursive: true, force: true });
});

test.each([
  { name: 'express', logIn: 'button[value=USER]' },
  { name: 'react', logIn: undefined },
  { name: 'vue', logIn: undefined },
  { name: 'angular', logIn: undefined },
  { name: 'next', logIn: undefined },
])('the example works from installed packages: $name', { timeout: 8 * minutes }, async ({ name, logIn }) => {
  const env = { DATABASE_URL: name === 'express' ? (postgres?.url ?? '') : '' };
  const example = await runExample(name, join(folder, 'examples', name), env);
  try {
    await lookAtExample(example.url, logIn);
  } finally {
    await example.stop();
  }
});
