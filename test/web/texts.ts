/** Finds the English texts in the code of the elements: those that are translated, and those that should be. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ts } from '@ts-morph/common';

const web = fileURLToPath(new URL('../../src/web/', import.meta.url));
const folders = ['base', 'charts', 'editor', 'elements', 'filters', 'token'];

export type Found = { readonly at: string; readonly text: string };
/** `used`: keys of translations. `bare`: English that a reader would see in every language. */
export type FoundTexts = { readonly used: readonly string[]; readonly bare: readonly Found[] };

/** A template with `{}` for each value. */
const textOf = (node: ts.StringLiteralLike | ts.TemplateExpression): string =>
  ts.isTemplateExpression(node)
    ? node.head.text + node.templateSpans.map(({ literal }) => `{}${literal.text}`).join('')
    : node.text;

const isCallOf = (node: ts.Node, callee: RegExp): boolean =>
  (ts.isCallExpression(node) || ts.isNewExpression(node)) && callee.test(node.expression.getText());

/** Readers see neither errors, which are named by their code, nor the console. */
const isForDevelopers = (node: ts.Node): boolean => {
  for (let each: ts.Node | undefined = node; each !== undefined; each = each.parent) {
    if (ts.isThrowStatement(each) || isCallOf(each, /^console\.|Error$/)) return true;
  }
  return false;
};

const words = /\p{L}{3,}/u;
const named = /(?:aria-label|aria-roledescription|title|placeholder|alt)="?([A-Za-z][^"{}>]*)/g;

/** The words of a template of HTML that are the same in every language. */
const wordsOfHtml = (html: string): readonly string[] => [
  ...[...html.matchAll(named)].map(([, text = '']) => text),
  ...html
    .replaceAll(/<[^>]*>/g, '{}')
    .split('{}')
    .map((text) => text.trim())
    .filter((text) => words.test(text)),
];

/** Two words with a space between them, or a word and a value, which no identifier or colour has. */
const looksEnglish = (text: string): boolean =>
  /\p{L}{2,} [“”]?\p{L}{2,}|\p{L}{4,} \{\}/u.test(text) && !/^<|rgb\(|;\s/.test(text);

/** A value of the attribute `class` in a template of HTML. */
const isClass = (node: ts.Node): boolean => {
  for (let each: ts.Node | undefined = node; each !== undefined; each = each.parent) {
    if (!ts.isTemplateSpan(each)) continue;
    const { head, templateSpans } = each.parent;
    const before = [head, ...templateSpans.map(({ literal }) => literal)][templateSpans.indexOf(each)];
    return before?.text.endsWith('class=') === true;
  }
  return false;
};

/** Names of periods are translated where they are shown. */
const isListed = ({ parent }: ts.Node): boolean =>
  ts.isArrayLiteralExpression(parent) &&
  ts.isAsExpression(parent.parent) &&
  ts.isVariableDeclaration(parent.parent.parent) &&
  parent.parent.parent.name.getText() === 'datePresets';

const wordsIn = (node: ts.StringLiteralLike | ts.TemplateExpression, keys: ReadonlySet<string>) => {
  const { parent } = node;
  const text = textOf(node);
  if (ts.isTaggedTemplateExpression(parent)) return parent.tag.getText() === 'html' ? wordsOfHtml(text) : [];
  if (isCallOf(parent, /(?:^|\.)(?:text|say)$/) || isListed(node) || isForDevelopers(node) || isClass(node)) return [];
  if (ts.isImportDeclaration(parent) || (ts.isPropertyAssignment(parent) && parent.name === node)) return [];
  const isKey = keys.has(text) && /^\p{Lu}|\s/u.test(text);
  return isKey || looksEnglish(text) ? [text] : [];
};

const literalsOf = (source: ts.SourceFile): readonly (ts.StringLiteralLike | ts.TemplateExpression)[] => {
  const found: (ts.StringLiteralLike | ts.TemplateExpression)[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
};

const isTranslated = (node: ts.Node): boolean =>
  isCallOf(node.parent, /(?:^|\.)(?:text|say)$/) &&
  ts.isCallExpression(node.parent) &&
  node.parent.arguments[0] === node;

/** The texts of one file. `keys`: those of `src/languages/`. */
export const textsIn = (file: string, code: string, keys: ReadonlySet<string>): FoundTexts => {
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true);
  const literals = literalsOf(source);
  const at = (node: ts.Node): string => `${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
  return {
    used: literals.filter(isTranslated).map(textOf),
    bare: literals.flatMap((node) => wordsIn(node, keys).map((text) => ({ at: at(node), text }))),
  };
};

/** The texts of all elements. */
export const textsOfElements = (keys: ReadonlySet<string>): FoundTexts => {
  const found = folders.flatMap((folder) =>
    readdirSync(join(web, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => textsIn(`${folder}/${file}`, readFileSync(join(web, folder, file), 'utf8'), keys)),
  );
  return { used: [...new Set(found.flatMap(({ used }) => used))], bare: found.flatMap(({ bare }) => bare) };
};
