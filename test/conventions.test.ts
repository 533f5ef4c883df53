/** Rules of this project as tests, so that they are kept. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { defaultSettings } from '../src/platform/config/settings.js';
import { operations } from '../src/service/operations.js';
import { fileCircles, readSources, roomCircles } from './structure/graph.mjs';
import { findKeptPromises } from './structure/kept-promises.mjs';
import { readTestNames } from './structure/test-names.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');

type Import = { readonly from: string; readonly isTypeOnly: boolean };
type Source = {
  readonly file: string;
  readonly folder: string;
  readonly text: string;
  readonly imports: readonly Import[];
};

const importPattern = /^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm;
const dynamicPattern = /\bimport\(\s*'([^']+)'/g;

const sources: readonly Source[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => {
    const text = readFileSync(join(src, file), 'utf8');
    const imports = [
      ...[...text.matchAll(importPattern)].map((match) => ({
        from: match[2] ?? '',
        isTypeOnly: match[1] !== undefined,
      })),
      ...[...text.matchAll(dynamicPattern)].map((match) => ({ from: match[1] ?? '', isTypeOnly: false })),
    ];
    const [folder = ''] = file.includes('/') ? file.split('/') : [''];
    return { file, folder, text, imports };
  });

type Row = { readonly rooms: readonly string[]; readonly packages: readonly RegExp[] };

const every = [/^[^.]/];
const ofNode = /^node:/;

/**
 * The rooms of src. The longest row that a file's path begins with is its room; files of the service are told apart by
 * what they are. `rooms`: whose code it may import beside its own.
 */
const rooms: Readonly<Record<string, Row>> = {
  model: { rooms: ['languages'], packages: [] },
  // Texts in JSON, one file for each language.
  languages: { rooms: [], packages: [] },
  platform: { rooms: ['model'], packages: every },
  // What can be called: declarations, types, fields. Reads no request.
  'platform/http/interface': { rooms: ['model'], packages: [/^zod$/] },
  'platform/http': {
    rooms: ['model', 'platform', 'platform/http/interface'],
    packages: [/^express$/, /^helmet$/, /^zod$/, ofNode],
  },
  engine: {
    rooms: ['model', 'platform'],
    packages: [
      /^kysely$/,
      /^@duckdb\//,
      /^pg$/,
      /^mysql2(\/promise)?$/,
      /^@clickhouse\/client$/,
      /^libpg-query$/,
      /^pgsql-deparser$/,
      ofNode,
    ],
  },
  // The function of an operation: rules and ports.
  service: { rooms: ['model'], packages: [] },
  'service contracts': { rooms: ['model', 'platform/http/interface'], packages: [/^zod$/, /^fflate$/] },
  'service/store': { rooms: ['model', 'platform'], packages: [/^kysely$/, ofNode] },
  'service/operations.ts': {
    rooms: ['model', 'platform/http/interface', 'service', 'service contracts'],
    packages: [],
  },
  gateway: {
    rooms: ['model', 'platform', 'platform/http', 'platform/http/interface', 'service contracts'],
    packages: [
      /^helmet$/,
      /^pino$/,
      /^yaml$/,
      /^zod$/,
      /^lru-cache$/,
      /^standardwebhooks$/,
      /^kysely$/,
      /^@marcbachmann\/cel-js$/,
      ofNode,
    ],
  },
  // Runs offline: tests, plans and explanations of policies.
  'gateway/policy-tools': {
    rooms: ['model', 'platform', 'platform/http', 'platform/http/interface', 'service contracts', 'gateway'],
    packages: [/^yaml$/, /^zod$/, /^@marcbachmann\/cel-js$/, ofNode],
  },
  // Sends dashboards on schedule. The right of a recipient is the gateway's and the service's, asked for at each message.
  delivery: {
    rooms: ['model', 'platform', 'delivery/rendering'],
    packages: [/^croner$/, /^nodemailer$/, /^standardwebhooks$/, ofNode],
  },
  'delivery/rendering': { rooms: ['model', 'platform'], packages: [/^playwright-core$/, ofNode] },
  // Asks language models. What may be sent is decided elsewhere.
  'assistants/models': { rooms: ['model', 'platform'], packages: [ofNode] },
  // Guests' operations as tools: calls the dispatch and nothing else.
  'assistants/mcp': {
    rooms: ['model', 'platform/http', 'platform/http/interface', 'service contracts'],
    packages: [/^@modelcontextprotocol\/sdk\//, /^zod$/, ofNode],
  },
  // Authors and operators: calls the service by its operations and the gateway by its functions.
  studio: {
    rooms: [
      ...['model', 'platform', 'platform/http', 'platform/http/interface'],
      ...['service contracts', 'gateway', 'assistants/mcp'],
    ],
    packages: [/^express$/, /^openid-client$/, /^zod$/, ofNode],
  },
  demo: {
    rooms: ['model', 'platform', 'platform/http', 'platform/http/interface', 'service contracts'],
    packages: every,
  },
  // Must not share code with the product: a common mistake would stay hidden.
  conformance: { rooms: [], packages: [ofNode] },
  web: {
    rooms: ['languages'],
    packages: [/^lit(\/|$)/, /^echarts(\/|$)/, /^minisearch$/, /^@(?:codemirror|lezer|dagrejs)\//],
  },
  cli: {
    rooms: [
      ...['model', 'platform', 'platform/http', 'platform/http/interface', 'service', 'service contracts'],
      ...[
        'service/store',
        'engine',
        'gateway',
        'gateway/policy-tools',
        'studio',
        'conformance',
        'demo',
        'compose',
        'main.ts',
      ],
    ],
    packages: every,
  },
  compose: {
    rooms: [
      ...['model', 'platform', 'platform/http', 'platform/http/interface', 'service', 'service contracts'],
      ...['service/store', 'service/operations.ts', 'engine', 'gateway', 'gateway/policy-tools', 'delivery'],
      ...['delivery/rendering', 'assistants/models', 'assistants/mcp', 'studio', 'demo', 'main.ts'],
    ],
    packages: every,
  },
  'main.ts': {
    rooms: [
      'model',
      'platform',
      'platform/http',
      'platform/http/interface',
      'service contracts',
      'service',
      'gateway',
      'compose',
    ],
    packages: every,
  },
};

/** Rooms from which types may be imported in addition. */
const mayImportTypes: Readonly<Record<string, readonly string[]>> = {
  // The browser uses the types of the interface and of commands.
  web: ['model', 'platform/http/interface', 'service contracts', 'service/operations.ts', 'compose'],
  // What takes a store as a parameter imports its type, which is derived from its implementation.
  ...{ service: ['service/store'], 'service/operations.ts': ['service/store'], delivery: ['service/store'] },
  ...{ studio: ['service/store'], demo: ['service/store'] },
};

/**
 * What the browser decides by the functions of the service, since a second version of them would say something else one
 * day: whose rows the tables of an unsaved model hold, which addresses of recipients are refused, the parts of dates and
 * numbers, the names of periods, the formats of columns, which groups keep currencies apart, how measures combine, themes,
 * how a text is looked up, the escaping of markup, and what a mail server did.
 */
const isSharedCode = (file: string, target: string): boolean =>
  (file.startsWith('web/') && /^model\/(?:theme|texts)\//.test(target)) ||
  (file.startsWith('web/studio/') &&
    /^model\/(datamart\/|dashboard\/abilities|schedule\/mail-faults|organization\.js|record-of\.js)/.test(target)) ||
  (/^web\/(?:base|editor)\//.test(file) && /^model\/(?:datamart\/dates|query\/numbers)\.js$/.test(target)) ||
  (/^web\/(?:filters|editor)\//.test(file) && target === 'model/filter/relative.js') ||
  (file === 'web/editor/edit.ts' &&
    /^model\/(?:guest\/(?:column-formats|currency-groups)|dashboard\/others)\.js$/.test(target)) ||
  (file === 'web/charts/pictures/draw.ts' && target === 'model/markup.js') ||
  (file === 'web/editor/preview.ts' && target === 'model/guest/combining.js') ||
  (file.startsWith('web/elements/') && /^model\/schedule\/(?:address|recipients)\./.test(target));

const longestFirst = Object.keys(rooms).toSorted((one, other) => other.length - one.length);

const roomOf = (file: string): string | undefined => {
  if (/^service\/.*\bcontract(?:\/|\.[tj]s$)/.test(file)) return 'service contracts';
  return longestFirst.find((room) => file.replace(/\.js$/, '.ts') === room || file.startsWith(`${room}/`));
};

const forbidden = ({ file, imports }: Source): readonly string[] => {
  const room = roomOf(file);
  const row = room === undefined ? undefined : rooms[room];
  if (room === undefined || row === undefined) return [`${file}: no room of the table`];
  return imports.flatMap(({ from, isTypeOnly }) => {
    if (!from.startsWith('.'))
      return row.packages.some((allowed) => allowed.test(from)) ? [] : [`${file} imports ${from}`];
    const path = relative(src, resolve(dirname(join(src, file)), from));
    const target = roomOf(path) ?? '';
    if (target === room || row.rooms.includes(target) || isSharedCode(file, path)) return [];
    return isTypeOnly && mayImportTypes[room]?.includes(target) ? [] : [`${file} imports ${from}`];
  });
};

describe('the layer table', () => {
  test('every room imports only what its row allows', () => {
    expect(sources.flatMap(forbidden)).toEqual([]);
  });

  // The types of commands bring those of Node along, so the compiler does not refuse them.
  test('pages use no global of Node', () => {
    const ofNode = /\b(?:process|Buffer|setImmediate|__dirname|require)\b(?:\.\w|\()/;
    const found = sources.filter(({ folder, text }) => folder === 'web' && ofNode.test(text));
    expect(found.map(({ file }) => file)).toEqual([]);
  });

  test('only main and the command line import code of the composition, main or the command line', () => {
    const offenders = sources
      .filter(({ file, folder }) => file !== 'main.ts' && folder !== 'cli')
      .flatMap(({ file, imports }) =>
        imports
          .filter(({ from, isTypeOnly }) => !isTypeOnly && /\/main\.js$|\/(cli|compose)\//.test(from))
          .map(({ from }) => `${file} imports ${from}`),
      );
    expect(offenders).toEqual([]);
  });

  test('only main.ts reads the environment', () => {
    expect(sources.filter(({ text }) => /\bprocess\.env\b/.test(text)).map(({ file }) => file)).toEqual(['main.ts']);
  });

  test('addresses are called where they are checked: in outgoing.ts, and the configured service by its transport', () => {
    const calls = /(?:^|[^.\w])fetch\(|\{[^}]*\brequest\b[^}]*\} from 'node:https?'/m;
    const isServer = ({ folder }: Source): boolean => !['web', 'cli', 'conformance'].includes(folder);
    const found = sources.filter((source) => isServer(source) && calls.test(source.text)).map(({ file }) => file);
    expect(found.toSorted()).toEqual(['gateway/upstream/http-upstream.ts', 'platform/calls/outgoing.ts']);
  });

  test('traces go through their port: no other file imports the API of OpenTelemetry, and none an SDK', () => {
    const found = sources.flatMap(({ file, imports }) =>
      imports.filter(({ from }) => from.startsWith('@opentelemetry/')).map(({ from }) => `${file} imports ${from}`),
    );
    expect(found).toEqual(['platform/traces/trace.ts imports @opentelemetry/api']);
  });

  test('a plan over the rows of all tenants is made for the files of rollups, and nowhere else', () => {
    const found = sources.filter(({ text }) => /\bscopeToAllTenants\b/.test(text)).map(({ file }) => file);
    expect(found.toSorted()).toEqual(['engine/rollups/builder.ts', 'engine/scope/scope-to-tenant.ts']);
  });

  test('signals are combined by `anyOf`, which keeps a timeout that nothing else holds', () => {
    const found = sources.filter(({ text }) => /AbortSignal\.any\(/.test(text)).map(({ file }) => file);
    expect(found.toSorted()).toEqual(['conformance/kit/wire.ts', 'model/signals.ts']);
  });

  test('the model knows neither clock nor randomness', () => {
    const offenders = sources.filter(
      ({ folder, text }) => folder === 'model' && /Date\.now|new Date\(\)|Math\.random|performance\./.test(text),
    );
    expect(offenders.map(({ file }) => file)).toEqual([]);
  });
});

/** Known circles of imports. Remove an entry together with its circle; never add one. */
const knownCircles: readonly string[] = [];

describe('imports run one way', () => {
  const graph = readSources();

  test('no files import each other in a circle, types included', () => {
    expect(
      fileCircles(graph)
        .map((files) => files.join(', '))
        .toSorted(),
    ).toEqual(knownCircles);
  });

  test('no rooms import each other in a circle, nested ones and types included', () => {
    expect(roomCircles(graph).map(({ room, parts, imports }) => `${room}: ${parts.join(', ')}: ${imports}`)).toEqual(
      [],
    );
  });

  test('a room that imports back into its parent is found, and a circle of three', () => {
    const file = (name: string, ...imports: string[]) => ({
      ...{ file: name, folder: dirname(name), lines: 1 },
      imports,
      functions: [],
    });
    const nested = [file('a/a.ts', 'a/b/b.ts'), file('a/b/b.ts', 'a/c.ts'), file('a/c.ts')];
    const three = [file('a/x.ts', 'b/x.ts'), file('b/x.ts', 'c/y/x.ts'), file('c/y/x.ts', 'a/x.ts')];
    expect(roomCircles(nested).map(({ room, parts }) => [room, ...parts])).toEqual([['a', '.', 'b']]);
    expect(roomCircles(three).map(({ room, parts }) => [room, ...parts])).toEqual([['.', 'a', 'b', 'c']]);
  });
});

describe('exports', () => {
  /** `npm run lint` finds exports that only tests use, unless they are marked. Remove a mark with its use; add none. */
  test('exports that only tests use are few, and each says why', () => {
    const marks = sources.flatMap(({ text }) => [...text.matchAll(/@internal(.*)/g)].map(([, reason = '']) => reason));
    expect(marks.filter((reason) => !/^ Tests only: .+\.(?: \*\/)?$/.test(reason))).toEqual([]);
    expect(marks.length).toBeLessThanOrEqual(12);
  });
});

describe('sizes and names', () => {
  test('files are kebab-case, and exports are named', () => {
    expect(
      sources
        .filter(({ file }) => !/^([a-z0-9-]+\/)*[a-z0-9]+(-[a-z0-9]+)*(\.d)?\.ts$/.test(file))
        .map(({ file }) => file),
    ).toEqual([]);
    expect(sources.filter(({ text }) => /^export default/m.test(text)).map(({ file }) => file)).toEqual([]);
  });

  test('translations are JSON: one file for each language, and nothing else beside them', () => {
    expect(readdirSync(join(src, 'languages')).filter((file) => !/^[a-z]{2}\.json$/.test(file))).toEqual([]);
  });

  test('no name says Impl, Manager, Helper or Util', () => {
    const offenders = sources.filter(({ text }) =>
      /\b(?:class|type|interface|const|function)\s+\w*(?:Impl|Manager|Helper|Util)s?\b/.test(text),
    );
    expect(offenders.map(({ file }) => file)).toEqual([]);
  });
});

describe('the table of operations', () => {
  test('has every operation that a file of the contract declares', async () => {
    const contracts = sources.filter(({ file }) => roomOf(file) === 'service contracts');
    const exported = await Promise.all(contracts.map(({ file }) => import(join(src, file))));
    const declared = exported.flatMap((module) =>
      Object.entries<object>(module).flatMap(([name, value]) =>
        value !== null && typeof value === 'object' && 'bindings' in value ? [name] : [],
      ),
    );
    expect(declared.toSorted()).toEqual(Object.keys(operations).toSorted());
  });

  test('every error that one declares is provoked by a test: `<operation> <code>`, as `refused` of test/spec takes it', () => {
    // Errors that no request can cause are tested without HTTP.
    const texts = [join(root, 'test/spec'), join(root, 'test/service')].flatMap((folder) =>
      readdirSync(folder)
        .filter((file) => file.endsWith('.test.ts'))
        .map((file) => readFileSync(join(folder, file), 'utf8')),
    );
    expect(texts.filter((text) => /\.(skip|todo|only|fails)\b/.test(text))).toEqual([]);
    const pairs = Object.values(operations).flatMap(({ name, errors }) =>
      Object.keys(errors)
        // INTERNAL_SERVER_ERROR cannot be provoked by a request, and RATE_LIMITED occurs before any operation:
        // test/platform/http/admission.test.ts tests it for each one. QUOTA_REACHED does so too: test/spec/quota.test.ts.
        .filter((code) => !['INTERNAL_SERVER_ERROR', 'RATE_LIMITED', 'QUOTA_REACHED'].includes(code))
        .map((code) => `${name} ${code}`),
    );
    expect(pairs.filter((pair) => !texts.some((text) => text.includes(`'${pair}'`)))).toEqual([]);
  });

  test('no two bindings of one method and path are ambiguous', () => {
    const seen = Object.values(operations).flatMap(({ bindings }) =>
      bindings
        .filter(({ when }) => when === undefined)
        .map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`),
    );
    expect(seen.filter((key, index) => seen.indexOf(key) < index)).toEqual([]);
  });
});

describe('the configuration', () => {
  test('the shipped file shows every setting with its default', () => {
    expect(parse(readFileSync(join(root, 'config/guestlist.yaml'), 'utf8'))).toEqual(defaultSettings());
  });
});

describe('the tests', () => {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.ts$/.test(file) && file !== 'conventions.test.ts')
    .map((file) => ({ file, text: readFileSync(join(root, 'test', file), 'utf8') }));
  const withText = (pattern: RegExp) => files.filter(({ text }) => pattern.test(text)).map(({ file }) => file);

  test('tests set no clock of the process: the product takes its clock as a parameter', () => {
    expect(withText(/setSystemTime|toFake: \[[^\]]*'Date'|useFakeTimers\(\)|globalThis\.Date =/)).toEqual([]);
  });

  test('random cases never leave a part out always: with `freq: 1`, fast-check makes none of an option', () => {
    expect(withText(/\bfreq: 1\s*\}/)).toEqual([]);
  });

  test('tests have names that are sentences: at least four words, and no fragment that needs the name around it', () => {
    const isFragment = (name: string): boolean =>
      name.split(' ').length < 4 || /^(?:and|but|or|also|it|its|they|their|that|which|who|whose|too|then)\b/.test(name);
    const fragments = readTestNames().filter(({ name }) => isFragment(name));
    expect(fragments.map(({ file, line, name }) => `${file}:${line}: ${name}`)).toEqual([]);
  });

  test('scripts that import built modules name such that are built', () => {
    const scripts = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.mjs'),
    );
    const missing = scripts.flatMap((file) =>
      [...readFileSync(join(root, 'test', file), 'utf8').matchAll(/from '[./]+\/dist\/([^']+)\.js'/g)]
        .filter(([, built = '']) => !existsSync(join(src, `${built}.ts`)))
        .map(([, built]) => `${file}: ${built}`),
    );
    expect(missing).toEqual([]);
  });

  test('tests run whole: what takes minutes is a file of its own, whose name ends in .long.test.ts', () => {
    expect(withText(/TEST_LONG/)).toEqual([]);
    expect(readFileSync(join(root, 'vitest.config.ts'), 'utf8')).not.toMatch(/'test\/[^'*]*\.test\.ts'/);
  });
});

describe('the package', () => {
  test('no dependency needs an install script, and the lock file records no download addresses', () => {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    const packages = Object.entries<{ hasInstallScript?: boolean; resolved?: string; optional?: boolean }>(
      lock.packages,
    );
    expect(
      packages.filter(([, entry]) => entry.hasInstallScript === true && entry.optional !== true).map(([name]) => name),
    ).toEqual([]);
    expect(packages.filter(([, entry]) => entry.resolved !== undefined).map(([name]) => name)).toEqual([]);
  });

  test('a package that only builds the pages is none of those that are installed with the product', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const named = sources
      .filter(({ folder }) => folder !== 'web')
      .flatMap(({ text }) =>
        [...text.matchAll(/(?:from |import\(|resolve\()'([^'.][^']*)'/g)].map(([, name = '']) => name),
      );
    // The typed commander takes it as its peer.
    const ofServer = (name: string): boolean =>
      name === 'commander' || named.some((one) => one === name || one.startsWith(`${name}/`));
    expect(Object.keys(dependencies).filter((name) => !ofServer(name))).toEqual([]);
  });

  test('versions of dependencies are pinned', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const loose = Object.entries<string>({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d/.test(version),
    );
    expect(loose).toEqual([]);
  });
});

describe('promises that are kept', () => {
  const texts = sources.filter(({ folder }) => !['web', 'conformance'].includes(folder));

  test('promises that are kept pass through `handled`: a rejection before they are awaited would end the process', () => {
    expect(findKeptPromises(texts).map(({ file, line, text }) => `${file}:${line}: ${text}`)).toEqual([]);
  });

  test('are found in a variable, a property, a list and an argument, and not where they are awaited or handled', () => {
    const begin = 'const work = async () => {};';
    const found = (statement: string) => findKeptPromises([{ file: 'a.ts', text: `${begin}\n${statement}` }]).length;
    const kept = [
      'const a = work();',
      'a = b ?? work();',
      'return { done: work() };',
      'keep(work());',
      'list = [work()];',
    ];
    const others = [
      'await work();',
      'const a = handled(work());',
      'await Promise.all([work(), work()]);',
      'return work();',
    ];
    expect([...kept, 'const a = work().then(go);'].map(found)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(others.map((one) => found(`async () => { ${one} }`))).toEqual([0, 0, 0, 0]);
  });
});
