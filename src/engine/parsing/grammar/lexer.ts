import type { Reason } from '../../../model/reasons.js';
import { placeOf } from '../../../model/text-place.js';
import { refuseQuery } from '../../dialect/refuse.js';
import { writtenPlace } from '../refusals.js';

/** `name`: a quoted identifier. `word`: an unquoted one, or a keyword. `text` has the content without quotes. */
export type Token = {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'symbol' | 'end';
  readonly text: string;
  readonly location: number;
};

export type Lexis = {
  /** By the quote character, which opens and closes. */
  readonly quotes: ReadonlyMap<string, 'text' | 'name'>;
  /** Whether a backslash in text escapes the next character. */
  readonly hasEscapes: boolean;
  /** Whether two dashes begin a comment only before a blank. */
  readonly isDashSpaced: boolean;
  readonly hasHashComments: boolean;
  /** Longest first. */
  readonly symbols: readonly string[];
  /** The greatest code point allowed in a name. */
  readonly greatestCharacter: number;
};

const blank = /[ \t\r\n\f\v]+/y;
const word = /[A-Za-z_][A-Za-z0-9_]*/y;
const number = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

const match = (pattern: RegExp, text: string, at: number): string | null => {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
};

/** Splits the text into tokens. Refuses characters and literals that the grammar does not use. */
export const tokensOf = (text: string, lexis: Lexis): readonly Token[] => {
  if (text.includes('\0') || /\p{Surrogate}/u.test(text))
    refuseAt('NUL or half a surrogate pair', text, 0, 'sql-character');
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    at = afterBlanks(text, at, lexis);
    if (at >= text.length) return [...tokens, { kind: 'end', text: '', location: text.length }];
    const { token, next } = read(text, at, lexis);
    tokens.push(token);
    at = next;
  }
};

type Read = { readonly token: Token; readonly next: number };

const read = (text: string, at: number, lexis: Lexis): Read => {
  const found = (kind: Token['kind'], what: string, next = at + what.length): Read => ({
    token: { kind, text: what, location: at },
    next,
  });
  const quote = lexis.quotes.get(text[at] ?? '');
  if (quote === 'text') return readText(text, at, lexis);
  if (quote === 'name') return readName(text, at, lexis);
  const plain = match(word, text, at);
  if (plain !== null) {
    const after = text[at + plain.length] ?? '';
    if (after === '$' || after > '\x7f')
      refuseAt(
        'an unquoted name with characters other than letters, digits and _; quote it',
        text,
        at,
        'sql-character',
      );
    return found('word', plain);
  }
  const digits = match(number, text, at);
  if (digits !== null) {
    if (digits.length > 60 || /[\w.$]|[^\0-\x7f]/.test(text[at + digits.length] ?? ' '))
      refuseAt('a number in an unsupported notation', text, at, 'sql-number');
    return found('number', digits);
  }
  const symbol = lexis.symbols.find((candidate) => text.startsWith(candidate, at));
  if (symbol === '.' && /\d/.test(text[at + 1] ?? ''))
    refuseAt('a point before a digit; write 0 before it', text, at, 'sql-number');
  return symbol === undefined
    ? refuseAt(oddCharacter(text[at] ?? ''), text, at, 'sql-character')
    : found('symbol', symbol);
};

const oddCharacter = (character: string): string => {
  if (character === '@') return 'a variable (@)';
  if ('?:{}$'.includes(character)) return `a parameter or placeholder (${character})`;
  return character > ' ' && character < '\x7f' ? `the character ${character}` : 'a character that has no meaning here';
};

/** The position after blanks and comments. Refuses comments that the server may execute. */
const afterBlanks = (text: string, from: number, lexis: Lexis): number => {
  let at = from;
  for (;;) {
    const start = at;
    at += match(blank, text, at)?.length ?? 0;
    if (isLineComment(text, at, lexis)) {
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end + 1;
    } else if (text.startsWith('/*', at)) at = afterComment(text, at);
    if (at === start) return at;
  }
};

const isLineComment = (text: string, at: number, lexis: Lexis): boolean => {
  if (lexis.hasHashComments && text[at] === '#') return true;
  if (!text.startsWith('--', at)) return false;
  return !lexis.isDashSpaced || at + 2 >= text.length || match(blank, text, at + 2) !== null;
};

const afterComment = (text: string, at: number): number => {
  if (/^(!|\+|M!)/.test(text.slice(at + 2, at + 4)))
    refuseAt('a comment that is a command to the server', text, at, 'sql-comment');
  const end = text.indexOf('*/', at + 2);
  if (end < 0) return refuseAt('a comment without an end', text, at, 'sql-comment');
  // Nested comments end at the first mark in some databases and at the last one in others.
  if (text.slice(at + 2, end).includes('/*')) refuseAt('a comment within a comment', text, at, 'sql-comment');
  return end + 2;
};

const readName = (text: string, at: number, lexis: Lexis): Read => {
  const quote = text[at] ?? '';
  const end = text.indexOf(quote, at + 1);
  if (end < 0) return refuseAt('a quoted name without an end', text, at, 'sql-name');
  const name = text.slice(at + 1, end);
  // Databases disagree about these characters within quotes.
  const isOdd = name === '' || name.trim() !== name || name.length > 128 || /[\p{Cc}`"\\]/u.test(name);
  if (isOdd || text[end + 1] === quote || [...name].some((one) => (one.codePointAt(0) ?? 0) > lexis.greatestCharacter))
    refuseAt(
      'a quoted name that is empty, too long or has quotes, backslashes or blanks around it',
      text,
      at,
      'sql-name',
    );
  return { token: { kind: 'name', text: name, location: at }, next: end + 1 };
};

const escapes: ReadonlyMap<string, string> = new Map([
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  // The backslash of a LIKE pattern stays, because LIKE reads it.
  ['%', '\\%'],
  ['_', '\\_'],
]);

const readText = (text: string, at: number, lexis: Lexis): Read => {
  const quote = text[at] ?? '';
  const parts: string[] = [];
  let from = at + 1;
  for (let here = from; here < text.length; here += 1) {
    const character = text[here];
    if (character === quote && text[here + 1] !== quote) {
      const value = [...parts, text.slice(from, here)].join('');
      return { token: { kind: 'text', text: value, location: at }, next: here + 1 };
    }
    if (character !== quote && !(character === '\\' && lexis.hasEscapes)) continue;
    const meant = character === quote ? quote : escapes.get(text[here + 1] ?? '');
    if (meant === undefined)
      return refuseAt(
        'a backslash in text before an odd character; write two backslashes for one',
        text,
        here,
        'sql-text',
      );
    parts.push(text.slice(from, here), meant);
    here += 1;
    from = here + 1;
  }
  return refuseAt('text without an end', text, at, 'sql-text');
};

/** Refuses the SQL and names the position. The message repeats nothing else of the text. */
export const refuseAt = (what: string, text: string, location: number, reason: Reason): never => {
  const place = placeOf(text, location);
  return refuseQuery(`The SQL has ${what} at ${writtenPlace(place)}; that cannot be run here.`, reason, place);
};
