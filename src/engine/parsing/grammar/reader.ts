import type { Feature, Grammar } from './grammar.js';
import { type Token, tokensOf } from './lexer.js';
import { refuseSql } from './refuse-sql.js';
import type { Name } from './tree.js';

/** The tokens of one text, and the place that reading has come to. */
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
  readonly refuse: (what: string, reason?: string, location?: number) => never;
  /** Refuses the token that comes next, by its kind. */
  readonly refuseNext: (expected: string) => never;
  /** One level deeper. */
  readonly nested: <T>(work: () => T) => T;
};

/** Longer texts are refused. In characters. */
export const greatestLength = 65_536;
/** Deeper nesting is refused, long before a stack ends: ours, or a server's. */
const greatestDepth = 64;

export const createReader = (text: string, grammar: Grammar): Reader => {
  if (text.length > greatestLength) refuseSql(`more than ${greatestLength} characters`, text, 0, 'sql-too-long');
  const tokens = tokensOf(text, grammar.lexis);
  const words = tokens.map((token) => (token.kind === 'word' ? token.text.toUpperCase() : ''));
  const end: Token = { kind: 'end', text: '', location: text.length };
  let at = 0;
  let depth = 0;

  const peek = (ahead = 0): Token => tokens[at + ahead] ?? end;
  const refuse: Reader['refuse'] = (what, reason = 'sql-syntax', location = peek().location) =>
    refuseSql(what, text, location, reason);
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
  return {
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
    nested: (work) => {
      depth += 1;
      if (depth > greatestDepth) refuse(`more than ${greatestDepth} levels of nesting`, 'sql-too-deep');
      const result = work();
      depth -= 1;
      return result;
    },
  };
};

/** A keyword says itself; whatever else may be a value. */
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

/** One name; after a point (`isPart`), every word is one. Names that begin with `gl_` are the engine's own. */
export const readName = (reader: Reader, what: string, isPart = false): Name => {
  if (!isName(reader) && !(isPart && reader.peek().kind === 'word')) return reader.refuseNext(what);
  const { text, location } = reader.next();
  if (/^gl_/i.test(text))
    reader.refuse('a name that begins with gl_, which is kept for the engine', 'sql-name', location);
  return { text, location };
};

/** A name that the text gives to something. */
export const readNewName = (reader: Reader, what: string): Name => {
  const name = readName(reader, what);
  return assertNewName(reader, name);
};

export const assertNewName = (reader: Reader, name: Name): Name => {
  if (/_variable$/i.test(name.text))
    reader.refuse('an alias that is the name of a variable', 'sql-name', name.location);
  return name;
};

/** `a.b.c`, three parts at most. */
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

/** What `read` reads, again after each comma. */
export const readList = <T>(reader: Reader, read: () => T): readonly T[] => {
  const items = [read()];
  while (reader.takeSymbol(',')) items.push(read());
  return items;
};

/** Digits alone. */
export const readCount = (reader: Reader): string => {
  const { kind, text } = reader.peek();
  if (kind !== 'number' || !/^\d{1,18}$/.test(text)) return reader.refuseNext('a whole number');
  reader.next();
  return text;
};
