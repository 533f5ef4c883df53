// The names of all tests, by TypeScript's own parser.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ts } from '@ts-morph/common';

const folder = fileURLToPath(new URL('..', import.meta.url));

/** The function that a chain of calls begins with: `test` of `test.runIf(x).each(y)('name', work)`. */
const calledFirst = (node) => {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)) return calledFirst(node.expression);
  return ts.isTaggedTemplateExpression(node) ? calledFirst(node.tag) : undefined;
};

const nameOf = (node, tree) => {
  if (!ts.isCallExpression(node) || !['test', 'it'].includes(calledFirst(node.expression))) return undefined;
  const [name, work] = node.arguments;
  if (name === undefined || work === undefined) return undefined;
  if (ts.isTemplateExpression(name)) return name.getText(tree).slice(1, -1);
  return ts.isStringLiteralLike(name) ? name.text : undefined;
};

/** Every test: `{ file, line, name }`, paths relative to `test`. A parameter stands as it is written: `%s`, `$name`. */
export const readTestNames = () =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const tree = ts.createSourceFile(file, readFileSync(join(folder, file), 'utf8'), ts.ScriptTarget.Latest);
      const found = [];
      const walk = (node) => {
        const name = nameOf(node, tree);
        if (name !== undefined) {
          found.push({ file, line: tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1, name });
        }
        ts.forEachChild(node, walk);
      };
      walk(tree);
      return found;
    });
