import { placeOf, type TextPlace } from '../../model/text-place.js';
import { refuseQuery } from '../dialect/refuse.js';

export const writtenPlace = ({ line, column }: TextPlace): string => `line ${line}, column ${column}`;

/**
 * The place at which a parser failed. `at`: the number of characters before it, as the parser tells it. `lead` stood
 * before the author's text. Undefined if the place is not in that text.
 */
export const placeAt = (text: string, at: unknown, lead = ''): TextPlace | undefined => {
  const offset = at === undefined ? Number.NaN : Number(at) - lead.length;
  const isIn = Number.isInteger(offset) && offset >= 0 && offset <= text.length;
  return isIn ? placeOf(text, [...text].slice(0, offset).join('').length) : undefined;
};

/** What a parser expected, with the place at which it failed. */
export const expectedAt = (expected: string, place: TextPlace | undefined): string =>
  place === undefined ? expected : `${expected} (it fails at ${writtenPlace(place)})`;

/** Refuses custom SQL. `what` is a kind of construct or a name from the text, never a value. */
export const refuseSql: (what: string) => never = (what) =>
  refuseQuery(`The SQL holds ${what}; take it out or write it in another way.`, 'sql-not-allowed');

/** Refuses SQL that does not parse. The parser's own message would repeat the text. */
export const refuseSyntax: (expected: string, place?: TextPlace) => never = (expected, place) =>
  refuseQuery(`The SQL does not parse: expected ${expectedAt(expected, place)}.`, 'sql-syntax', place);

/** The prefix of generated names: leaves, markers and outputs. */
const reserved = /^gl_/i;

export const assertName = (name: string): string =>
  reserved.test(name) ? refuseSql('a name that begins with gl_, which is reserved') : name;

const quotedVariable = /\b[a-z0-9_]+_variable\b/i;

/** Refuses a variable in quotes, which would be compared as that literal text. */
export const assertLiteral = (text: string): void => {
  if (quotedVariable.test(text)) refuseSql('a variable in quotes (write it without them, it is a bound value)');
};

const variablePattern = /^([a-z0-9_]+)_variable$/i;

/** The variable that a bare name stands for; undefined for a column. */
export const variableOf = (name: string): string | undefined => variablePattern.exec(name)?.[1];

const quoted = /'(?:[^']|'')*'|"(?:[^"]|"")*"/g;

/** Refuses comments and semicolons in an expression, although the SQL that runs is written from the tree anyway. */
export const assertPlainExpression = (text: string): void => {
  if (/--|\/\*|;|\0/.test(text.replaceAll(quoted, ''))) refuseSql('a comment or a semicolon within an expression');
};

/** Deeper nesting is refused, because it could exhaust the stack of a tree walk. */
export const greatestDepth = 200;
