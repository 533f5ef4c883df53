import { refuseQuery } from '../databases/refuse.js';

/** What custom SQL may not hold. `what` names a kind of thing, or a name out of the text, and never a value. */
export const refuseSql: (what: string) => never = (what) =>
  refuseQuery(`The SQL holds ${what}; take it out or write it in another way.`, 'sql-not-allowed');

/** It does not parse: the parsers' own words would repeat the text. */
export const refuseSyntax: (expected: string) => never = (expected) =>
  refuseQuery(`The SQL does not parse: expected ${expected}.`, 'sql-syntax');

/** Names that the engine gives to leaves, markers and outputs. */
const reserved = /^gl_/i;

export const assertName = (name: string): string =>
  reserved.test(name) ? refuseSql('a name that begins with gl_, which is reserved') : name;

const quotedVariable = /\b[a-z0-9_]+_variable\b/i;

/** A variable in quotes would be compared as that very text, and nothing would be found. */
export const assertLiteral = (text: string): void => {
  if (quotedVariable.test(text)) refuseSql('a variable in quotes (write it without them, it is a bound value)');
};

const variablePattern = /^([a-z0-9_]+)_variable$/i;

/** The variable that a bare name stands for; undefined for a column. */
export const variableOf = (name: string): string | undefined => variablePattern.exec(name)?.[1];

const quoted = /'(?:[^']|'')*'|"(?:[^"]|"")*"/g;

/** What could end an expression, or hide a part of it, has no place in one; what runs is written from the tree all the same. */
export const assertPlainExpression = (text: string): void => {
  if (/--|\/\*|;|\0/.test(text.replaceAll(quoted, ''))) refuseSql('a comment or a semicolon within an expression');
};

/** Nesting that is deeper is nobody's query, and could exhaust the stack of what walks it. */
export const greatestDepth = 200;
