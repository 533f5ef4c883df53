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

/** The part of a room that a path lies in: a folder of it, or `.` for its own files. Undefined: elsewhere. */
const partOf = (room, path) => {
  const start = room === '.' ? '' : `${room}/`;
  if (!path.startsWith(start)) return undefined;
  const [first, ...below] = path.slice(start.length).split('/');
  return below.length === 0 ? '.' : first;
};

/** Which parts of the room import which, with the imports: a map of maps. */
const partEdges = (sources, room) => {
  const edges = new Map();
  for (const { file, imports } of sources) {
    const part = partOf(room, file);
    if (part === undefined) continue;
    const of = edges.get(part) ?? new Map();
    edges.set(part, of);
    for (const path of imports) {
      const target = partOf(room, path);
      if (target === undefined || target === part) continue;
      of.set(target, [...(of.get(target) ?? []), `${file} -> ${path}`]);
    }
  }
  return edges;
};

/**
 * Returns circles of parts in each room, src itself (`.`) and nested ones: `{ room, parts, imports }`. A folder counts
 * with all that lies below it, so a room that imports back into its parent is a circle too. `imports` are those of the
 * smallest direction.
 */
export const roomCircles = (sources) => {
  const above = (folder) => (folder === '.' ? ['.'] : [folder, ...above(dirname(folder))]);
  const rooms = [...new Set(sources.flatMap(({ folder }) => above(folder)))].sort();
  return rooms.flatMap((room) => {
    const edges = partEdges(sources, room);
    return circlesOf(new Map([...edges].map(([part, targets]) => [part, [...targets.keys()]]))).map((parts) => {
      const within = parts.flatMap((part) =>
        [...(edges.get(part) ?? [])].filter(([target]) => parts.includes(target)).map(([, imports]) => imports),
      );
      return { room, parts, imports: within.toSorted((one, other) => one.length - other.length)[0] };
    });
  });
};
