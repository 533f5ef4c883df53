/** The content of each published package, by `npm pack` of the built packages. `installed.test.ts` installs them. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { presetNames } from '../../src/platform/config/presets.js';
import { blocksOfKind, nameOf } from '../documents/blocks.js';
import { examplesIn, namesIn } from '../documents/examples.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folders = {
  guestlist: '.',
  gateway: 'packages/gateway',
  elements: 'packages/elements',
  client: 'packages/client',
};
type Name = keyof typeof folders;
const names: readonly Name[] = ['guestlist', 'gateway', 'elements', 'client'];

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports: unknown;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
};
type Packed = { readonly files: readonly { readonly path: string; readonly mode: number }[] };

const run = (command: string, args: readonly string[], cwd = root): string => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 27 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
};
const readJson = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'));
const manifestOf = (name: Name) => readJson(join(folders[name], 'package.json')) as Manifest;

const packed = new Map<Name, Packed>();
const filesOf = (name: Name) => (packed.get(name)?.files ?? []).map(({ path }) => path);

beforeAll(() => {
  run(process.execPath, ['packages/build.mjs']);
  for (const name of names) {
    const told = run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], join(root, folders[name]));
    const [found] = JSON.parse(told) as readonly Packed[];
    if (found !== undefined) packed.set(name, found);
  }
});

const pathsIn = (exported: unknown): readonly string[] => {
  if (typeof exported === 'string') return [exported];
  return typeof exported === 'object' && exported !== null ? Object.values(exported).flatMap(pathsIn) : [];
};

/** Packages that the code of a file imports. */
const importsOf = (text: string): readonly string[] =>
  [
    ...text.matchAll(
      /^(?:import|export)\s[^'"`;]*?from\s*["']([^"'.][^"']*)["']|\bimport\(\s*["']([^"'.][^"']*)["']\s*\)/gm,
    ),
  ]
    .map(([, still, late]) => still ?? late ?? '')
    .filter((specifier) => !specifier.startsWith('node:') && !builtinModules.includes(specifier))
    .map((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '');

test('the conformance kit is one program, which needs no other package', () => {
  const kit = join(root, 'packages/conformance');
  const [told] = JSON.parse(run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], kit)) as readonly Packed[];
  expect(readJson('packages/conformance/package.json')).toMatchObject({ version: manifestOf('guestlist').version });
  expect(told?.files.map(({ path }) => path).toSorted()).toEqual(['README.md', 'dist/conformance.js', 'package.json']);
  expect(importsOf(readFileSync(join(kit, 'dist/conformance.js'), 'utf8'))).toEqual([]);
  expect(run(process.execPath, [join(kit, 'dist/conformance.js'), '--help'])).toContain('--base-url');
});

describe.each(names)('the package %s', (name) => {
  it('holds what its manifest names', () => {
    const { exports, bin = {} } = manifestOf(name);
    const missing = [...pathsIn(exports), ...Object.values(bin)]
      .map((path) => path.replace(/^\.\//, ''))
      .filter((path) => !filesOf(name).includes(path));
    expect(missing).toEqual([]);
    expect(filesOf(name)).toContain('README.md');
  });

  it('holds the presets of login providers, if it reads policies', () => {
    const folders: Partial<Record<Name, string>> = { guestlist: 'config/presets', gateway: 'dist/config/presets' };
    const folder = folders[name];
    const wanted = folder === undefined ? [] : presetNames.map((preset) => `${folder}/${preset}.yaml`);
    expect(
      filesOf(name)
        .filter((path) => path.includes('config/presets/'))
        .toSorted(),
    ).toEqual(wanted);
  });

  it('holds no tests, no sources and no data', () => {
    const allowed = /^(?:bin|dist|config)\/|^[^/]+$/;
    const unwanted =
      /(?:^|\/)(?:\.[^/]*|test|src|data|node_modules|credentials\.json)(?:\/|$)|(?<!\.d)\.ts$|\.test\.[jt]s/;
    expect(filesOf(name).filter((path) => !allowed.test(path) || unwanted.test(path))).toEqual([]);
  });

  it('imports what its manifest declares, and no package of development', () => {
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, name: own } = manifestOf(name);
    const declared = new Set([own, ...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })]);
    const texts = filesOf(name)
      .filter((path) => /\.m?js$/.test(path) && path !== 'dist/web/demo.js')
      .map((path) => readFileSync(join(root, folders[name], path), 'utf8'));
    const imported = new Set(texts.flatMap(importsOf));
    // The demo's flight data is not a dependency: `guestlist serve` reports if it is not installed.
    imported.delete('vega-datasets');
    expect([...imported].filter((specifier) => !declared.has(specifier))).toEqual([]);
    if (name !== 'elements') expect(imported.size).toBeGreaterThan(0);
  });

  it('has types that name declared packages alone', () => {
    const { exports, dependencies = {}, peerDependencies = {} } = manifestOf(name);
    const declared = Object.keys({ ...dependencies, ...peerDependencies });
    const types = pathsIn(exports).filter((path) => path.endsWith('.d.ts'));
    const named = types.flatMap((path) => importsOf(readFileSync(join(root, folders[name], path), 'utf8')));
    expect(named.filter((one) => !declared.includes(one))).toEqual([]);
    expect(types.length).toBeGreaterThan(0);
  });

  it('has the version of the whole, and the versions of packages that the tests ran with', () => {
    const { version, dependencies = {}, peerDependencies = {} } = manifestOf(name);
    expect(version).toBe(manifestOf('guestlist').version);
    const { packages } = readJson('package-lock.json') as { readonly packages: Record<string, { version?: string }> };
    // Only the wrapper depends on @lit/react; installed.test.ts runs it.
    const others = new Set(['@lit/react']);
    const exact = Object.entries({ ...dependencies, ...peerDependencies }).filter(
      ([of, range]) => !others.has(of) && /^\d+\.\d+\.\d+/.test(range),
    );
    const locked = exact.map(([of]) => [of, packages[`node_modules/${of}`]?.version]);
    expect(locked).toEqual(exact);
    const pinned = Object.values(dependencies).filter((range) => /^\d+\.\d+\.\d+/.test(range));
    expect(pinned).toEqual(Object.values(dependencies));
  });
});

it('the command line of guestlist can be executed', () => {
  const bin = packed.get('guestlist')?.files.find(({ path }) => path === 'bin/guestlist.mjs');
  expect((bin?.mode ?? 0) & 0o111).toBe(0o111);
});

it('the bundles go with the licences of what they hold', () => {
  const notices = (name: Name) => readFileSync(join(root, folders[name], 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
  expect(notices('gateway')).toMatch(/^zod 4[\s\S]*MIT License/m);
  expect(notices('elements')).toMatch(/^echarts 6[\s\S]*Apache License/m);
  for (const name of ['gateway', 'elements'] as const) expect(filesOf(name)).toContain('dist/THIRD-PARTY-NOTICES.txt');
});

/** What users read in their editors. The package guestlist has the types of the gateway. */
const declarations = {
  gateway: ['packages/gateway/dist/gateway/gateway.d.ts'],
  client: ['packages/client/dist/client.d.ts'],
  elements: ['packages/elements/elements.d.ts', 'packages/elements/react.d.ts'],
} as const;
const typesOf = (name: keyof typeof declarations) =>
  declarations[name].map((file) => readFileSync(join(root, file), 'utf8')).join('\n');

it.each(['gateway', 'client', 'elements'] as const)('each function and class of %s has an example', (name) => {
  const types = typesOf(name);
  const shown = new Set(examplesIn(types).map((example) => example.name));
  expect(namesIn(types).length).toBeGreaterThan(2);
  expect(namesIn(types).filter((each) => !shown.has(each))).toEqual([]);
});

describe('programs of the documents', () => {
  const home = mkdtempSync(join(tmpdir(), 'guestlist-programs-'));
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  beforeAll(() => {
    const modules = join(home, 'node_modules');
    for (const folder of ['@guestlist', '@types']) mkdirSync(join(modules, folder), { recursive: true });
    for (const name of ['gateway', 'client'])
      symlinkSync(join(root, 'packages', name), join(modules, '@guestlist', name));
    for (const name of ['express', '@types/express', 'express-session', '@types/express-session', '@types/node'])
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    writeFileSync(join(home, 'package.json'), '{"type": "module"}');
  });

  const compile = (programs: readonly string[]): void => {
    const files = programs.map((text, index) => {
      writeFileSync(join(home, `program-${index}.ts`), text);
      return `program-${index}.ts`;
    });
    const { compilerOptions } = readJson('test/packages/program/tsconfig.json') as { compilerOptions: object };
    writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    expect(run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', home, '--noEmit'])).toBe('');
  };

  it.each(blocksOfKind('program').map((block) => ({ name: nameOf(block), ...block })))(
    '$name compiles, strictly, against the types that are published',
    ({ text }) => compile([text]),
  );

  it.each(['gateway', 'client'] as const)('the examples of %s compile against the types that are published', (name) =>
    compile(examplesIn(typesOf(name)).map(({ text }) => text)),
  );
});

describe('the elements', () => {
  type Field = { readonly kind: string; readonly name: string; readonly attribute?: string };
  type Declared = { readonly name: string; readonly tagName: string; readonly members: readonly Field[] };
  const { modules } = readJson('packages/elements/custom-elements.json') as {
    readonly modules: readonly { readonly declarations: readonly Declared[] }[];
  };
  const declarations = modules.flatMap(({ declarations: all }) => all);
  type Properties = ReadonlyMap<string, { readonly state?: boolean; readonly attribute?: unknown }>;
  type ElementClass = {
    readonly observedAttributes: readonly string[];
    readonly elementProperties: Properties;
    readonly prototype: Readonly<Record<string, unknown>>;
  };
  // The path is not a literal, so the compiler does not load these files, which need the DOM's types.
  const load = async (file: string, name: string) => {
    const module = (await import(join(root, 'src/web/elements', file))) as Readonly<Record<string, ElementClass>>;
    return module[name];
  };
  const attributesOf = (properties: Properties) =>
    [...properties]
      .filter(([, { state }]) => state !== true)
      .map(([name, { attribute }]) => [
        name,
        attribute === false ? null : typeof attribute === 'string' ? attribute : name.toLowerCase(),
      ])
      .sort();

  it.each([
    { file: 'dashboard-element.ts', name: 'GuestlistDashboard', internal: [] },
    { file: 'metric-element.ts', name: 'GuestlistMetric', internal: [] },
    // Studio sets the first two; the third has no effect on the editor.
    { file: 'editor-element.ts', name: 'GuestlistEditor', internal: ['authoring', 'initial', 'options'] },
  ])('custom-elements.json lists the properties of $name', async ({ file, name, internal }) => {
    const element = await load(file, name);
    // Lit collects the properties when the attributes are read.
    const observed = element?.observedAttributes;
    const declared = declarations
      .find((each) => each.name === name)
      ?.members.filter(({ kind }) => kind === 'field')
      .map((field) => [field.name, field.attribute ?? null]);
    const published = [...(element?.elementProperties ?? new Map())].filter(([own]) => !internal.includes(own));
    expect(declared?.sort()).toEqual(attributesOf(new Map(published)));
    const methods = declarations.find((each) => each.name === name)?.members.filter(({ kind }) => kind === 'method');
    expect(methods?.filter((method) => typeof element?.prototype[method.name] !== 'function')).toEqual([]);
    expect(observed).toEqual(expect.arrayContaining(['dashboard-id', 'dashboardid', 'service-url', 'serviceurl']));
  });

  it('do nothing on a server', async () => {
    const before = Object.keys(globalThis).sort();
    const server = (await import(pathToFileURL(join(root, 'packages/elements/dist/server.js')).href)) as object;
    expect(Object.keys(server)).toEqual(['GuestlistDashboard', 'GuestlistEditor', 'GuestlistMetric', 'registerAs']);
    expect(Object.keys(globalThis).sort()).toEqual(before);
  });
});
