/**
 * Installs the four packages from their tarballs into empty folders, as a host does: strict TypeScript programs,
 * Express, Vite with React 19, and Next. Needs minutes and the registry, so it is part of `npm run test:long`.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOfKind } from '../documents/blocks.js';
import { examplesIn } from '../documents/examples.js';
import { launchChromium } from '../suites/chromium.js';
import { type OwnPostgres, startOwnPostgres } from '../suites/postgres-server.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = fileURLToPath(new URL('program', import.meta.url));
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const apiKey = randomBytes(24).toString('base64url');
const minutes = 60_000;
/** What a strict program with Express installs. */
const express = ['express@5', '@types/express@5', '@types/node@20'];

const run = (command: string, args: readonly string[], cwd: string): Promise<string> =>
  new Promise((resolve, reject) =>
    execFile(command, args, { cwd, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`)),
    ),
  );

let folder: string;
let postgres: OwnPostgres | undefined;
const started: ChildProcess[] = [];

/** Starts a program and resolves with what `ready` finds in its output. */
const start = (args: readonly string[], cwd: string, ready: RegExp, env: NodeJS.ProcessEnv = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env } });
    started.push(child);
    let told = '';
    const hear = (chunk: Buffer): void => {
      told += String(chunk);
      const [, found] = ready.exec(told) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('exit', (code) => reject(new Error(`exit ${code}: ${told}`)));
  });

/** Installs a package's tarball, and others from the registry, into a new folder. */
const install = async (name: string, ...others: readonly string[]): Promise<string> => installAs(name, name, ...others);

const installAs = async (name: string, at: string, ...others: readonly string[]): Promise<string> => {
  const home = join(folder, at);
  await mkdir(home);
  await writeFile(join(home, 'package.json'), '{"type":"module","private":true}');
  const tarball = (await readdir(folder)).find((file) => file.startsWith(`guestlist-${name}`) && file.endsWith('.tgz'));
  const wanted = [join(folder, tarball ?? `guestlist-${name}.tgz`), ...others];
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', ...wanted], home);
  return home;
};

type Compiling = {
  /** The packages of `@types` whose globals the program has. */
  readonly types?: readonly string[];
  /** Where the program is. Default: the programs of this test. */
  readonly from?: string;
  readonly options?: object;
};

const compile = async (home: string, file: string, compiling: Compiling = {}): Promise<void> => {
  const { types = [], from = program, options = {} } = compiling;
  if (from !== home) await cp(join(from, file), join(home, file));
  const text = await readFile(join(program, 'tsconfig.json'), 'utf8');
  const { compilerOptions } = JSON.parse(text) as { readonly compilerOptions: object };
  await writeFile(
    join(home, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compilerOptions, types, ...options }, files: [file] }),
  );
  expect(await run(process.execPath, [compiler, '-p', home], home)).toBe('');
};

let service: string;
let host: string;
/** Headers of a page of the host's own origin. */
const asAnn = () => ({ 'x-user': 'ann', origin: new URL(host).origin });
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-packages-'));
  await run(process.execPath, ['packages/build.mjs'], root);
  const names = ['guestlist', 'gateway', 'elements', 'client'];
  for (const name of names) {
    const home = name === 'guestlist' ? root : join(root, 'packages', name);
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], home);
  }
  // The tarball of the package `guestlist` has only the version after `guestlist-` in its name.
  const [own = ''] = (await readdir(folder)).filter((file) => /^guestlist-\d/.test(file));
  await cp(join(folder, own), join(folder, 'guestlist-guestlist.tgz'));
  postgres = await startOwnPostgres();
}, 3 * minutes);
afterAll(async () => {
  for (const child of started) child.kill('SIGTERM');
  await postgres?.stop('immediate');
  // The product still closes its database in it.
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
});

test('guestlist starts where its tarball was installed', { timeout: 5 * minutes }, async () => {
  const home = await install('guestlist', 'vega-datasets@3.2.1');
  service = await start(['node_modules/guestlist/bin/guestlist.mjs', 'serve'], home, /Guestlist is up at (http:\S+)/, {
    PORT: '0',
    GUESTLIST_DATA_DIR: join(home, 'data'),
    GUESTLIST_DEMO_API_KEY: apiKey,
  });
  expect((await fetch(`${service}/readyz`)).status).toBe(200);
});

test('a strict program compiles with guestlist alone, and with Express 4 or 5', { timeout: 5 * minutes }, async () => {
  const home = join(folder, 'guestlist');
  const resolutions = [{ module: 'NodeNext' }, { module: 'Preserve', moduleResolution: 'Bundler' }];
  for (const resolution of resolutions)
    await compile(home, 'library.ts', { options: { ...resolution, lib: ['ES2023'] } });
  for (const version of [4, 5]) {
    const host = join(home, `express-${version}`);
    await mkdir(host);
    await writeFile(join(host, 'package.json'), '{"type":"module","private":true}');
    const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
    await run('npm', ['install', ...options, `@types/express@${version}`], host);
    for (const resolution of resolutions) await compile(host, 'mounted.ts', { options: resolution });
  }
});

test('a host mounts @guestlist/gateway, with its ledger in PostgreSQL and without DuckDB', {
  timeout: 5 * minutes,
}, async () => {
  const home = await install('gateway', ...express);
  const installed = await readdir(join(home, 'node_modules'));
  expect(installed).not.toEqual(expect.arrayContaining(['@duckdb']));
  expect(installed).not.toEqual(expect.arrayContaining(['@electric-sql']));
  expect(installed).not.toEqual(expect.arrayContaining(['echarts']));
  await compile(home, 'gateway.ts', { types: ['node'] });
  const policies = join(root, 'config/policies/flights.yaml');
  const port = await start(['gateway.js', service, apiKey, policies, postgres?.url ?? ''], home, /"port":(\d+)/);
  host = `http://127.0.0.1:${port}/analytics`;
  const answer = await fetch(`${host}/embed-token`, { method: 'POST', headers: asAnn() });
  expect(await answer.json()).toMatchObject({ serviceUrl: service, embeds: [{ id: 'delays--LAX' }] });
  expect((await fetch(`${host}/embed-token`, { method: 'POST' })).status).toBe(401);
  const elements = await fetch(`${host}/elements.js?v=1`);
  expect(elements.headers.get('content-type')).toMatch('text/javascript');
  expect(await elements.text()).toContain('guestlist-dashboard');
});

test('a host keeps the ledger of @guestlist/gateway in a folder, by PGlite and without DuckDB', {
  timeout: 5 * minutes,
}, async () => {
  const embedded = ['@electric-sql/pglite@0.5.8', '@electric-sql/pglite-prepopulatedfs@0.5.8'];
  const home = await installAs('gateway', 'gateway-folder', ...express, ...embedded);
  expect(await readdir(join(home, 'node_modules'))).not.toEqual(expect.arrayContaining(['@duckdb']));
  await compile(home, 'gateway.ts', { types: ['node'] });
  const policies = join(root, 'config/policies/flights.yaml');
  const args = ['gateway.js', service, apiKey, policies, join(home, 'data')];
  const port = await start(args, home, /"port":(\d+)/);
  const answer = await fetch(`http://127.0.0.1:${port}/analytics/embed-token`, {
    method: 'POST',
    headers: { 'x-user': 'ann', origin: `http://127.0.0.1:${port}` },
  });
  expect(await answer.json()).toMatchObject({ embeds: [{ id: 'delays--LAX' }] });
  // A second process on the folder is refused.
  await expect(start(args, home, /"port":(\d+)/)).rejects.toThrow(/is in use by process \d+/);
});

test('a backend calls the service with @guestlist/client', { timeout: 3 * minutes }, async () => {
  const home = await install('client', '@types/node@20');
  await compile(home, 'client.ts', { types: ['node'] });
  const told = await run(process.execPath, ['client.js', service, apiKey], home);
  expect(JSON.parse(told)).toEqual({ hasToken: true, code: 'AUTHENTICATION_ERROR' });
});

/** Returns the URL of a host's page with a new token. */
const pageUrl = async (at: string): Promise<string> => {
  const minted = await fetch(`${host}/embed-token`, { method: 'POST', headers: asAnn() });
  const { token, serviceUrl, embeds } = (await minted.json()) as {
    readonly token: string;
    readonly serviceUrl: string;
    readonly embeds: readonly { readonly id: string }[];
  };
  return `${at}/?${new URLSearchParams({ token, serviceUrl, dashboardId: embeds[0]?.id ?? '' })}`;
};

const look = async (url: string, see: (page: Page) => Promise<void>): Promise<void> => {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    await page.goto(url);
    await see(page);
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
  }
};

let web: string;
test('@guestlist/elements has types for programs with and without React', { timeout: 5 * minutes }, async () => {
  web = await install('elements', 'react@19', 'react-dom@19', '@types/react@19', 'vite@8', 'next@16');
  await compile(web, 'elements.tsx');
  const types = await Promise.all(
    ['elements.d.ts', 'react.d.ts'].map((file) => readFile(join(root, 'packages/elements', file), 'utf8')),
  );
  const examples = types.flatMap(examplesIn);
  expect(examples.length).toBeGreaterThan(6);
  for (const { text, language } of [...blocksOfKind('program of elements'), ...examples]) {
    await writeFile(join(web, `shown.${language}`), text);
    await compile(web, `shown.${language}`, { from: web });
  }
  const server = "import('@guestlist/elements').then((all) => console.log(Object.keys(all).join()))";
  expect(await run(process.execPath, ['-e', server], web)).toBe(
    'GuestlistDashboard,GuestlistEditor,GuestlistMetric,registerAs\n',
  );
});

test('Vite and React 19 show the dashboard, by the wrapper and by the element', { timeout: 3 * minutes }, async () => {
  const home = join(web, 'vite');
  await cp(join(program, 'vite'), home, { recursive: true });
  const vite = join(web, 'node_modules/vite/bin/vite.js');
  await run(process.execPath, [vite, 'build'], home);
  const port = await start([vite, 'preview', '--port', '0', '--host', '127.0.0.1'], home, /127\.0\.0\.1:\S*?(\d{4,5})/);
  await look(await pageUrl(`http://127.0.0.1:${port}`), async (page) => {
    await page.locator('guestlist-dashboard >> guestlist-card').nth(4).waitFor();
    await page.locator('h1', { hasText: /\S/ }).waitFor();
    const cards = await page
      .locator('guestlist-dashboard')
      .evaluateAll((all) => all.map((element) => element.shadowRoot?.querySelectorAll('guestlist-card').length));
    expect(cards[0]).toBeGreaterThan(1);
  });
});

test('Next renders on the server without the token, and shows the dashboard', { timeout: 8 * minutes }, async () => {
  const home = join(web, 'next');
  await cp(join(program, 'next'), home, { recursive: true });
  const next = join(web, 'node_modules/next/dist/bin/next');
  await run(process.execPath, [next, 'build'], home);
  const port = await start([next, 'start', '-p', '0', '-H', '127.0.0.1'], home, /127\.0\.0\.1:(\d+)/);
  const url = await pageUrl(`http://127.0.0.1:${port}`);
  const html = await (await fetch(url)).text();
  expect(html).toContain('<guestlist-dashboard></guestlist-dashboard>');
  await look(url, async (page) => {
    await page.locator('guestlist-dashboard >> guestlist-card').first().waitFor();
  });
});
