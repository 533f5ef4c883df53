/** The documents agree with the repository: named files exist, links lead somewhere, prose wraps at 100 characters. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

const pages: readonly string[] = [
  ...readdirSync(root).filter((file) => file.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];
const read = (page: string): string => readFileSync(join(root, page), 'utf8');

/** The lines of a page outside of code blocks. */
const proseOf = (text: string): readonly string[] => {
  const lines: string[] = [];
  let isCode = false;
  for (const line of text.split('\n')) {
    if (/^\s*```/.test(line)) isCode = !isCode;
    else if (!isCode) lines.push(line);
  }
  return lines;
};

/** Anchors of a page, as GitHub makes them from headings. */
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

/** Paths in the text that begin with a folder of this repository; a path with `<name>` or `*` is a pattern and is skipped. */
const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/(?<![\w./-])(?:src|test|docs|config|bin|\.ci)\/[\w./*<>{},-]*/g)]
    .map(([path]) => path.replace(/[.,]+$/, ''))
    .filter((path) => !/[*<>{}]/.test(path));

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
    const own = pages.filter((page) => /^docs\/[^/]+\.md$/.test(page) && page !== 'docs/README.md');
    expect(own.filter((page) => !index.includes(`(${page.slice('docs/'.length)})`))).toEqual([]);
  });
});
