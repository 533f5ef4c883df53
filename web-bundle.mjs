// Bundles the elements for browsers: one script, and a chunk for each family of charts, for the controls, for pictures
// of cards and for each language, which the script loads when an element first needs one. Used by build.mjs and packages/build.mjs.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('.', import.meta.url));
const folder = join(root, 'src/web/charts/chunks');
const languages = join(root, 'src/languages');

/** Texts of one use, in place of all: of `elements` or of `messages`. Leaves out what is its own key: that is what a lookup falls back to. */
export const textsOf = (use) => ({
  name: 'texts-of',
  load(id) {
    if (!id.startsWith(languages)) return null;
    const texts = Object.entries(JSON.parse(readFileSync(id, 'utf8'))[use]).map(([key, text]) => {
      const own = (form) => (form === key ? undefined : form);
      return [key, typeof text === 'string' ? own(text) : { ...text, other: own(text.other) }];
    });
    return { code: `export default ${JSON.stringify({ [use]: Object.fromEntries(texts) })};`, moduleType: 'js' };
  },
});

/** A style sheet that a script imports is its text, without comments and needless blanks. */
export const sheetTexts = {
  name: 'sheet-texts',
  load(id) {
    if (!id.endsWith('.css')) return null;
    return { code: `export default ${JSON.stringify(tight(readFileSync(id, 'utf8')))};`, moduleType: 'js' };
  },
};

/** The modules of lit that have state of their own: what is registered there, and the policy `lit-html` of Trusted Types. */
const litModules =
  /[\\/](?:lit-html[\\/]lit-html|@lit[\\/]reactive-element[\\/]reactive-element|lit-element[\\/]lit-element)\.js$/;
const litOfPage = '\0lit-of-page';

/**
 * A page has one copy of lit. The script brings it (src/web/elements/own-lit.ts), and the chunks take it from there: a second
 * copy would create the policy `lit-html` again, which a page that lists its policies refuses.
 */
const litOfScript = {
  name: 'lit-of-script',
  async resolveId(source, importer, options) {
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    return found !== null && litModules.test(found.id) ? litOfPage : null;
  },
  load(id) {
    if (id !== litOfPage) return null;
    const [, names] = /shared = {([^}]*)}/.exec(readFileSync(join(root, 'src/web/elements/own-lit.ts'), 'utf8'));
    return { code: `export const {${names}} = globalThis[Symbol.for('guestlist.lit')];`, moduleSideEffects: false };
  },
};

/** Without comments, and with one blank where there are several. */
export const tight = (sheet) =>
  sheet
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};]) ?/g, '$1');

/** The minifier takes style sheets for texts. */
const tightStyles = {
  name: 'tight-styles',
  transform: {
    filter: { id: /src[\\/]web[\\/].*\.ts$/ },
    handler: (code) => code.replaceAll(/\bcss`[^`]*`/g, tight),
  },
};

const bundle = async ({ plugins, ...input }, output) => {
  const bundled = await rolldown({ platform: 'browser', cwd: root, plugins: [tightStyles, ...plugins], ...input });
  const { output: chunks } = await bundled.write({ format: 'esm', minify: true, ...output });
  await bundled.close();
  return chunks;
};

/** Parts that several chunks need, in one file: a request takes longer than a few more kilobytes. */
const together = (name, test) => ({ name, test, minShareCount: 2 });
const drawing = together(
  'echarts',
  /[\\/](?:node_modules[\\/](?:echarts|zrender|tslib)[\\/]|charts[\\/]model[\\/]echarts\.ts$)/,
);
const shared = together('shared', /./);

/** Names have a hash of the content, so that browsers can keep a chunk for ever. */
const bundleCharts = (dist) => {
  const names = readdirSync(folder).map((file) => basename(file, '.ts'));
  return bundle(
    {
      preserveEntrySignatures: 'allow-extension',
      plugins: [litOfScript, sheetTexts, textsOf('elements')],
      input: Object.fromEntries([
        ...[
          'arrange',
          'boards',
          'controls',
          'card-picture',
          'editor',
          'filter-labels',
          'given-marks',
          'own-font',
          'own-theme',
          'print',
          'save',
          'side-bar',
          'tile',
        ].map((name) => [name, join(root, `src/web/elements/${name}.ts`)]),
        ['echarts', join(root, 'src/web/charts/model/echarts.ts')],
        ...names.map((name) => [name, join(folder, `${name}.ts`)]),
        ...readdirSync(languages)
          .filter((file) => file !== 'en.json')
          .map((file) => [basename(file, '.json'), join(languages, file)]),
      ]),
    },
    {
      ...{ dir: join(dist, 'charts'), entryFileNames: '[name]-[hash].js', chunkFileNames: '[name]-[hash].js' },
      codeSplitting: { groups: [drawing, shared] },
    },
  );
};

/** The chunks that a chunk imports, and those that they import. */
const partsOf = (charts, fileName, found = new Set()) => {
  const { imports = [] } = charts.find((chunk) => chunk.fileName === fileName) ?? {};
  for (const part of imports.filter((name) => !found.has(name))) partsOf(charts, part, found.add(part));
  return found;
};

/**
 * Asks for the parts of a chunk with it: a browser that learns of them from the chunk asks a round trip later.
 *
 * Chunks never import the script: a page that loads it as `elements.js?v=1` would then run it twice. So the chunks are
 * bundled first, and the script knows them by their names.
 */
const chartsByName = (charts) => ({
  name: 'charts-by-name',
  resolveId(source, _importer, { kind }) {
    const name = /^(?:\.\/(?:(?:chunks|model)\/)?|\.\.\/\.\.\/languages\/)([\w-]+)\.js(?:on)?$/.exec(source)?.[1];
    if (kind !== 'dynamic-import' || name === undefined) return null;
    const chunk = charts.find(({ isEntry, name: of }) => isEntry && of === name);
    if (chunk === undefined) throw new Error(`no chunk for ${source}`);
    return { id: `./charts/${chunk.fileName}`, external: true };
  },
  renderChunk: (code) =>
    code.replaceAll(/import\(["'`]\.\/charts\/([^"'`]+)["'`]\)/g, (load, fileName) => {
      const parts = [...partsOf(charts, fileName)].map((part) => `import("./charts/${part}").catch(()=>{}),`);
      return parts.length === 0 ? load : `(${parts.join('')}${load})`;
    }),
});

/** The package of Inter. Its licence asks that its text goes with every copy of the files. */
export const interFolder = dirname(createRequire(import.meta.url).resolve('@fontsource-variable/inter/package.json'));

/** Writes the font that src/web/fonts/inter.css names, with its style sheets and its licence. */
const copyFonts = (folder) => {
  const { version } = JSON.parse(readFileSync(join(interFolder, 'package.json'), 'utf8'));
  const sheets = ['inter-fallback.css', 'inter.css'].map((name) =>
    readFileSync(join(root, 'src/web/fonts', name), 'utf8'),
  );
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'inter.css'), sheets.map(tight).join(''));
  for (const letters of ['latin', 'latin-ext']) {
    const name = `inter-${letters}-${version}.woff2`;
    const naming = [sheets[1], readFileSync(join(root, 'src/web/elements/own-font.ts'), 'utf8')];
    if (!naming.every((text) => text.includes(name))) throw new Error(`inter.css and own-font.ts must name ${name}`);
    cpSync(join(interFolder, `files/inter-${letters}-wght-normal.woff2`), join(folder, name));
  }
  cpSync(join(interFolder, 'LICENSE'), join(folder, 'OFL.txt'));
};

/** Writes `elements.js`, `charts/` and `fonts/` to `dist`. Returns all chunks. */
export const bundleElements = async (dist) => {
  copyFonts(join(dist, 'fonts'));
  const charts = await bundleCharts(dist);
  const script = await bundle(
    {
      input: join(root, 'src/web/elements/elements.ts'),
      plugins: [chartsByName(charts), textsOf('elements')],
      makeAbsoluteExternalsRelative: false,
    },
    { file: join(dist, 'elements.js'), codeSplitting: false },
  );
  const text = readFileSync(join(dist, 'elements.js'), 'utf8');
  for (const { isEntry, fileName } of charts) {
    if (isEntry && !text.includes(`./charts/${fileName}`)) throw new Error(`elements.js does not load ${fileName}`);
  }
  return [...charts, ...script];
};
