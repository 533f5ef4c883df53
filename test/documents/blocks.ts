/** The code blocks of the documents, and which check each of them has. A block without a check fails documents.test.ts. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export type Block = {
  readonly page: string;
  /** The line of its fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The reason of a comment `<!-- not run: ... -->` on the line before. */
  readonly notRun: string | undefined;
};

const markdownBelow = (folder: string): readonly string[] =>
  (existsSync(join(root, folder)) ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }) : [])
    .filter((file) => file.endsWith('.md') && !/(?:^|\/)(?:node_modules|dist)\//.test(file))
    .map((file) => `${folder}/${file}`);

/** Pages for users: each of their code blocks is checked. */
export const userPages: readonly string[] = ['README.md', ...['docs', 'packages', 'examples'].flatMap(markdownBelow)];

export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8');

const blocksOf = (page: string): readonly Block[] => {
  const text = readPage(page);
  return [...text.matchAll(/(?:^ *<!-- not run: (.*?) -->\n)?^( *)```([^\n]*)\n([\s\S]*?)^ *```$/gm)].map((found) => {
    const [, notRun, indent = '', language = '', body = ''] = found;
    const before = text.slice(0, found.index).split('\n').length;
    return {
      page,
      line: before + (notRun === undefined ? 0 : 1),
      language,
      text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      notRun,
    };
  });
};

export const blocks: readonly Block[] = userPages.flatMap(blocksOf);

export const nameOf = ({ page, line }: Block): string => `${page}:${line}`;

/** Kinds of blocks, each with the tests that check it. The first whose `is` holds is the kind of the block. */
const kinds = {
  'not run': { is: ({ notRun }) => notRun !== undefined },
  picture: { is: ({ language }) => language === 'text' },
  'policy test': { is: ({ language, text }) => language === 'yaml' && /^tests:/m.test(text) },
  policy: {
    is: ({ language, text }) => language === 'yaml' && /^(?:session|rules|restrictions|tenants):/m.test(text),
  },
  configuration: {
    is: ({ language, text }) =>
      language === 'yaml' &&
      /^(?:server|mcp|studio|gateway|datasources|queries|limits|mail|themes|models|retention):/m.test(text),
  },
  definition: { is: ({ language, text }) => language === 'yaml' && text.startsWith('# yaml-language-server: ') },
  metric: { is: ({ language, text }) => language === 'json' && text.startsWith('{"kind": ') },
  'body of the interface': { is: ({ language }) => language === 'json' },
  page: { is: ({ language }) => language === 'html' },
  'theme studio': { is: ({ language }) => language === 'json theme studio' },
  'live example': { is: ({ language }) => language === 'html live' },
  'style sheet': { is: ({ language }) => language === 'css' },
  'second wall': { is: ({ language, page }) => language === 'sql' && page.endsWith('row-level-security.md') },
  'sender of hooks': { is: ({ language, page }) => language === 'js' && page.endsWith('tenant-events.md') },
  'program of elements': {
    is: ({ language, page }) => /^[jt]sx?$/.test(language) && page.startsWith('packages/elements'),
  },
  program: { is: ({ language }) => language === 'ts' },
  installation: { is: ({ language, text }) => language === 'sh' && /^npm install [^&\n]+\n$/.test(text) },
  example: { is: ({ language, page }) => language === 'sh' && page.startsWith('examples/') },
  'first hour': { is: ({ language, page }) => language === 'sh' && page === 'docs/tutorials/first-chart.md' },
  shell: { is: ({ language }) => language === 'sh' },
} as const satisfies Readonly<Record<string, { readonly is: (block: Block) => boolean }>>;
export type Kind = keyof typeof kinds;

/** The files that check the blocks of a kind; each of them names the kind, or the page. */
export const checkers: Readonly<Record<Exclude<Kind, 'not run' | 'picture'>, string>> = {
  'policy test': 'test/documents/data-blocks.test.ts',
  policy: 'test/documents/data-blocks.test.ts',
  configuration: 'test/documents/data-blocks.test.ts',
  definition: 'test/cli/files.long.test.ts',
  'style sheet': 'test/pages/host-page.long.test.ts',
  metric: 'test/service/contract/docs-metrics.test.ts',
  'body of the interface': 'test/documents/data-blocks.test.ts',
  page: 'test/documents/run-blocks.long.test.ts',
  'live example': 'test/product/docs-site.long.test.ts',
  'theme studio': 'test/product/theme-studio.long.test.ts',
  'second wall': 'test/engine/second-wall.test.ts',
  'sender of hooks': 'test/product/hooks.long.test.ts',
  'program of elements': 'test/packages/installed.long.test.ts',
  program: 'test/packages/packages.long.test.ts',
  installation: 'test/documents/data-blocks.test.ts',
  example: 'test/packages/examples.long.test.ts',
  // Its four blocks, in their order, with a database of one's own; `npm run bench -- first-hour` from the tarball.
  'first hour': 'test/cli/init.test.ts',
  shell: 'test/documents/run-blocks.long.test.ts',
};

export const kindOf = (block: Block): Kind | undefined =>
  (Object.keys(kinds) as Kind[]).find((kind) => kinds[kind].is(block));

export const blocksOfKind = (kind: Kind): readonly Block[] => blocks.filter((block) => kindOf(block) === kind);
