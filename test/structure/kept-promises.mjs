// Finds promises that are kept, or passed on, without a handler: a rejection that comes before somebody awaits them would
// end the process. What is awaited, returned or given to `Promise.all` at once has a handler.
import { ts } from '@ts-morph/common';

/** Functions that await a promise they are given at once, or attach a handler. */
const takers = [
  ...['all', 'allSettled', 'race', 'any', 'handled', 'add'],
  ...['told', 'read', 'inTime', 'explained', 'ifOpen', 'exitsGood', 'untilAborted'],
];
/** Names that also stand for functions that answer at once, here or in a library. */
const atOnce = ['sign', 'listen', 'verify', 'select', 'first'];

const isFunction = (node) => node !== undefined && (ts.isArrowFunction(node) || ts.isFunctionExpression(node));
const isPromiseType = (type) =>
  type !== undefined && ts.isTypeReferenceNode(type) && type.typeName.getText() === 'Promise';
const givesPromise = (node) =>
  isPromiseType(node.type) ||
  (node.asteriskToken === undefined && (node.modifiers ?? []).some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword));

/** The name and the function of a declaration: its value, or its type. */
const declaredBy = (node) => {
  if (ts.isFunctionDeclaration(node)) return node;
  if ((ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node)) && isFunction(node.initializer))
    return node.initializer;
  if (ts.isPropertySignature(node) && node.type !== undefined && ts.isFunctionTypeNode(node.type)) return node.type;
  return undefined;
};

const walk = (node, visit) => {
  visit(node);
  node.forEachChild((child) => walk(child, visit));
};

/** The names of functions by whether each of their declarations gives a promise. */
const readNames = (files) => {
  const names = new Map();
  for (const file of files)
    walk(file, (node) => {
      const declared = declaredBy(node);
      if (declared === undefined || node.name === undefined) return;
      const name = node.name.getText();
      names.set(name, givesPromise(declared) && names.get(name) !== false);
    });
  return names;
};

const nameOf = (callee) =>
  ts.isIdentifier(callee) ? callee.text : ts.isPropertyAccessExpression(callee) ? callee.name.text : undefined;

const isPromise = (node, names) => {
  // A promise without `reject` is never rejected.
  if (ts.isNewExpression(node))
    return nameOf(node.expression) === 'Promise' && node.arguments?.[0]?.parameters?.length === 2;
  if (!ts.isCallExpression(node)) return false;
  const name = nameOf(node.expression);
  return ['then', 'catch', 'finally'].includes(name) || (names.get(name) === true && !atOnce.includes(name));
};

/** The outermost expression whose value is that of the node. */
const wholeOf = (node) => {
  const outer = node.parent;
  const isSame =
    ts.isParenthesizedExpression(outer) ||
    ts.isAsExpression(outer) ||
    (ts.isConditionalExpression(outer) && outer.condition !== node) ||
    (ts.isBinaryExpression(outer) && ['??', '||', '&&'].includes(outer.operatorToken.getText()));
  return isSame ? wholeOf(outer) : node;
};

const isKept = (node) => {
  const value = wholeOf(node);
  const holder = value.parent;
  if (ts.isVariableDeclaration(holder) || ts.isPropertyAssignment(holder)) return true;
  if (ts.isBinaryExpression(holder)) return holder.operatorToken.getText().endsWith('=');
  if (ts.isArrayLiteralExpression(holder)) return isKept(holder);
  return ts.isCallExpression(holder) && holder.expression !== value && !takers.includes(nameOf(holder.expression));
};

/** Returns the kept promises of the sources. */
export const findKeptPromises = (sources) => {
  const files = sources.map(({ file, text }) => ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  const names = readNames(files);
  const found = [];
  for (const file of files)
    walk(file, (node) => {
      if (!isPromise(node, names) || !isKept(node)) return;
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.push({ file: file.fileName, line: line + 1, text: node.getText().split('\n', 1)[0] });
    });
  return found;
};
