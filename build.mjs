// Builds dist/: the server by tsc (types are checked by `npm run typecheck`), the browser bundles by rolldown. `--quiet`
// prints errors only.
// Skips what is newer than every source, so that a second `npm start` does not wait for it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));
const quiet = process.argv.includes('--quiet');
const say = (text) => quiet || console.log(text);
const stamp = join(root, 'dist/.built');

const newestIn = (folder) =>
  Math.max(
    ...readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  );

const builtAt = () => {
  const found = statSync(stamp, { throwIfNoEntry: false });
  return found === undefined ? 0 : found.mtimeMs;
};

const sources = () =>
  Math.max(
    newestIn(join(root, 'src')),
    ...['package-lock.json', 'tsconfig.json', 'build.mjs'].map((file) => statSync(join(root, file)).mtimeMs),
  );

/** Packages that bring binaries, workers or files of their own, and those that are loaded only where they are used. */
const apart =
  /^(?:@clickhouse|@duckdb|@electric-sql|ioredis|jwks-rsa|libpg-query|mysql2|pg|pgsql-deparser|pino|rate-limiter-flexible|standardwebhooks|tar|vega-datasets)(?:\/|$)/;

const buildServer = async () => {
  const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc');
  const child = spawn(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--noCheck'], {
    cwd: root,
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exit(code ?? 1);
};

const bundle = async (entry) => {
  const { rolldown } = await import('rolldown');
  const bundled = await rolldown({ input: join(root, `src/web/${entry}/${entry}.ts`), platform: 'browser', cwd: root });
  await bundled.write({ file: join(root, `dist/web/${entry}.js`), format: 'esm', minify: true, codeSplitting: false });
  await bundled.close();
};

/** What a start loads at once, each file for itself, takes twice the time: the command line is one file, with most packages. */
const buildCommandLine = async () => {
  const { rolldown } = await import('rolldown');
  const bundled = await rolldown({
    input: { guestlist: join(root, 'src/cli/guestlist.ts') },
    platform: 'node',
    cwd: root,
    external: apart,
  });
  // Beside the other files of dist/: the sources name `../config` and `web/` by their own place.
  const names = { entryFileNames: '[name].js', chunkFileNames: 'chunk-[name]-[hash].js' };
  await bundled.write({ dir: join(root, 'dist'), format: 'esm', sourcemap: true, ...names });
  await bundled.close();
};

const buildWeb = async () => {
  await Promise.all(['elements', 'demo'].map(bundle));
  for (const file of ['demo.html', 'demo.css']) cpSync(join(root, 'src/web/demo', file), join(root, 'dist/web', file));
};

if (builtAt() < sources()) {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  mkdirSync(join(root, 'dist/web'), { recursive: true });
  const started = performance.now();
  await Promise.all([buildServer(), buildCommandLine(), buildWeb()]);
  writeFileSync(stamp, '');
  say(`built dist/ in ${Math.round(performance.now() - started)} ms`);
} else {
  say('dist/ is up to date');
}
