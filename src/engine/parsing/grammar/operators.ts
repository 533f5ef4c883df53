import { nodesOf } from '../sql-tree.js';
import { readPrimary, startsQuery } from './primaries.js';
import { readQuery } from './queries.js';
import { type Reader, readList } from './reader.js';
import type { Expression, Link } from './tree.js';

/** One expression, from the weakest operator to the strongest. Each level reads the next, as often as its operator comes. */
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

/** Two tests in a row mean different things in different databases; with parentheses they mean one. */
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

/** The operand of a comparison: anything that binds more strongly. */
export const readSum = (reader: Reader): Expression =>
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

/** `INTERVAL 3 DAY`, to be added to a date or taken from it. */
export const readInterval = (reader: Reader): Expression => {
  reader.expectWords('INTERVAL');
  const value = reader.nested(() => readSigned(reader));
  return { kind: 'interval', value, unit: readUnit(reader) };
};

export const readUnit = (reader: Reader): string => {
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

/** Null: no test follows. */
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
    const query = readQuery(reader);
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

/** A SELECT in double parentheses is one value to some and many to others. */
const assertItems = (reader: Reader, items: readonly Expression[], location: number): void => {
  for (const { node } of nodesOf(items)) {
    if (node.kind === 'subquery') reader.refuse('a SELECT as one item of a list', 'sql-syntax', location);
  }
};
