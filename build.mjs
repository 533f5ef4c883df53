// Builds dist/: the server by tsc (types are checked by `npm run typecheck`), the browser bundles by rolldown. `--quiet`
// prints errors only; `--without studio` leaves the app of Studio out; `--server` builds the server's modules alone, for
// tests that import them.
// Skips what is newer than every source, so that a second `npm start` does not wait for it.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { bundleElements, sheetTexts, textsOf, tight } from './web-bundle.mjs';

const root = fileURLToPath(new URL('.', import.meta.url));
const quiet = process.argv.includes('--quiet');
const { without = [], server: onlyServer = false } = parseArgs({
  options: {
    quiet: { type: 'boolean' },
    server: { type: 'boolean' },
    without: { type: 'string', multiple: true },
  },
}).values;
for (const part of without.filter((name) => name !== 'studio')) {
  console.error(`build: --without ${part}: only studio can be left out`);
  process.exit(2);
}
const say = (text) => quiet || console.log(text);
const stamp = join(root, 'dist/.built');
const serverStamp = join(root, 'dist/.server');

const newestIn = (folder) =>
  Math.max(
    ...readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  );

const builtAt = (file) => {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? 0 : found.mtimeMs;
};

/** What the documentation is made of, beside the pages in docs/. */
const documentSources = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'test/bench/RESULTS.md'];

const sources = () =>
  Math.max(
    ...['src', 'docs', 'config'].map((folder) => newestIn(join(root, folder))),
    ...['package-lock.json', 'tsconfig.json', 'build.mjs', 'web-bundle.mjs', ...documentSources].map(
      (file) => statSync(join(root, file)).mtimeMs,
    ),
  );

/** Packages that bring binaries, workers or files of their own, and those that are loaded only where they are used. */
const apart =
  /^(?:@clickhouse|@duckdb|@electric-sql|ioredis|jwks-rsa|libpg-query|mysql2|pg|pgsql-deparser|pino|playwright-core|rate-limiter-flexible|standardwebhooks|tar|vega-datasets)(?:\/|$)/;

/** Replaces the programs of threads by one file each: a thread loads its modules anew, which takes twice the time for many files. */
const buildThreads = async () => {
  const { rolldown } = await import('rolldown');
  const write = async (thread) => {
    const bundled = await rolldown({ input: join(root, `src/${thread}.ts`), platform: 'node', cwd: root });
    await bundled.write({
      file: join(root, `dist/${thread}.js`),
      ...{ format: 'esm', sourcemap: true, codeSplitting: false },
    });
    await bundled.close();
  };
  await Promise.all(['gateway/policy/reading-worker', 'gateway/policy-tools/draft-worker'].map(write));
};

const buildServer = async () => {
  const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc');
  const child = spawn(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--noCheck'], {
    cwd: root,
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exit(code ?? 1);
  await buildThreads();
  writeFileSync(serverStamp, '');
};

const bundle = async (entry) => {
  const { rolldown } = await import('rolldown');
  const bundled = await rolldown({
    input: join(root, `src/web/${entry}/${entry}.ts`),
    platform: 'browser',
    cwd: root,
    plugins: [sheetTexts],
  });
  await bundled.write({ file: join(root, `dist/web/${entry}.js`), format: 'esm', minify: true, codeSplitting: false });
  await bundled.close();
};

/** What a start loads at once, each file for itself, takes twice the time: the command line is one file, with most packages. */
const buildCommandLine = async () => {
  const { rolldown } = await import('rolldown');
  const bundled = await rolldown({
    input: { guestlist: join(root, 'src/cli/guestlist.ts') },
    plugins: [textsOf('messages')],
    platform: 'node',
    cwd: root,
    external: apart,
  });
  // Beside the other files of dist/: the sources name `../config` and `web/` by their own place.
  const names = { entryFileNames: '[name].js', chunkFileNames: 'chunk-[name]-[hash].js' };
  await bundled.write({ dir: join(root, 'dist'), format: 'esm', sourcemap: true, ...names });
  await bundled.close();
};

/** Writes each script compressed beside it, so that a server need not do it at its start. */
const compressScripts = async (folder) => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  const compress = async (file) => writeFileSync(`${file}.br`, await promisify(brotliCompress)(readFileSync(file)));
  await Promise.all(files.map((file) => compress(join(folder, file))));
};

/** Studio: one script, and a chunk for each screen, which the script loads when it is first opened. */
const buildStudio = async () => {
  const { rolldown } = await import('rolldown');
  const bundled = await rolldown({
    input: { studio: join(root, 'src/web/studio/studio.ts') },
    plugins: [textsOf('elements')],
    platform: 'browser',
    cwd: root,
  });
  const folder = join(root, 'dist/web/studio');
  rmSync(folder, { recursive: true, force: true });
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' };
  await bundled.write({ dir: folder, format: 'esm', minify: true, ...names });
  await bundled.close();
  for (const file of ['studio.html', 'studio.css']) cpSync(join(root, 'src/web/studio', file), join(folder, file));
};

/** The first characters of the file's ETag: a browser need not ask again for a file that a page names by them. */
const versionOf = (file) => {
  const content = readFileSync(join(root, 'dist/web', file));
  return createHash('sha256').update(content).digest('base64url').slice(0, 16);
};

const buildWeb = async () => {
  const studio = without.includes('studio') ? [] : [buildStudio()];
  await Promise.all([bundleElements(join(root, 'dist/web')), bundle('demo'), ...studio]);
  await compressScripts(join(root, 'dist/web'));
  // The demo asks for Inter after its charts. Until then its texts have the sizes of Inter.
  const sheets = ['fonts/inter-fallback.css', 'demo/demo.css'].map((file) =>
    tight(readFileSync(join(root, 'src/web', file), 'utf8')),
  );
  const page = readFileSync(join(root, 'src/web/demo/demo.html'), 'utf8');
  writeFileSync(
    join(root, 'dist/web/demo.html'),
    page
      .replace('<link rel="stylesheet" href="/demo.css" />', `<style>${sheets.join('')}</style>`)
      .replace('/elements.js', `/elements.js?v=${versionOf('elements.js')}`),
  );
};

const bundleText = async (file) => {
  const { rolldown } = await import('rolldown');
  const bundled = await rolldown({ input: join(root, file), platform: 'browser', cwd: root });
  const { output } = await bundled.generate({ format: 'esm', minify: true, codeSplitting: false });
  await bundled.close();
  return output[0].code;
};

/** The operations of the interface, for the search: the reference itself is written by the running service. */
const operationEntries = async () => {
  const load = (file) => import(pathToFileURL(join(root, 'dist', file)).href);
  const [{ operations }, { operationAddress }] = await Promise.all([
    load('service/operations.js'),
    load('platform/http/pages/docs-addresses.js'),
  ]);
  return Object.values(operations).map(({ name, resource, summary, description = '', bindings }) => ({
    id: operationAddress({ resource, name }),
    url: operationAddress({ resource, name }),
    title: 'API reference',
    heading: summary,
    text: [description, name, ...bindings.map(({ method, path }) => `${method} ${path}`)].join(' '),
    excerpt: bindings.map(({ method, path }) => `${method} ${path}`)[0] ?? '',
  }));
};

/** The pages at /docs. Needs the server's modules, whose operations the search finds. */
const buildDocuments = async () => {
  const { renderSite } = await import('./src/web/docs/render.mjs');
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file.replaceAll('\\', '/')}`);
  const [operations, search, studio] = await Promise.all([
    operationEntries(),
    bundleText('src/web/docs/docs.ts'),
    bundleText('src/web/docs/theme-studio.ts'),
  ]);
  const scripts = { '/docs/search.js': search, '/docs/theme-studio.js': studio };
  renderSite({ root, folder: join(root, 'dist/web/docs'), pages, operations, scripts });
};

/** A build with other parts than wanted is made anew. */
const hasWantedParts = () => existsSync(join(root, 'dist/web/studio')) !== without.includes('studio');

if (onlyServer) {
  if (builtAt(serverStamp) < newestIn(join(root, 'src'))) await buildServer();
} else if (builtAt(stamp) < sources() || !hasWantedParts()) {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  mkdirSync(join(root, 'dist/web'), { recursive: true });
  const started = performance.now();
  await Promise.all([buildServer(), buildCommandLine(), buildWeb()]);
  await buildDocuments();
  writeFileSync(stamp, '');
  say(`built dist/ in ${Math.round(performance.now() - started)} ms`);
} else {
  say('dist/ is up to date');
}
