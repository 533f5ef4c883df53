// The import graph of src by TypeScript's own parser: which file imports which, including types.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ts } from '@ts-morph/common';

export const src = fileURLToPath(new URL('../../src', import.meta.url));

const moduleNameOf = (node) => {
  if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
    return node.moduleSpecifier.text;
  }
  const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  if (isDynamic && ts.isStringLiteral(node.arguments[0])) return node.arguments[0].text;
  return ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) ? node.argument.literal.text : undefined;
};

const read = (file) => {
  const path = join(src, file);
  const text = readFileSync(path, 'utf8');
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const names = new Set();
  const functions = [];
  const lineOf = (position) => tree.getLineAndCharacterOfPosition(position).line;
  const walk = (node) => {
    const name = moduleNameOf(node);
    if (name !== undefined) names.add(name);
    if (ts.isFunctionLike(node) && node.body !== undefined) {
      functions.push({ line: lineOf(node.getStart()) + 1, length: lineOf(node.end) - lineOf(node.getStart()) + 1 });
    }
    ts.forEachChild(node, walk);
  };
  walk(tree);
  const imports = [...names]
    .filter((name) => name.startsWith('.'))
    .map((name) => relative(src, resolve(dirname(path), name)).replace(/\.js$/, '.ts'));
  return { file, folder: dirname(file), lines: text.split('\n').length - 1, imports, functions };
};

/** Every source file: `{ file, folder, lines, imports, functions }`, paths relative to src. */
export const readSources = () =>
  readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
    .map(read);

/**
 * Returns the strongly connected components of more than one node (Tarjan). `edges` maps each node to the nodes that it
 * leads to.
 */
const circlesOf = (edges) => {
  const state = new Map();
  const stack = [];
  const circles = [];
  const visit = (node) => {
    const own = { index: state.size, low: state.size, isOpen: true };
    state.set(node, own);
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!edges.has(next)) continue;
      const known = state.get(next) ?? visit(next);
      if (known.isOpen) own.low = Math.min(own.low, known.low);
    }
    if (own.low === own.index) {
      const circle = stack.splice(stack.indexOf(node));
      for (const member of circle) state.get(member).isOpen = false;
      if (circle.length > 1) circles.push(circle.sort());
    }
    return own;
  };
  for (const node of edges.keys()) if (!state.has(node)) visit(node);
  return circles;
};

/** Groups of files that import each other in a circle. */
export const fileCircles = (sources) => circlesOf(new Map(sources.map(({ file, imports }) => [file, imports])));

/** Returns which other folders each folder imports, with one import as an example. */
const folderEdges = (sources) => {
  const edges = new Map();
  for (const { file, folder, imports } of sources) {
    for (const target of imports.filter((path) => dirname(path) !== folder)) {
      const of = edges.get(folder) ?? new Map();
      edges.set(folder, of);
      of.set(dirname(target), [...(of.get(dirname(target)) ?? []), `${file} -> ${target}`]);
    }
  }
  return edges;
};

/**
 * Returns pairs of folders that import each other: `{ folders, imports }`, with the imports of the direction that has
 * fewer.
 */
export const mutualFolders = (sources) => {
  const edges = folderEdges(sources);
  return [...edges].flatMap(([folder, targets]) =>
    [...targets]
      .filter(([target]) => folder < target && edges.get(target)?.has(folder))
      .map(([target, there]) => {
        const back = edges.get(target).get(folder);
        return { folders: [folder, target], imports: back.length < there.length ? back : there };
      }),
  );
};

/** Returns the folders that form a circle of any length. */
export const folderCircles = (sources) => {
  const edges = folderEdges(sources);
  const folders = new Set(sources.map(({ folder }) => folder));
  return circlesOf(new Map([...folders].map((folder) => [folder, [...(edges.get(folder)?.keys() ?? [])]])));
};
