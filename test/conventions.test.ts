/** Rules of this project as tests, so that they are kept. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { defaultSettings } from '../src/platform/config/settings.js';
import { operations } from '../src/service/operations.js';
import { fileCircles, mutualFolders, readSources } from './structure/graph.mjs';
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

/** The other folders and the packages that each folder may import. `root`: files directly in src. */
const mayImport: Readonly<
  Record<string, { readonly folders: readonly string[]; readonly packages: readonly RegExp[] }>
> = {
  domain: { folders: [], packages: [] },
  contract: { folders: ['domain', 'texts'], packages: [/^zod$/, /^fflate$/] },
  usecases: { folders: ['domain'], packages: [] },
  http: {
    folders: ['contract', 'domain', 'platform'],
    packages: [/^express$/, /^helmet$/, /^zod$/, /^node:/],
  },
  // Guests' operations as tools: calls the dispatch and nothing else.
  mcp: { folders: ['contract', 'domain', 'http'], packages: [/^@modelcontextprotocol\/sdk\//, /^zod$/, /^node:/] },
  store: { folders: ['domain', 'platform'], packages: [/^kysely$/, /^node:/] },
  engine: {
    folders: ['domain', 'platform'],
    packages: [
      /^kysely$/,
      /^@duckdb\//,
      /^pg$/,
      /^mysql2(\/promise)?$/,
      /^@clickhouse\/client$/,
      /^libpg-query$/,
      /^pgsql-deparser$/,
      /^node:/,
    ],
  },
  gateway: {
    folders: ['contract', 'domain', 'platform', 'http'],
    packages: [
      /^helmet$/,
      /^pino$/,
      /^yaml$/,
      /^zod$/,
      /^lru-cache$/,
      /^standardwebhooks$/,
      /^kysely$/,
      /^@marcbachmann\/cel-js$/,
      /^node:/,
    ],
  },
  // Runs offline: tests, plans and explanations of policies.
  'policy-tools': {
    folders: ['contract', 'domain', 'gateway', 'platform', 'http'],
    packages: [/^yaml$/, /^zod$/, /^@marcbachmann\/cel-js$/, /^node:/],
  },
  // Authors and operators: calls the service by its operations and the gateway by its functions.
  studio: {
    folders: ['contract', 'domain', 'gateway', 'platform', 'http', 'mcp'],
    packages: [/^express$/, /^openid-client$/, /^zod$/, /^node:/],
  },
  render: { folders: ['domain', 'platform'], packages: [/^playwright-core$/, /^node:/] },
  // Sends dashboards on schedule. The right of a recipient is the gateway's and the service's, asked for at each message.
  deliver: {
    folders: ['domain', 'platform', 'texts'],
    packages: [/^croner$/, /^nodemailer$/, /^standardwebhooks$/, /^node:/],
  },
  // Asks language models. What may be sent is decided elsewhere.
  models: { folders: ['domain', 'platform'], packages: [/^node:/] },
  platform: { folders: ['domain'], packages: [/^[^.]/] },
  demo: { folders: ['contract', 'domain', 'http', 'platform'], packages: [/^[^.]/] },
  // Must not share code with the product: a common mistake would stay hidden.
  conformance: { folders: [], packages: [/^node:/] },
  // Read by the service and by the elements: both decide alike what a theme means.
  theme: { folders: [], packages: [] },
  // Read by the elements, and by what writes messages and files.
  texts: { folders: ['languages'], packages: [] },
  web: {
    folders: ['theme', 'languages', 'texts'],
    packages: [/^lit(\/|$)/, /^echarts(\/|$)/, /^minisearch$/, /^@(?:codemirror|lezer|dagrejs)\//],
  },
  cli: {
    folders: [
      'root',
      'compose',
      'policy-tools',
      'conformance',
      'contract',
      'domain',
      'gateway',
      'http',
      'platform',
      'store',
      'usecases',
      'engine',
      'demo',
      'studio',
    ],
    packages: [/^[^.]/],
  },
  compose: {
    folders: [
      'root',
      'policy-tools',
      'contract',
      'domain',
      'gateway',
      'http',
      'mcp',
      'platform',
      'store',
      'deliver',
      'models',
      'render',
      'studio',
      'theme',
      'texts',
      'usecases',
      'engine',
      'demo',
    ],
    packages: [/^[^.]/],
  },
  root: {
    folders: ['compose', 'contract', 'domain', 'gateway', 'http', 'platform', 'usecases'],
    packages: [/^[^.]/],
  },
};

/**
 * Folders from which types may be imported in addition. The browser uses the types of the interface and of commands. Who
 * is given a store uses its type, which is that of its one implementation.
 */
const mayImportTypes: Readonly<Record<string, readonly string[]>> = {
  web: ['contract', 'domain', 'compose'],
  ...{ usecases: ['store'], deliver: ['store'], studio: ['store'], demo: ['store'] },
};

/**
 * Studio shows whose rows the tables of an unsaved model hold, and the elements refuse addresses of recipients, by the
 * functions that decide it in the service: a second version of them would say something else one day. So it is with the
 * parts of dates and with numbers, which workbooks and alerts have too; with the formats of columns, which metrics made by
 * chat take over as those of the editor do; with how measures combine, which a draft shows as the saved metric; and with
 * the escaping of markup.
 */
const isSharedCode = (file: string, target: string): boolean =>
  (file.startsWith('web/studio/') && /^domain\/(datamart\/|dashboard\/abilities)/.test(target)) ||
  (/^web\/(?:base|editor)\//.test(file) && /^domain\/(?:datamart\/dates|query\/numbers)\.js$/.test(target)) ||
  (file === 'web/editor/edit.ts' && target === 'model/guest/column-formats.js') ||
  (file === 'web/charts/pictures/draw.ts' && target === 'model/markup.js') ||
  (file === 'web/editor/preview.ts' && target === 'model/guest/combining.js') ||
  (file.startsWith('web/elements/') && /^domain\/deliver\/(?:address|recipients)\./.test(target));

const folderOf = (path: string): string => {
  const inside = relative(src, path);
  return inside.includes('/') ? (inside.split('/')[0] ?? '') : 'root';
};

const forbidden = ({ file, folder: named, imports }: Source): readonly string[] => {
  const folder = named === '' ? 'root' : named;
  const rule = mayImport[folder];
  if (rule === undefined) return [`${file}: folder ${folder} is not in the layer table`];
  return imports.flatMap(({ from, isTypeOnly }) => {
    if (!from.startsWith('.'))
      return rule.packages.some((allowed) => allowed.test(from)) ? [] : [`${file} imports ${from}`];
    const path = resolve(dirname(join(src, file)), from);
    const target = folderOf(path);
    if (target === folder || rule.folders.includes(target) || isSharedCode(file, relative(src, path))) return [];
    return isTypeOnly && mayImportTypes[folder]?.includes(target) ? [] : [`${file} imports ${from}`];
  });
};

describe('the layer table', () => {
  test('every folder imports only what its row allows', () => {
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

  test('the domain knows neither clock nor randomness', () => {
    const offenders = sources.filter(
      ({ folder, text }) => folder === 'domain' && /Date\.now|new Date\(\)|Math\.random|performance\./.test(text),
    );
    expect(offenders.map(({ file }) => file)).toEqual([]);
  });
});

/** Known circles of imports. Remove an entry together with its circle; never add one. */
const knownCircles: readonly string[] = [];

/**
 * Known pairs of folders that import each other (`.` is src itself). Remove an entry together with its last import;
 * never add one.
 */
const knownPairs: readonly string[] = [];

describe('imports run one way', () => {
  const graph = readSources();

  test('no files import each other in a circle, types included', () => {
    expect(
      fileCircles(graph)
        .map((files) => files.join(', '))
        .toSorted(),
    ).toEqual(knownCircles);
  });

  test('no two folders import each other, types included', () => {
    expect(
      mutualFolders(graph)
        .map(({ folders }) => folders.toSorted().join(' <-> '))
        .toSorted(),
    ).toEqual(knownPairs);
  });
});

describe('exports', () => {
  /** `npm run lint` finds exports that only tests use, unless they are marked. Remove a mark with its use; add none. */
  test('exports that only tests use are few, and each says why', () => {
    const marks = sources.flatMap(({ text }) => [...text.matchAll(/@internal(.*)/g)].map(([, reason = '']) => reason));
    expect(marks.filter((reason) => !/^ Tests only: .+\.(?: \*\/)?$/.test(reason))).toEqual([]);
    expect(marks.length).toBeLessThanOrEqual(13);
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
    const modules = readdirSync(join(src, 'contract')).filter((file) => file.endsWith('.ts'));
    const exported = await Promise.all(modules.map((file) => import(join(src, 'contract', file))));
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
        // test/platform/http/admission.test.ts tests it for each one.
        .filter((code) => code !== 'INTERNAL_SERVER_ERROR' && code !== 'RATE_LIMITED')
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

  test('tests have names that are sentences: at least four words, and no fragment that needs the name around it', () => {
    const isFragment = (name: string): boolean =>
      name.split(' ').length < 4 || /^(?:and|but|or|also|it|its|they|their|that|which|who|whose|too|then)\b/.test(name);
    const fragments = readTestNames().filter(({ name }) => isFragment(name));
    expect(fragments.map(({ file, line, name }) => `${file}:${line}: ${name}`)).toEqual([]);
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
