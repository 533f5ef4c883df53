/** The documents agree with the repository: named files exist, links work, prose wraps at 100 characters. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { blocks, blocksOfKind, checkers, type Kind, kindOf, nameOf, readPage, userPages } from './documents/blocks.js';

const root = fileURLToPath(new URL('..', import.meta.url));

const pages: readonly string[] = [
  ...readdirSync(root).filter((file) => file.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
  ...userPages.filter((page) => /^(?:packages|examples)\//.test(page)),
];
const read = (page: string): string => readFileSync(join(root, page), 'utf8');

/** Returns the lines of a page outside of code blocks. */
const proseOf = (text: string): readonly string[] => {
  const lines: string[] = [];
  let isCode = false;
  for (const line of text.split('\n')) {
    if (/^\s*```/.test(line)) isCode = !isCode;
    else if (!isCode) lines.push(line);
  }
  return lines;
};

/** Returns the anchors that GitHub makes from a page's headings. */
const anchorsOf = (text: string): readonly string[] =>
  proseOf(text)
    .filter((line) => line.startsWith('#'))
    .map((line) =>
      line
        .replace(/^#+\s*/, '')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-'),
    );

/**
 * Returns the paths in the text that start with a folder of this repository. Paths with `<name>` or `*` are patterns
 * and are left out.
 */
const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/(?<![\w./-])(?:src|test|docs|config|bin|\.ci)\/[\w./*<>{},-]*/g)]
    .map(([path]) => path.replace(/[.,]+$/, ''))
    .filter((path) => !/[*<>{}]/.test(path));

describe('the code blocks', () => {
  test('each has a check, or says why it cannot be run', () => {
    expect(blocks.length).toBeGreaterThan(40);
    expect(blocks.filter((block) => kindOf(block) === undefined).map(nameOf)).toEqual([]);
  });

  test('few are not run', () => {
    const notRun = blocksOfKind('not run');
    // The second shows an SDK of OpenTelemetry, which is no dependency.
    const pages = ['docs/how-to/deploy.md', 'docs/reference/monitoring.md'];
    expect(notRun.map(({ page }) => page).filter((page) => !pages.includes(page))).toEqual([]);
    expect(notRun.filter(({ notRun: reason = '' }) => reason.length < 10)).toEqual([]);
  });

  test('the test of each kind is there', () => {
    const missing = Object.entries(checkers).filter(
      ([kind, file]) => blocksOfKind(kind as Kind).length > 0 && !existsSync(join(root, file)),
    );
    expect(missing).toEqual([]);
  });
});

describe('measured numbers', () => {
  const marked = userPages.flatMap((page) =>
    [...readPage(page).matchAll(/<!-- numbers of (\S+) -->\n([\s\S]*?)(?:\n\n|$)/g)].map(
      ([, source = '', text = '']) => ({ page, source, text }),
    ),
  );

  test.each(marked)('those of $page are in $source', ({ source, text }) => {
    const measured = new Set(readPage(source).match(/\d+(?:[.,]\d+)*/g));
    const shown = text.match(/\d+(?:[.,]\d+)*/g) ?? [];
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter((number) => !measured.has(number))).toEqual([]);
  });

  test('some measured numbers of the documents are marked', () => expect(marked.length).toBeGreaterThan(0));
});

describe('the documents', () => {
  test.each(pages)('%s names only files and folders that exist', (page) => {
    expect(pathsIn(read(page)).filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test.each(pages)('%s links only to files and headings that exist', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    const broken = links.filter(([, file = '', anchor]) => {
      const target = file === '' ? page : join(dirname(page), file);
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test.each(pages)('%s wraps at 100 characters, tables and code aside', (page) => {
    const isFree = (line: string) => /^\s*\||^<|^!\[/.test(line) || !/\s/.test(line.trim());
    expect(proseOf(read(page)).filter((line) => line.length > 100 && !isFree(line))).toEqual([]);
  });

  test('every page of docs/ is listed in docs/README.md', () => {
    const index = read('docs/README.md');
    // docs/how-to/logins/README.md is generated, and lists the pages beside it.
    const apart = /^docs\/(?:decisions|how-to\/logins)\/(?!README)/;
    const own = pages.filter(
      (page) => page.startsWith('docs/') && page !== 'docs/decisions/README.md' && !apart.test(page),
    );
    expect(
      own.filter((page) => page !== 'docs/README.md' && !index.includes(`(${page.slice('docs/'.length)})`)),
    ).toEqual([]);
  });

  test('every page of docs/ is a tutorial, a how-to guide, a reference, an explanation or a decision', () => {
    const folders = new Set(pages.filter((page) => page.startsWith('docs/')).map((page) => dirname(page)));
    expect([...folders].sort()).toEqual([
      'docs',
      ...['decisions', 'explanation', 'how-to', 'how-to/logins', 'reference', 'tutorials'].map(
        (kind) => `docs/${kind}`,
      ),
    ]);
    expect(pages.filter((page) => dirname(page) === 'docs')).toEqual(['docs/README.md']);
  });
});

describe('the table of public reports', () => {
  const rows = read('test/public-reports.md')
    .split('\n')
    .filter((line) => /^\| \S+#\d+ \|/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, report = '', says = '', outcome = '', file = '', name = '']) => ({ report, says, outcome, file, name }));

  test('has each report once, with what it says and the outcome', () => {
    expect(rows.length).toBeGreaterThan(50);
    expect(new Set(rows.map(({ report }) => report)).size).toBe(rows.length);
    expect(rows.filter(({ says, outcome }) => says === '' || outcome === '')).toEqual([]);
  });

  test('names tests that are there', () => {
    const missing = rows.filter(
      ({ file, name }) =>
        name === '' || !existsSync(join(root, file.slice(1, -1))) || !read(file.slice(1, -1)).includes(name),
    );
    expect(missing).toEqual([]);
  });

  test('wraps at 100 characters, tables aside', () => {
    expect(
      proseOf(read('test/public-reports.md')).filter((line) => line.length > 100 && !line.startsWith('|')),
    ).toEqual([]);
  });
});
