// Makes the pages that are served at /docs, when dist/ is built: Markdown to HTML, the index of the search, and the list of
// what is served. Loaded by build.mjs only.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Marked } from 'marked';
import MiniSearch from 'minisearch';
import { highlight } from './highlight.mjs';
import { themeStudioHtml } from './theme-studio.mjs';

// The server is built before this file is loaded.
const { escapeMarkup } = await import(new URL('../../../dist/model/markup.js', import.meta.url).href);

/** Pages outside of docs/ that documents lead to, and where they are served. */
const others = {
  'README.md': '/docs/about',
  'CHANGELOG.md': '/docs/changelog',
  'CONTRIBUTING.md': '/docs/contributing',
  'SECURITY.md': '/docs/security',
  'test/bench/RESULTS.md': '/docs/results',
};

/** The path that a Markdown file is served at, as `/docs/how-to/embedding`. */
const pathOf = (file) => others[file] ?? `/${file.replace(/\.md$/, '').replace(/\/README$/, '')}`;

/** As GitHub makes them, so that links between files hold in both places. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

const plain = (html) =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Where a link of a file leads on the site; undefined: nowhere, so its text is shown without a link. */
const targetOf = (href, file, site) => {
  if (/^https?:/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = path === '' ? file : posix.normalize(posix.join(dirname(file), path));
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (site.pages.has(target)) return `${pathOf(target)}${hash}`;
  if (!/\.(?:ya?ml|sh|json|csv)$/.test(target)) return undefined;
  site.files.add(target);
  return `/docs/files/${target}`;
};

/** The place where the script shows an example: one element with attributes, which are data and never HTML there. */
const placeOf = (text, file) => {
  const [, tag, attributes] =
    /^<(guestlist-\w+)((?:\s+[\w-]+(?:=(?:"[^"]*"|'[^']*'))?)*)\s*><\/\1>$/.exec(text.trim()) ?? [];
  if (tag === undefined) throw new Error(`${file}: a live example is one element with attributes: ${text}`);
  const pairs = [...attributes.matchAll(/([\w-]+)(?:=(?:"([^"]*)"|'([^']*)'))?/g)];
  const values = Object.fromEntries(pairs.map(([, name, double, single]) => [name, double ?? single ?? '']));
  const data = `data-tag="${tag}" data-attributes="${escapeMarkup(JSON.stringify(values))}"`;
  return `<div class="live" ${data}><button type="button" hidden>Show it here</button><p role="status"></p></div>\n`;
};

const createRenderer = (file, site) => {
  const headings = [];
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        const id = anchorOf(text);
        const inner = this.parser.parseInline(tokens);
        headings.push({ id, depth, text: plain(inner) });
        if (depth === 1) return `<h1 id="${escapeMarkup(id)}">${inner}</h1>\n`;
        return `<h${depth} id="${escapeMarkup(id)}"><a href="#${escapeMarkup(id)}">${inner}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = targetOf(href, file, site);
        return target === undefined ? inner : `<a href="${escapeMarkup(target)}">${inner}</a>`;
      },
      image({ href, text }) {
        const target = posix.normalize(posix.join(dirname(file), href));
        site.images.add(target);
        return `<img src="/docs/files/${escapeMarkup(target)}" alt="${escapeMarkup(text)}">`;
      },
      code({ text, lang }) {
        const shown = `<pre tabindex="0"><code>${highlight(text, lang?.split(' ')[0])}</code></pre>\n`;
        if (lang === 'json theme studio') return themeStudioHtml(shown);
        return lang === 'html live' ? `${shown}${placeOf(text, file)}` : shown;
      },
      // Comments say how a block is checked; nothing else is written as HTML.
      html({ text }) {
        return /^\s*<!--[\s\S]*-->\s*$/.test(text) ? '' : escapeMarkup(text);
      },
    },
  });
  return { render: (text) => marked.parse(text), headings };
};

const withScrollingTables = (html) =>
  html.replaceAll('<table>', '<div class="scroll" tabindex="0"><table>').replaceAll('</table>', '</table></div>');

const renderPage = (file, text, site) => {
  const { render, headings } = createRenderer(file, site);
  const body = withScrollingTables(render(text));
  const title = headings.find(({ depth }) => depth === 1)?.text ?? file;
  return { file, path: pathOf(file), title, body, headings };
};

/** Chapters of the navigation, from the tables of docs/README.md. */
const chaptersOf = (index) =>
  index
    .split(/^## /m)
    .slice(1)
    .map((chapter) => ({
      name: chapter.split('\n', 1)[0],
      links: [...chapter.matchAll(/^\| \[([^\]]+)\]\(([^)]+\.md)\)/gm)].map(([, label, target]) => ({
        label: plain(label.replaceAll('`', '')),
        path: pathOf(posix.normalize(posix.join('docs', target))),
      })),
    }));

const navigation = (chapters, current) =>
  chapters
    .map(({ name, links }) => {
      const items = links.map(({ label, path }) => {
        const mark = path === current ? ' aria-current="page"' : '';
        return `<li><a href="${path}"${mark}>${escapeMarkup(label)}</a></li>`;
      });
      return `<h2>${escapeMarkup(name)}</h2><ul>${items.join('')}</ul>`;
    })
    .join('\n');

const contentsOf = (headings) => {
  const parts = headings.filter(({ depth }) => depth === 2);
  if (parts.length < 3) return '';
  const items = parts.map(({ id, text }) => `<li><a href="#${escapeMarkup(id)}">${escapeMarkup(text)}</a></li>`);
  return `<aside aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></aside>`;
};

const isStudio = (body) => body.includes('class="theme-studio"');

const writeHtml = ({ path, title, body, headings }, chapters) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeMarkup(title)} · Guestlist</title>
<link rel="icon" href="/docs/icon.svg">
<link rel="stylesheet" href="/fonts/inter.css">
<link rel="stylesheet" href="/docs/pages.css">
<script type="module" src="/docs/search.js"></script>
${isStudio(body) ? '<script type="module" src="/docs/theme-studio.js"></script>\n' : ''}</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header>
<a class="home" href="/docs">Guestlist</a>
<search><input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list" hidden><ul id="results" role="listbox" aria-label="Results" hidden></ul></search>
<a class="api" href="/docs/api">API reference</a>
<a class="pages" href="#pages">All pages</a>
</header>
<div class="columns">
<main id="content" tabindex="-1"${isStudio(body) ? ' class="wide"' : ''}>
${body}</main>
${contentsOf(headings)}
<nav id="pages" aria-label="Pages">
${navigation(chapters, path)}
</nav>
</div>
</body>
</html>
`;

/** What the search finds: each part of a page below a heading, by itself. */
const sectionsOf = ({ path, title, body }) =>
  body
    .split(/(?=<h[1-6] id=")/)
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [whole = '', depth, id, inner = ''] = /^<h([1-6]) id="([^"]*)">([\s\S]*?)<\/h\1>/.exec(part) ?? [];
      const text = plain(part.slice(whole.length));
      const heading = depth === '1' || whole === '' ? title : plain(inner);
      const url = depth === '1' || whole === '' ? path : `${path}#${id}`;
      return { id: url, url, title, heading, text, excerpt: text.slice(0, 140) };
    });

const searchIndex = (documents, options) => {
  const index = new MiniSearch(options);
  const seen = new Set();
  for (const document of documents) {
    if (seen.has(document.id)) continue;
    seen.add(document.id);
    index.add(document);
  }
  return JSON.stringify(index);
};

const types = { png: 'image/png', html: 'text/html; charset=utf-8', json: 'application/json; charset=utf-8' };
const typeOf = (name) => types[name.split('.').at(-1)] ?? 'text/plain; charset=utf-8';

/**
 * Writes the site into a folder. `pages` are Markdown files below `root`; `operations` are entries of the search that lead
 * to the API reference. `manifest.json` lists each path with its file and type; every file is compressed.
 */
export const renderSite = ({ root, folder, pages, operations, scripts }) => {
  const read = (file) => readFileSync(join(root, file));
  const options = JSON.parse(readFileSync(new URL('search-options.json', import.meta.url), 'utf8'));
  const site = { pages: new Set([...pages, ...Object.keys(others)]), files: new Set(), images: new Set() };
  const rendered = [...site.pages].map((file) => renderPage(file, read(file).toString(), site));
  const chapters = chaptersOf(read('docs/README.md').toString());
  const manifest = {};
  mkdirSync(folder, { recursive: true });
  const add = (path, contentType, body) => {
    const file = `${path.slice(1).replaceAll('/', '_')}.gz`;
    manifest[path] = { file, contentType };
    writeFileSync(join(folder, file), gzipSync(body, { level: 9 }));
  };
  for (const page of rendered) add(page.path, types.html, writeHtml(page, chapters));
  for (const file of [...site.files, ...site.images]) add(`/docs/files/${file}`, typeOf(file), read(file));
  add('/docs/search.json', types.json, searchIndex([...rendered.flatMap(sectionsOf), ...operations], options));
  for (const [path, text] of Object.entries(scripts)) add(path, 'text/javascript; charset=utf-8', text);
  add('/docs/pages.css', 'text/css; charset=utf-8', readFileSync(new URL('pages.css', import.meta.url)));
  add('/docs/icon.svg', 'image/svg+xml', readFileSync(new URL('icon.svg', import.meta.url)));
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
};
