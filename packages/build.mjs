// Builds what the published packages hold, after build.mjs has built dist/. Name the packages to build; without a name all five are built.
// Each package's `prepack` calls this file, so `npm pack` in a clean clone (after `npm ci`) gives a complete tarball.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { bundleElements, interFolder } from '../web-bundle.mjs';
import { rollUpTypes } from './types.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const packages = join(root, 'packages');
const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc');

const run = (...args) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 27,
  });
  if (status !== 0) throw new Error(`${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
};

const emptyFolder = (name) => {
  const folder = join(packages, name, 'dist');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
};

/** One file that declares what src/compose/library.ts exports. Kept beside dist/, which build.mjs empties when a source changed. */
const libraryTypes = () => {
  const file = join(root, 'dist/compose/library.d.ts');
  if (existsSync(file)) return file;
  // Below the root, so that the declarations find the packages that they import.
  const tree = mkdtempSync(join(root, 'dist/.types-'));
  try {
    run(tsc, '-p', 'packages/tsconfig.types.json', '--noCheck', '--outDir', tree);
    writeFileSync(file, rollUpTypes(join(tree, 'compose/library.d.ts')));
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
  return file;
};

/** What a host installs beside the gateway: packages with files or workers of their own, those that are optional, and Express, its own. */
const apart =
  /^(?:express|pino|ioredis|pg|rate-limiter-flexible|standardwebhooks|@duckdb\/node-api|@electric-sql\/[^/]+)(?:\/|$)/;

const packageOf = (file) => /^(.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+)[/\\]/.exec(file)?.[1];

const noticeOf = (folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(?:licen[cs]e|notice|copying)/i.test(entry.name))
    .map((entry) => entry.name)
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
};

/** The licences of the packages that a bundle holds, and of the font beside the elements: they ask that their texts go with every copy. */
const writeNotices = (chunks, folder) => {
  const found = new Set(chunks.flatMap(({ moduleIds = [] }) => moduleIds.map(packageOf)));
  found.delete(undefined);
  found.add(interFolder);
  const notices = [...found].sort().map(noticeOf);
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), notices.join(`\n${'-'.repeat(80)}\n\n`));
};

const bundle = async (input, output) => {
  const bundled = await rolldown(input);
  const { output: chunks } = await bundled.write(output);
  await bundled.close();
  return chunks;
};

const buildGateway = async () => {
  const dist = emptyFolder('gateway');
  const chunks = await bundle(
    {
      input: {
        gateway: join(root, 'src/compose/library.ts'),
        'draft-worker': join(root, 'src/gateway/policy-tools/draft-worker.ts'),
        'reading-worker': join(root, 'src/gateway/policy/reading-worker.ts'),
      },
      ...{ platform: 'node', cwd: root, external: apart },
    },
    {
      dir: join(dist, 'gateway'),
      format: 'esm',
      sourcemap: true,
      entryFileNames: '[name].js',
      chunkFileNames: 'chunk-[name]-[hash].js',
    },
  );
  writeNotices(chunks, join(packages, 'gateway/dist'));
  mkdirSync(join(dist, 'web'));
  cpSync(join(root, 'dist/web/elements.js'), join(dist, 'web/elements.js'));
  for (const folder of ['charts', 'fonts']) {
    cpSync(join(root, 'dist/web', folder), join(dist, 'web', folder), { recursive: true });
  }
  cpSync(join(root, 'config/presets'), join(dist, 'config/presets'), { recursive: true });
  cpSync(libraryTypes(), join(dist, 'gateway/gateway.d.ts'));
};

/** On a server the elements are names without behaviour: React puts nothing of their properties into the page, so no token is in its text. */
const serverElements = () => {
  const manifest = JSON.parse(readFileSync(join(packages, 'elements/custom-elements.json'), 'utf8'));
  const classes = manifest.modules
    .flatMap(({ declarations }) => declarations)
    .filter(({ customElement }) => customElement)
    .map(({ name, members }) => {
      const fields = members.filter(({ kind }) => kind === 'field').map((member) => `  set ${member.name}(_value) {}`);
      return `export class ${name} {\n  static prepare() {}\n${fields.join('\n')}\n}\n`;
    });
  return `// The browser's module is elements.js; a server loads this one, which does nothing.\n${classes.join('\n')}\nexport const registerAs = () => {};\n`;
};

const buildElements = async () => {
  const dist = emptyFolder('elements');
  writeNotices(await bundleElements(dist), dist);
  writeFileSync(join(dist, 'server.js'), serverElements());
};

const buildClient = async () => {
  const dist = emptyFolder('client');
  const [{ createOpenApi }, { operations }] = await Promise.all(
    ['platform/http/interface/openapi.js', 'service/operations.js'].map(
      (file) => import(pathToFileURL(join(root, 'dist', file)).href),
    ),
  );
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(join(dist, 'openapi.json'), `${JSON.stringify(createOpenApi(operations, { version }))}\n`);
  writeFileSync(join(dist, 'api.d.ts'), run(join(packages, 'openapi-types.mjs'), join(dist, 'openapi.json')));
  cpSync(join(packages, 'client/client.ts'), join(dist, 'client.ts'));
  run(tsc, '-p', 'packages/client/tsconfig.json');
  rmSync(join(dist, 'client.ts'));
};

/** One program without dependencies. */
const buildConformance = () =>
  bundle(
    { input: join(root, 'src/conformance/program.ts'), platform: 'node', cwd: root },
    { file: join(emptyFolder('conformance'), 'conformance.js'), format: 'esm', codeSplitting: false },
  );

const builders = {
  guestlist: libraryTypes,
  gateway: buildGateway,
  elements: buildElements,
  client: buildClient,
  conformance: buildConformance,
};

const named = process.argv.slice(2);
const unknown = named.filter((name) => builders[name] === undefined);
if (unknown.length > 0) throw new Error(`no such package: ${unknown.join(', ')}`);
run(join(root, 'build.mjs'), '--quiet');

const changedAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const sourcesAt = Math.max(
  changedAt(join(root, 'dist/.built')),
  ...readdirSync(packages, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !/[/\\]dist([/\\]|$)/.test(entry.parentPath))
    .map((entry) => changedAt(join(entry.parentPath, entry.name))),
);

for (const name of named.length === 0 ? Object.keys(builders) : named) {
  const stamp = join(packages, name, 'dist/.built');
  if (changedAt(stamp) >= sourcesAt) continue;
  await builders[name]();
  if (name !== 'guestlist') writeFileSync(stamp, '');
}
