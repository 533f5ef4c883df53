// `npm run forms`: counts in how many forms the code of src and packages says one thing, by TypeScript's own parser. The
// rules look at syntax alone, so a count compares two commits; it proves nothing by itself. `-- --list` names the places,
// `-- --at FOLDER` reads another checkout.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ts } from '@ts-morph/common';

const { SyntaxKind } = ts;
const { FirstJSDocNode, LastJSDocNode } = SyntaxKind;
const given = process.argv.indexOf('--at');
const root = given < 0 ? fileURLToPath(new URL('../..', import.meta.url)) : resolve(process.argv[given + 1]);

/** Translations are data, also in checkouts where they were TypeScript: one file for each language. */
const isTranslation = (path) => /(^|\/)(texts|languages)\/[a-z]{2}\.(ts|json)$/.test(path);

const readAll = (folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    .filter((path) => /\.(ts|js|mjs)$/.test(path) && !/node_modules|\/dist\//.test(path) && !isTranslation(path))
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
    });

const files = [...readAll('src'), ...readAll('packages')];

const walk = (node, visit) => {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
};

/** The first result of `of` on the way up from the node. */
const above = (node, of) => (node === undefined ? undefined : (of(node) ?? above(node.parent, of)));
const outermost = (node) => above(node, (one) => (ts.isSourceFile(one.parent) ? one : undefined));
const propertyOf = (node) =>
  ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
    ? { object: node.expression.expression.getText(), name: node.expression.name.text }
    : undefined;
const fieldName = (node) => (node.name !== undefined && ts.isIdentifier(node.name) ? node.name.text : undefined);

/** Code of the server: what answers a request is neither in the browser nor in the command line. */
const isServer = (path) => path.startsWith('src/') && !/^src\/(web|cli|conformance)\//.test(path);

/** The places of nodes of the server that pass: one for each outermost statement. */
const statements = (passes) => (file) => {
  const found = new Set();
  if (isServer(file.path)) walk(file.tree, (node) => passes(node, file) && found.add(outermost(node)));
  return [...found];
};

/** Writes to a response: through Node's, or through what Express adds. */
const writesAnswer = (node) => {
  const called = propertyOf(node);
  if (called === undefined) return false;
  const isResponse = /^(res|response)\b/.test(called.object);
  return called.name === 'writeHead' || (isResponse && ['end', 'json', 'send', 'redirect'].includes(called.name));
};

/** Turns an unknown error into an answer: a function of an error that writes a status. */
const mapsErrors = (node) => {
  if (!ts.isFunctionLike(node) || node.body === undefined) return false;
  const [error] = node.parameters;
  const isError = error !== undefined && ['error', 'thrown', 'cause'].includes(error.name.getText());
  const text = node.body.getText();
  return isError && /\bstatus\b/.test(text) && /\bRefusal\b|Unavailable\b|answer|envelope/.test(text);
};

const escapes = (node) => ts.isStringLiteralLike(node) && node.text === '&lt;';

/** Writes the line that every request gets. */
const logsRequests = (node) =>
  (ts.isCallExpression(node) && node.expression.getText() === 'pinoHttp') ||
  (ts.isStringLiteralLike(node) && node.text === 'request.answered' && node.parent.name !== node);

/** Where requests are read, also in checkouts with other rooms. */
const readsRequests = (path) =>
  /^src\/((platform\/)?http|gateway\/(http|hooks)|studio|(assistants\/)?mcp|demo)\//.test(path);

/** Takes the bytes of a request, or parses the text of its body. */
const readsBodies = (node, { path }) => {
  if (!ts.isCallExpression(node) || !readsRequests(path)) return false;
  const called = propertyOf(node);
  if (called?.object === 'request' && called.name === 'on') return node.arguments[0]?.getText() === "'data'";
  return ['readText', 'readJson', 'parseJson', 'json'].includes(node.expression.getText());
};

const permission = /^(isAllow[A-Z]\w*|isDisable\w*|canDownload\w*|canSee\w*)$/;
const scheduleFields = new Set([
  ...['format', 'recurrence', 'recipients', 'alert', 'catchUp', 'isPaused'],
  ...['dashboardFilter', 'metricIds', 'channel', 'mutedUntil', 'nextAt'],
]);

/** Names in a list, an object, a type or a union of literals. */
const namesIn = (node) => {
  if (ts.isArrayLiteralExpression(node))
    return node.elements.flatMap((one) => (ts.isStringLiteralLike(one) ? [one.text] : []));
  if (ts.isObjectLiteralExpression(node)) return node.properties.map(fieldName);
  if (ts.isTypeLiteralNode(node) || ts.isInterfaceDeclaration(node)) return node.members.map(fieldName);
  if (ts.isUnionTypeNode(node))
    return node.types.flatMap((one) => (ts.isLiteralTypeNode(one) ? [one.literal.text] : []));
  return [];
};

const listing = (is, least) => (file) => {
  const found = new Set();
  walk(file.tree, (node) => {
    const names = new Set(namesIn(node).filter((name) => name !== undefined && is(name)));
    if (names.size >= least) found.add(node);
  });
  return [...found].filter((node) => above(node.parent, (one) => (found.has(one) ? one : undefined)) === undefined);
};

const isSchema = (node) => {
  const call = above(node, (one) => (ts.isCallExpression(one) ? one : undefined));
  return call !== undefined && /object|extend/i.test(call.expression.getText());
};

/** Types and schemas of a schedule, not values of one. */
const shapesOfSchedule = (file) =>
  listing(
    (name) => scheduleFields.has(name),
    4,
  )(file).filter((node) => !ts.isObjectLiteralExpression(node) || isSchema(node));

const bags = (file) => {
  const found = [];
  walk(file.tree, (node) => {
    if (ts.isTypeAliasDeclaration(node) && /(Deps|Options|Parts|Steps)$/.test(node.name.text)) found.push(node);
  });
  return found;
};

const forms = [
  ['senders of an answer', statements(writesAnswer)],
  ['functions that map an error to an answer', statements(mapsErrors)],
  [
    'escapers of HTML or XML',
    (file) => {
      const found = new Set();
      walk(file.tree, (node) => escapes(node) && found.add(outermost(node)));
      return [...found];
    },
  ],
  ['logs of requests', statements(logsRequests)],
  ['readers of bodies', statements(readsBodies)],
  ['lists of permissions', listing((name) => permission.test(name), 4)],
  ['shapes of a schedule', shapesOfSchedule],
  ['types named Deps, Options, Parts or Steps', bags],
];

const places = forms.map(([name, find]) => [
  name,
  files.flatMap((file) =>
    find(file).map((node) => {
      const { line } = file.tree.getLineAndCharacterOfPosition(node.getStart());
      return `${file.path}:${line + 1}  ${node.getText().split('\n', 1)[0].slice(0, 80)}`;
    }),
  ),
]);

/** The leaves of the tree, without comments. */
const tokensOf = (node) => {
  if (node.kind >= FirstJSDocNode && node.kind <= LastJSDocNode) return 0;
  const children = node.getChildren();
  if (children.length > 0) return children.reduce((total, child) => total + tokensOf(child), 0);
  return node.kind === SyntaxKind.EndOfFileToken || node.kind === SyntaxKind.SyntaxList ? 0 : 1;
};

const sum = (of) => files.reduce((total, file) => total + of(file), 0);
const rows = [
  ...places.map(([name, found]) => [name, found.length]),
  ['files', files.length],
  ['lines', sum(({ text }) => text.split('\n').length - 1)],
  ['tokens of the syntax trees', sum(({ tree }) => tokensOf(tree))],
];
console.log(
  [
    '| src and packages, without translations | |',
    '|---|---|',
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
  ].join('\n'),
);

if (process.argv.includes('--list'))
  for (const [name, found] of places) console.log(`\n${name}:\n  ${found.join('\n  ')}`);
