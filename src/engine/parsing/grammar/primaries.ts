import { readCall } from './calls.js';
import { readExpression, readUnit } from './operators.js';
import { readQuery } from './queries.js';
import { isName, type Reader, readCount, readList, readPath } from './reader.js';
import type { Expression } from './tree.js';

/** What no operator takes apart: a value, a column, a call, or anything in parentheses; with what is said of it behind it. */
export const readPrimary = (reader: Reader): Expression => {
  let of = readPlain(reader);
  for (;;) {
    if (reader.has('collate') && reader.takeWords('COLLATE'))
      of = { kind: 'collate', of, collation: readCollation(reader) };
    else if (reader.has('cast-colons') && reader.takeSymbol('::')) of = { kind: 'cast', of, type: readType(reader) };
    else if (reader.has('json-arrows') && reader.isSymbol('->>')) of = call('JSON_UNQUOTE', [readArrow(reader, of)]);
    else if (reader.has('json-arrows') && reader.isSymbol('->')) of = readArrow(reader, of);
    else return of;
  }
};

const call = (name: string, args: readonly Expression[]): Expression => ({
  kind: 'call',
  name,
  isAggregate: false,
  isDistinct: false,
  unit: null,
  levels: [],
  args,
  order: [],
  separator: null,
  window: null,
});

/** `doc->'$.a'` is JSON_EXTRACT by another name, which MariaDB lacks. */
const readArrow = (reader: Reader, of: Expression): Expression => {
  reader.next();
  const { kind, text } = reader.peek();
  if (of.kind !== 'column' || kind !== 'text') return reader.refuseNext('a path as text, behind a column');
  reader.next();
  return call('JSON_EXTRACT', [of, { kind: 'text', value: text }]);
};

const readCollation = (reader: Reader): string => {
  const { kind, text } = reader.peek();
  if (kind !== 'word' || !/^(utf8mb4|utf8mb3|utf8|latin1|ascii)_[a-z0-9_]+$/i.test(text))
    return reader.refuseNext('a collation');
  reader.next();
  return text.toLowerCase();
};

export const startsQuery = (reader: Reader, ahead = 0): boolean => {
  const { kind, text } = reader.peek(ahead);
  return kind === 'word' && /^(SELECT|WITH)$/i.test(text);
};

const readPlain = (reader: Reader): Expression => {
  const { kind, text, location } = reader.peek();
  if (reader.takeSymbol('(')) return readParentheses(reader);
  if (kind === 'number') return { kind: 'number', digits: reader.next().text };
  if (kind === 'text') return readText(reader);
  if (kind === 'name' && reader.isSymbol('(', 1)) reader.refuse('a function whose name is quoted', 'sql-function');
  if (kind === 'word') {
    const special = specials.get(text.toUpperCase());
    const read = special?.(reader);
    if (read !== undefined) return read;
    const isBare = reader.grammar.functions.get(text.toUpperCase())?.form === 'bare';
    if (reader.isSymbol('(', 1) || (isBare && !reader.isSymbol('.', 1))) return readCall(reader);
  }
  if (!isName(reader)) return reader.refuseNext('a value');
  return { kind: 'column', path: readPath(reader, 'a value'), location };
};

const readText = (reader: Reader): Expression => {
  const { text } = reader.peek();
  if (/\w_variable\b/i.test(text)) reader.refuse('a variable in quotes; write it without', 'sql-not-allowed');
  reader.next();
  return { kind: 'text', value: text };
};

const readParentheses = (reader: Reader): Expression => {
  if (startsQuery(reader)) {
    const query = readQuery(reader);
    reader.expectSymbol(')');
    return { kind: 'subquery', query };
  }
  const items = readList(reader, () => readExpression(reader));
  reader.expectSymbol(')');
  const [first] = items;
  if (items.length === 1 && first !== undefined) return first;
  if (!reader.isWords('IN') && !reader.isWords('NOT IN')) reader.refuse('a row of values outside of IN');
  return { kind: 'row', items };
};

type Special = (reader: Reader) => Expression | undefined;

const wordOf =
  (word: 'NULL' | 'TRUE' | 'FALSE'): Special =>
  (reader) => {
    reader.next();
    return { kind: 'word', word };
  };

/** DATE and its like are names of functions, too. */
const momentOf =
  (type: 'DATE' | 'TIMESTAMP'): Special =>
  (reader) => {
    if (reader.peek(1).kind !== 'text') return undefined;
    reader.next();
    const { text: value } = reader.peek();
    if (!/^[0-9][0-9 :.T-]{0,40}$/.test(value)) return reader.refuseNext('a date as digits');
    reader.next();
    return { kind: 'moment', type, value };
  };

const whenCalled =
  (read: Special): Special =>
  (reader) => {
    if (!reader.isSymbol('(', 1)) return undefined;
    reader.next();
    reader.next();
    const result = read(reader);
    reader.expectSymbol(')');
    return result;
  };

const readCase: Special = (reader) => {
  reader.next();
  const of = reader.isWords('WHEN') ? null : readExpression(reader);
  const branches: { when: Expression; value: Expression }[] = [];
  while (reader.takeWords('WHEN')) {
    const when = readExpression(reader);
    reader.expectWords('THEN');
    branches.push({ when, value: readExpression(reader) });
  }
  if (branches.length === 0) reader.refuseNext('WHEN');
  const otherwise = reader.takeWords('ELSE') ? readExpression(reader) : null;
  reader.expectWords('END');
  return { kind: 'case', of, branches, otherwise };
};

const readExists: Special = (reader) => {
  if (!startsQuery(reader)) return reader.refuseNext('SELECT');
  return { kind: 'exists', query: readQuery(reader) };
};

const readCast: Special = (reader) => {
  const of = readExpression(reader);
  reader.expectWords('AS');
  return { kind: 'cast', of, type: readType(reader) };
};

const readConvert: Special = (reader) => {
  const of = readExpression(reader);
  reader.expectSymbol(',');
  return { kind: 'cast', of, type: readType(reader) };
};

const readType = (reader: Reader): string => {
  const { kind, text } = reader.peek();
  const type = kind === 'word' ? reader.grammar.casts.get(text.toUpperCase()) : undefined;
  if (type === undefined) return reader.refuse('a cast to a type that is not allowed', 'sql-cast');
  reader.next();
  if (type.name === 'Nullable') return `Nullable(${readNullable(reader)})`;
  if (/SIGNED$/.test(type.name)) reader.takeWords('INTEGER');
  if (!reader.takeSymbol('(')) return type.name;
  const parameters = readList(reader, () => readCount(reader));
  reader.expectSymbol(')');
  if (parameters.length > type.parameters) reader.refuse('a type with too many parameters', 'sql-cast');
  return `${type.name}(${parameters.join(', ')})`;
};

const readNullable = (reader: Reader): string => {
  reader.expectSymbol('(');
  const type = reader.nested(() => readType(reader));
  reader.expectSymbol(')');
  return type;
};

const readExtract: Special = (reader) => {
  const unit = readUnit(reader);
  reader.expectWords('FROM');
  return { kind: 'extract', unit, of: readExpression(reader) };
};

const readTrim: Special = (reader) => {
  const side = ['BOTH', 'LEADING', 'TRAILING'].find((word) => reader.takeWords(word));
  const first = side !== undefined && reader.isWords('FROM') ? null : readExpression(reader);
  if (!reader.takeWords('FROM')) {
    if (side !== undefined || first === null) reader.refuseNext('FROM');
    return call('TRIM', first === null ? [] : [first]);
  }
  return { kind: 'trim', side: side ?? 'BOTH', what: first, of: readExpression(reader) };
};

/** `SUBSTRING(text FROM 2 FOR 3)` is the call with commas. */
const readSubstring: Special = (reader) => {
  const args = [readExpression(reader)];
  const [second, third] = reader.isWords('FROM') ? (['FROM', 'FOR'] as const) : ([',', ','] as const);
  const isNext = (mark: string): boolean => (mark === ',' ? reader.takeSymbol(mark) : reader.takeWords(mark));
  if (!isNext(second)) reader.refuseNext('a comma');
  args.push(readExpression(reader));
  if (isNext(third)) args.push(readExpression(reader));
  return call('SUBSTRING', args);
};

const specials: ReadonlyMap<string, Special> = new Map<string, Special>([
  ['NULL', wordOf('NULL')],
  ['TRUE', wordOf('TRUE')],
  ['FALSE', wordOf('FALSE')],
  ['DATE', momentOf('DATE')],
  ['TIMESTAMP', momentOf('TIMESTAMP')],
  ['CASE', readCase],
  ['EXISTS', whenCalled(readExists)],
  ['CAST', whenCalled(readCast)],
  ['CONVERT', whenCalled(readConvert)],
  ['EXTRACT', whenCalled(readExtract)],
  ['TRIM', whenCalled(readTrim)],
  ['SUBSTRING', whenCalled(readSubstring)],
  ['SUBSTR', whenCalled(readSubstring)],
]);
