import type { Reason } from '../../../model/reasons.js';
import type { Feature, Grammar } from './grammar.js';
import { refuseAt, type Token, tokensOf } from './lexer.js';
import type { Name, Query } from './tree.js';

/** The tokens of one text and the current position. */
export type Reader = {
  readonly grammar: Grammar;
  readonly has: (feature: Feature) => boolean;
  readonly peek: (ahead?: number) => Token;
  readonly next: () => Token;
  /** Whether these words come next. */
  readonly isWords: (words: string) => boolean;
  readonly takeWords: (words: string) => boolean;
  readonly expectWords: (words: string) => void;
  readonly isSymbol: (symbol: string, ahead?: number) => boolean;
  readonly takeSymbol: (symbol: string) => boolean;
  readonly expectSymbol: (symbol: string) => void;
  readonly refuse: (what: string, reason?: Reason, location?: number) => never;
  /** Refuses the next token and names its kind. */
  readonly refuseNext: (expected: string) => never;
  /** Reads the SELECT that comes next. */
  readonly query: () => Query;
  /** Runs `work` one nesting level deeper. Refuses at the limit. */
  readonly nested: <T>(work: () => T) => T;
};

/** In characters. Longer texts are refused. */
const greatestLength = 65_536;
/** Keeps recursion far below the limits of our stack and of the servers' parsers. */
const greatestDepth = 64;

/** `readQuery` reads a SELECT within an expression. */
export const createReader = (text: string, grammar: Grammar, readQuery: (reader: Reader) => Query): Reader => {
  if (text.length > greatestLength) refuseAt(`more than ${greatestLength} characters`, text, 0, 'sql-too-long');
  const tokens = tokensOf(text, grammar.lexis);
  const words = tokens.map((token) => (token.kind === 'word' ? token.text.toUpperCase() : ''));
  const end: Token = { kind: 'end', text: '', location: text.length };
  let at = 0;
  let depth = 0;

  const peek = (ahead = 0): Token => tokens[at + ahead] ?? end;
  const refuse: Reader['refuse'] = (what, reason = 'sql-syntax', location = peek().location) =>
    refuseAt(what, text, location, reason);
  const refuseNext: Reader['refuseNext'] = (expected) =>
    refuse(`${kindOf(peek(), grammar)} where ${expected} is expected`);
  const isSymbol = (symbol: string, ahead = 0): boolean => peek(ahead).kind === 'symbol' && peek(ahead).text === symbol;
  const isWords = (phrase: string): boolean => phrase.split(' ').every((word, index) => words[at + index] === word);
  const take = (count: number, isThere: boolean): boolean => {
    if (isThere) at += count;
    return isThere;
  };
  const takeWords = (phrase: string): boolean => take(phrase.split(' ').length, isWords(phrase));
  const takeSymbol = (symbol: string): boolean => take(1, isSymbol(symbol));
  const reader: Reader = {
    grammar,
    has: (feature) => grammar.features.has(feature),
    peek,
    next: () => tokens[at++] ?? end,
    isWords,
    takeWords,
    expectWords: (phrase) => takeWords(phrase) || refuseNext(phrase),
    isSymbol,
    takeSymbol,
    expectSymbol: (symbol) => takeSymbol(symbol) || refuseNext(symbol),
    refuse,
    refuseNext,
    query: () => readQuery(reader),
    nested: (work) => {
      depth += 1;
      if (depth > greatestDepth) refuse(`more than ${greatestDepth} levels of nesting`, 'sql-too-deep');
      const result = work();
      depth -= 1;
      return result;
    },
  };
  return reader;
};

/**
 * The token as an error message may name it: keywords and symbols as they are, anything that may be a value by its
 * kind.
 */
const kindOf = ({ kind, text }: Token, { reserved, suffixes }: Grammar): string => {
  const upper = text.toUpperCase();
  switch (kind) {
    case 'word':
      return reserved.has(upper) || suffixes.has(upper) ? upper : 'a name';
    case 'name':
      return 'a name';
    case 'symbol':
      return text;
    case 'end':
      return 'its end';
    default:
      return `a ${kind}`;
  }
};

export const isName = (reader: Reader, ahead = 0): boolean => {
  const { kind, text } = reader.peek(ahead);
  return kind === 'name' || (kind === 'word' && !reader.grammar.reserved.has(text.toUpperCase()));
};

/**
 * Reads one name. After a point (`isPart`) reserved words are names too. Refuses names that begin with `gl_`: the
 * engine generates those.
 */
export const readName = (reader: Reader, what: string, isPart = false): Name => {
  if (!isName(reader) && !(isPart && reader.peek().kind === 'word')) return reader.refuseNext(what);
  const { text, location } = reader.next();
  if (/^gl_/i.test(text))
    reader.refuse('a name that begins with gl_, which is kept for the engine', 'sql-name', location);
  return { text, location };
};

/** A name that the text defines. */
export const readNewName = (reader: Reader, what: string): Name => {
  const name = readName(reader, what);
  return assertNewName(reader, name);
};

export const assertNewName = (reader: Reader, name: Name): Name => {
  if (/_variable$/i.test(name.text))
    reader.refuse('an alias that is the name of a variable', 'sql-name', name.location);
  return name;
};

/** `a.b.c`, at most three parts. */
export const readPath = (reader: Reader, what: string): readonly string[] => {
  const { location } = reader.peek();
  const path = [readName(reader, what).text];
  while (reader.isSymbol('.') && !reader.isSymbol('*', 1)) {
    reader.next();
    path.push(readName(reader, 'a name', true).text);
  }
  if (path.length > 3) reader.refuse('a name of more than three parts', 'sql-name', location);
  return path;
};

/** A list separated by commas. */
export const readList = <T>(reader: Reader, read: () => T): readonly T[] => {
  const items = [read()];
  while (reader.takeSymbol(',')) items.push(read());
  return items;
};

/** A whole number without a sign. */
export const readCount = (reader: Reader): string => {
  const { kind, text } = reader.peek();
  if (kind !== 'number' || !/^\d{1,18}$/.test(text)) return reader.refuseNext('a whole number');
  reader.next();
  return text;
};

/** Whether a SELECT begins here, with or without CTEs. */
export const startsQuery = (reader: Reader, ahead = 0): boolean => {
  const { kind, text } = reader.peek(ahead);
  return kind === 'word' && /^(SELECT|WITH)$/i.test(text);
};
