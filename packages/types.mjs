// Writes the declarations of one entry file as one file: what its exports mention, directly or through other declarations, and nothing else.
// Packages are imported, the project's own declarations are copied. The compiler's interface for programs comes from @ts-morph/common:
// TypeScript 7 has none.
import { createRequire } from 'node:module';
import { relative } from 'node:path';

const { ts } = createRequire(import.meta.url)('@ts-morph/common');

const isRelative = (specifier) => specifier.startsWith('.');
const specifierOf = (declaration) => {
  const found = ts.findAncestor(declaration, (node) => ts.isImportDeclaration(node) || ts.isExportDeclaration(node));
  return found?.moduleSpecifier?.text;
};

/** The statement of its file that declares it: `declare const` is a list in a statement. */
const statementOf = (declaration) => ts.findAncestor(declaration, (node) => ts.isSourceFile(node.parent));

/** Follows imports and exports of the project's own files, up to the declaration or to the import of a package. */
const createResolve = (checker) =>
  function resolve(symbol) {
    const [declaration] = symbol.declarations ?? [];
    if (declaration === undefined || (symbol.flags & ts.SymbolFlags.Alias) === 0) return symbol;
    const specifier = specifierOf(declaration);
    if (specifier !== undefined && !isRelative(specifier)) return symbol;
    const next = checker.getImmediateAliasedSymbol(symbol);
    return next === undefined ? symbol : resolve(next);
  };

/** The import of a package, as its own line; two files that import one thing give one line. */
const importLine = (symbol, local) => {
  const [declaration] = symbol.declarations;
  const from = `from '${specifierOf(declaration)}'`;
  if (ts.isImportClause(declaration)) return `import type ${local} ${from};`;
  if (ts.isNamespaceImport(declaration)) return `import type * as ${local} ${from};`;
  const name = (declaration.propertyName ?? declaration.name).text;
  return `import type { ${name === local ? name : `${name} as ${local}`} } ${from};`;
};

const textOf = (statement, isExported) => {
  const comment = statement.jsDoc?.at(-1)?.getFullText() ?? '';
  const text = statement
    .getText()
    .replace(/^export\s+/, '')
    .replace(/^declare\s+/, '');
  const word = ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement) ? '' : 'declare ';
  return `${comment.trim()}${comment === '' ? '' : '\n'}${isExported ? 'export ' : ''}${word}${text}`;
};

/** Throws where two declarations share a name, or an inferred type names a file of the project: the source has to say it otherwise. */
const createCollector = (checker) => {
  const resolve = createResolve(checker);
  const imports = new Set();
  const statements = new Map();
  const owners = new Map();
  const isOwn = (symbol) => {
    const declaration = symbol.declarations?.[0];
    if (declaration === undefined || declaration.getSourceFile().fileName.includes('/node_modules/')) return false;
    const statement = statementOf(declaration);
    // Of a module: members of a type and type parameters are written with their statement.
    return statement !== undefined && (declaration === statement || ts.isVariableDeclaration(declaration));
  };
  const claim = (name, owner) => {
    const first = owners.get(name) ?? owner;
    if (first !== owner) throw new Error(`two declarations are named ${name}: ${first} and ${owner}`);
    owners.set(name, owner);
  };
  const visit = (symbol, local) => {
    const found = resolve(symbol);
    const [declaration] = found.declarations ?? [];
    if (declaration === undefined) return;
    if ((found.flags & ts.SymbolFlags.Alias) !== 0) {
      const line = importLine(found, local);
      claim(local, line);
      imports.add(line);
      return;
    }
    if (!isOwn(found)) return;
    const statement = statementOf(declaration);
    if (statements.has(statement)) return;
    if (found.name !== local) throw new Error(`${found.name} is imported as ${local}: it needs one name`);
    claim(local, declaration.getSourceFile().fileName);
    statements.set(statement, found.name);
    walk(statement);
  };
  const walk = (node) => {
    if (ts.isImportTypeNode(node)) {
      const { text } = node.argument.literal;
      if (isRelative(text)) throw new Error(`an inferred type names ${text}: write the type in the source`);
    }
    if (ts.isIdentifier(node)) {
      const symbol = checker.getSymbolAtLocation(node);
      if (symbol !== undefined && !ts.isPropertySignature(node.parent)) visit(symbol, node.text);
    }
    ts.forEachChild(node, walk);
  };
  return { visit, resolve, imports, statements };
};

/** Middleware of a host adds its fields here. Declared as the types of Express do, which a host need not have. */
const expressGlobals = 'declare global {\n  namespace Express {\n    interface Request {}\n  }\n}';

/** The text of `entry`'s declarations in one file. */
export const rollUpTypes = (entry) => {
  const options = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    types: [],
    noLib: true,
  };
  const program = ts.createProgram([entry], options);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(entry);
  if (source === undefined) throw new Error(`${relative('.', entry)} is not found`);
  const { visit, resolve, imports, statements } = createCollector(checker);
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(source));
  for (const symbol of exported) visit(symbol, symbol.name);
  const isExported = new Set(exported.map((symbol) => statementOf(resolve(symbol).declarations[0])));
  const written = [...statements.keys()].map((statement) => textOf(statement, isExported.has(statement)));
  const text = written.join('\n\n');
  const globals = /\bExpress\.Request\b/.test(text) ? [expressGlobals] : [];
  return `${[[...imports].sort().join('\n'), ...globals, text].filter((part) => part !== '').join('\n\n')}\n\nexport {};\n`;
};
