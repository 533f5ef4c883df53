/**
 * Reads expressions: operators by precedence, values, columns, calls and windows. A SELECT within an expression is
 * read by `reader.query`, which queries.ts supplies; this file imports nothing of it.
 */
import { nodesOf } from '../sql-tree.js';
import type { AllowedFunction } from './grammar.js';
import { isName, type Reader, readCount, readList, readPath, startsQuery } from './reader.js';
import type { Call, Expression, Link, Order, Window } from './tree.js';

/**
 * Reads one expression. Each level reads the operators of one precedence, weakest first, and takes its operands from
 * the next level.
 */
export const readExpression = (reader: Reader): Expression =>
  reader.nested(() =>
    readChain(
      reader,
      () => readChain(reader, () => readNot(reader), takeAnd),
      (it) => (it.takeWords('OR') ? 'OR' : null),
    ),
  );

const takeAnd = (reader: Reader): string | null => (reader.takeWords('AND') ? 'AND' : null);

const readChain = (
  reader: Reader,
  readOperand: (operator: string | null) => Expression,
  takeOperator: (reader: Reader) => string | null,
): Expression => {
  const first = readOperand(null);
  const rest: Link[] = [];
  for (let operator = takeOperator(reader); operator !== null; operator = takeOperator(reader)) {
    rest.push({ operator, operand: readOperand(operator) });
  }
  return rest.length === 0 ? first : { kind: 'chain', first, rest };
};

const readNot = (reader: Reader): Expression =>
  reader.takeWords('NOT')
    ? { kind: 'prefix', operator: 'NOT', of: reader.nested(() => readNot(reader)) }
    : readPredicate(reader);

/**
 * `a = b = c` means different things in different databases, so two comparisons in a row are refused without
 * parentheses.
 */
const readPredicate = (reader: Reader): Expression => {
  const left = readOperand(reader);
  const tested = readTest(reader, left);
  if (tested === null) return left.kind === 'row' ? reader.refuseNext('IN') : left;
  if (left.kind === 'row' && tested.kind !== 'in') reader.refuse('a row of values outside of IN');
  if (readTest(reader, tested) !== null) reader.refuse('two comparisons in a row; put parentheses around one');
  return tested;
};

const takeSymbolOf = (reader: Reader, symbols: readonly string[]): string | null =>
  symbols.find((symbol) => reader.takeSymbol(symbol)) ?? null;

const readOperand = (reader: Reader): Expression =>
  readChain(
    reader,
    () => readSum(reader),
    (it) => (it.has('concat') ? takeSymbolOf(it, ['||']) : null),
  );

/** The operand of a comparison: everything that binds more strongly than a comparison. */
const readSum = (reader: Reader): Expression =>
  readChain(
    reader,
    (operator) => (operator !== null && reader.isWords('INTERVAL') ? readInterval(reader) : readProduct(reader)),
    (it) => takeSymbolOf(it, ['+', '-']),
  );

const readProduct = (reader: Reader): Expression =>
  readChain(
    reader,
    () => readSigned(reader),
    (it) => {
      if (it.takeWords('DIV')) return 'DIV';
      return it.takeWords('MOD') ? '%' : takeSymbolOf(it, ['*', '/', '%']);
    },
  );

const readSigned = (reader: Reader): Expression =>
  reader.takeSymbol('-')
    ? { kind: 'prefix', operator: '-', of: reader.nested(() => readSigned(reader)) }
    : readPrimary(reader);

/** `INTERVAL 3 DAY`, which is added to or subtracted from a date. */
const readInterval = (reader: Reader): Expression => {
  reader.expectWords('INTERVAL');
  const value = reader.nested(() => readSigned(reader));
  return { kind: 'interval', value, unit: readUnit(reader) };
};

const readUnit = (reader: Reader): string => {
  const { kind, text } = reader.peek();
  const unit = text.toUpperCase();
  if (kind !== 'word' || !reader.grammar.units.has(unit)) return reader.refuseNext('a unit of time');
  reader.next();
  return unit;
};

const comparisons: ReadonlyMap<string, string> = new Map([
  ['=', '='],
  ['==', '='],
  ['<>', '<>'],
  ['!=', '<>'],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
  ['<=>', '<=>'],
]);

/** The comparison or test that follows `of`; null where none follows. */
const readTest = (reader: Reader, of: Expression): Expression | null => {
  const symbol = takeSymbolOf(reader, [...comparisons.keys()]);
  if (symbol !== null) {
    if (reader.isWords('ANY') || reader.isWords('ALL') || reader.isWords('SOME')) reader.refuseNext('one value');
    return { kind: 'compare', operator: comparisons.get(symbol) ?? '=', left: of, right: readOperand(reader) };
  }
  if (reader.takeWords('IS')) return { kind: 'is', of, test: readTruth(reader) };
  const isNot = reader.takeWords('NOT');
  if (reader.takeWords('IN')) return { kind: 'in', of, isNot, among: readAmong(reader, of) };
  if (reader.takeWords('BETWEEN')) {
    const low = readOperand(reader);
    reader.expectWords('AND');
    return { kind: 'between', of, isNot, low, high: readOperand(reader) };
  }
  const like = [...reader.grammar.likes].find((word) => reader.takeWords(word));
  if (like !== undefined) return readLike(reader, of, isNot ? `NOT ${like}` : like);
  return isNot ? reader.refuseNext('IN, LIKE or BETWEEN') : null;
};

const readTruth = (reader: Reader): string => {
  const isNot = reader.takeWords('NOT') ? 'NOT ' : '';
  for (const word of reader.has('is-truth') ? ['NULL', 'TRUE', 'FALSE', 'UNKNOWN'] : ['NULL']) {
    if (reader.takeWords(word)) return `${isNot}${word}`;
  }
  return reader.refuseNext('NULL');
};

const readLike = (reader: Reader, of: Expression, operator: string): Expression => {
  const pattern = readOperand(reader);
  if (!reader.takeWords('ESCAPE')) return { kind: 'like', operator, of, pattern, escapedBy: null };
  const { kind, text } = reader.peek();
  if (kind !== 'text' || text.length > 1) return reader.refuseNext('one character as text');
  reader.next();
  return { kind: 'like', operator, of, pattern, escapedBy: text };
};

const readAmong = (reader: Reader, of: Expression): Extract<Expression, { kind: 'in' }>['among'] => {
  if (!reader.isSymbol('(')) return reader.refuseNext('a list in parentheses');
  if (startsQuery(reader, 1)) {
    reader.next();
    const query = reader.query();
    reader.expectSymbol(')');
    return query;
  }
  reader.next();
  const { location } = reader.peek();
  const items = readList(reader, () => (of.kind === 'row' ? readRow(reader) : readExpression(reader)));
  reader.expectSymbol(')');
  if (of.kind === 'row' && items.some((item) => item.kind !== 'row' || item.items.length !== of.items.length))
    reader.refuse('rows of different lengths', 'sql-syntax', location);
  assertItems(reader, items, location);
  return items;
};

const readRow = (reader: Reader): Expression => {
  reader.expectSymbol('(');
  const items = readList(reader, () => readExpression(reader));
  reader.expectSymbol(')');
  return { kind: 'row', items };
};

/** `IN ((SELECT …))`: some databases read the SELECT as one value, others as a list. It is refused. */
const assertItems = (reader: Reader, items: readonly Expression[], location: number): void => {
  for (const { node } of nodesOf(items)) {
    if (node.kind === 'subquery') reader.refuse('a SELECT as one item of a list', 'sql-syntax', location);
  }
};

/** A value, a column, a call or a parenthesized expression, with the postfix operators behind it. */
const readPrimary = (reader: Reader): Expression => {
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

/** `doc->'$.a'` becomes JSON_EXTRACT, because MariaDB lacks the arrow. */
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
    const query = reader.query();
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

/** DATE and TIMESTAMP are also names of functions: a literal only where text follows. */
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
  return { kind: 'exists', query: reader.query() };
};

const readCast: Special = (reader) => {
  const of = readExpression(reader);
  reader.expectWords('AS');
  return { kind: 'cast', of, type: readType(reader) };
};

/** As every text reaches us: no other character set is read. */
const unicode = 'CHAR CHARACTER SET utf8mb4';

const readConvert: Special = (reader) => {
  const of = readExpression(reader);
  if (reader.has('collate') && reader.takeWords('USING UTF8MB4')) return { kind: 'cast', of, type: unicode };
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
  if (type.name === 'CHAR' && reader.takeWords('CHARACTER SET UTF8MB4')) return unicode;
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

/** `SUBSTRING(text FROM 2 FOR 3)` becomes the call with commas. */
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

/** Reads a call of an allowed function. Refuses every other function by its name. */
const readCall = (reader: Reader): Call => {
  const { text, location } = reader.next();
  const allowed = reader.grammar.functions.get(text.toUpperCase());
  if (allowed === undefined) {
    const name = text.length > 64 ? 'a function' : `function ${text}`;
    return reader.refuse(`${name}, which is not among the allowed ones,`, 'sql-function', location);
  }
  const call = reader.takeSymbol('(') ? readArguments(reader, allowed) : { ...nothing, args: [] };
  const window = readWindow(reader);
  if (allowed.kind === 'window' && window === null) reader.refuseNext('OVER');
  if (allowed.kind === 'scalar' && window !== null)
    reader.refuse('OVER behind a function that does not aggregate', 'sql-function', location);
  return {
    kind: 'call',
    name: allowed.name,
    isAggregate: allowed.kind === 'aggregate' && window === null,
    ...call,
    window,
  };
};

const nothing = { isDistinct: false, unit: null, levels: [], order: [], separator: null } as const;

type Arguments = Pick<Call, 'args' | 'isDistinct' | 'unit' | 'levels' | 'order' | 'separator'>;

const readArguments = (reader: Reader, allowed: AllowedFunction): Arguments => {
  if (allowed.name.toUpperCase() === 'COUNT' && reader.takeSymbol('*')) {
    reader.expectSymbol(')');
    return { ...nothing, args: 'all' };
  }
  if (allowed.form === 'level' && reader.peek().kind === 'number') return readLevels(reader);
  if (allowed.form === 'unit') {
    const unit = readUnit(reader);
    reader.expectSymbol(',');
    return { ...nothing, unit, args: readItems(reader, allowed) };
  }
  const isDistinct = reader.takeWords('DISTINCT');
  if (isDistinct && allowed.kind !== 'aggregate') reader.refuse('DISTINCT in a function that does not aggregate');
  if (reader.takeSymbol(')')) return { ...nothing, isDistinct, args: [] };
  const args = readList(reader, () => readArgument(reader, allowed));
  const isConcat = reader.has('group-concat') && allowed.name === 'GROUP_CONCAT';
  const order = isConcat && reader.isWords('ORDER BY') ? readOrder(reader) : [];
  const separator = isConcat && reader.takeWords('SEPARATOR') ? readSeparator(reader) : null;
  reader.expectSymbol(')');
  return { ...nothing, isDistinct, args, order, separator };
};

const readSeparator = (reader: Reader): string => {
  const { kind, text } = reader.peek();
  if (kind !== 'text') return reader.refuseNext('text');
  reader.next();
  return text;
};

/** The parameters of `quantile(0.5)(x)`. */
const readLevels = (reader: Reader): Arguments => {
  const levels = readList(reader, () => {
    const { kind, text } = reader.peek();
    if (kind !== 'number') return reader.refuseNext('a number');
    reader.next();
    return text;
  });
  reader.expectSymbol(')');
  reader.expectSymbol('(');
  const args = readList(reader, () => readExpression(reader));
  reader.expectSymbol(')');
  return { ...nothing, levels, args };
};

const readItems = (reader: Reader, allowed: AllowedFunction): readonly Expression[] => {
  const args = readList(reader, () => readArgument(reader, allowed));
  reader.expectSymbol(')');
  return args;
};

const readArgument = (reader: Reader, { form }: AllowedFunction): Expression =>
  form === 'interval' && reader.isWords('INTERVAL') ? readInterval(reader) : readExpression(reader);

const readWindow = (reader: Reader): Window | null => {
  if (!reader.takeWords('OVER')) return null;
  if (!reader.takeSymbol('(')) return reader.refuseNext('a window in parentheses');
  const partition = reader.takeWords('PARTITION BY') ? readList(reader, () => readExpression(reader)) : [];
  const order = reader.isWords('ORDER BY') ? readOrder(reader) : [];
  const unit = ['ROWS', 'RANGE'].find((word) => reader.takeWords(word));
  const frame = unit === undefined ? null : `${unit} ${readFrame(reader)}`;
  reader.expectSymbol(')');
  return { partition, order, frame };
};

const readFrame = (reader: Reader): string => {
  if (!reader.takeWords('BETWEEN')) return readBound(reader);
  const first = readBound(reader);
  reader.expectWords('AND');
  return `BETWEEN ${first} AND ${readBound(reader)}`;
};

const readBound = (reader: Reader): string => {
  if (reader.takeWords('CURRENT ROW')) return 'CURRENT ROW';
  const many = reader.takeWords('UNBOUNDED') ? 'UNBOUNDED' : readCount(reader);
  const direction = ['PRECEDING', 'FOLLOWING'].find((word) => reader.takeWords(word));
  return direction === undefined ? reader.refuseNext('PRECEDING or FOLLOWING') : `${many} ${direction}`;
};

/** GROUP BY and ORDER BY: a plain number is the position of a column; in parentheses it would be a constant. */
export const readKey = (reader: Reader): Expression => {
  const { kind, location } = reader.peek();
  const by = readExpression(reader);
  if (by.kind === 'number' && (kind !== 'number' || !/^[1-9]\d{0,3}$/.test(by.digits)))
    reader.refuse('a number that is no place of a column', 'sql-syntax', location);
  return by;
};

export const readOrder = (reader: Reader): readonly Order[] => {
  reader.expectWords('ORDER BY');
  return readList(reader, () => {
    const by = readKey(reader);
    const direction = reader.takeWords('DESC') ? 'DESC' : 'ASC';
    if (direction === 'ASC') reader.takeWords('ASC');
    return { by, direction, nulls: reader.has('nulls-order') ? readNulls(reader) : null };
  });
};

const readNulls = (reader: Reader): Order['nulls'] => {
  if (reader.takeWords('NULLS FIRST')) return 'FIRST';
  return reader.takeWords('NULLS LAST') ? 'LAST' : null;
};
