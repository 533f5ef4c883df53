// Colours the code of the documentation when it is built: YAML, JSON and SQL by the parsers of Studio's editors, other
// languages by a short list of patterns.
import { PostgreSQL } from '@codemirror/lang-sql';
import { yamlLanguage } from '@codemirror/lang-yaml';
import { classHighlighter, highlightCode } from '@lezer/highlight';

const { escapeMarkup } = await import(new URL('../../../dist/model/markup.js', import.meta.url).href);

const parsers = { yaml: yamlLanguage.parser, json: yamlLanguage.parser, sql: PostgreSQL.language.parser };

const texts = /"(?:[^"\\]|\\.)*"|'[^']*'|`[^`]*`/y;
const script = [
  ['comment', /\/\/.*|\/\*[\s\S]*?\*\//y],
  ['string', texts],
  ['keyword', /\b(?:const|let|await|async|new|import|from|export|return|if|else|for|of|type|function|class)\b/y],
  [undefined, /[\w$]+/y],
];
/** For each language: the kinds of marks, and what each looks like. The first that fits a place is taken. */
const patterns = {
  sh: [
    ['comment', /(?<=^|\s)#.*/my],
    ['string', texts],
    ['variableName', /\$(?:\w+|\{[^}]*\})|\b[A-Z][A-Z0-9_]*(?==)/y],
    ['propertyName', /(?<=\s)--?[a-zA-Z][\w-]*/y],
    [undefined, /[\w./:@-]+/y],
  ],
  html: [
    ['comment', /<!--[\s\S]*?-->/y],
    ['keyword', /<\/?[a-zA-Z][\w-]*|(?<=["'\w-])\/?>/y],
    ['string', /"[^"]*"|'[^']*'/y],
    ['propertyName', /[\w:@-]+(?==)/y],
    [undefined, /[^\s<>="']+/y],
  ],
  css: [
    ['comment', /\/\*[\s\S]*?\*\//y],
    ['string', texts],
    ['propertyName', /--?[\w-]+(?=\s*:)|[\w-]+(?=\s*:\s)/y],
    [undefined, /[\w#.-]+/y],
  ],
  js: script,
  ts: script,
};

const mark = (text, kind) => {
  const escaped = escapeMarkup(text);
  return kind === undefined ? escaped : `<span class="${kind}">${escaped}</span>`;
};

const byParser = (text, parser) => {
  const pieces = [];
  // A parser gives several classes, the general one first.
  const put = (piece, classes) => pieces.push(mark(piece, classes === '' ? undefined : classes.split(' ')[0].slice(4)));
  highlightCode(text, parser.parse(text), classHighlighter, put, () => pieces.push('\n'));
  return pieces.join('');
};

const byPatterns = (text, rules) => {
  const pieces = [];
  for (let at = 0; at < text.length; ) {
    const found = rules
      .map(([kind, pattern]) => {
        pattern.lastIndex = at;
        return { kind, piece: pattern.exec(text)?.[0] ?? '' };
      })
      .find(({ piece }) => piece !== '') ?? { piece: text[at] };
    pieces.push(mark(found.piece, found.kind));
    at += found.piece.length;
  }
  return pieces.join('');
};

/** Returns the code as HTML, with a class for each kind of word. Code of an unknown language is only escaped. */
export const highlight = (text, language) => {
  if (Object.hasOwn(parsers, language)) return byParser(text, parsers[language]);
  return Object.hasOwn(patterns, language) ? byPatterns(text, patterns[language]) : escapeMarkup(text);
};
