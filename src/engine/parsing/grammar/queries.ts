import { readExpression } from './operators.js';
import { startsQuery } from './primaries.js';
import { assertNewName, isName, type Reader, readCount, readList, readName, readNewName } from './reader.js';
import { readSources } from './sources.js';
import type { Body, Cte, Expression, Item, Name, Order, Query, Select } from './tree.js';

/** A whole SELECT: with its CTEs before it, and its order and limit behind it. */
export const readQuery = (reader: Reader): Query =>
  reader.nested(() => {
    const ctes = reader.takeWords('WITH') ? readCtes(reader) : [];
    const body = readBody(reader);
    const { location } = reader.peek();
    const order = reader.isWords('ORDER BY') ? readOrder(reader) : [];
    const limit = readLimit(reader);
    const isPlain = order.length === 0 && limit.limit === null;
    if (body.kind !== 'select' && !isPlain && !reader.has('ordered-set'))
      reader.refuse('ORDER BY or LIMIT behind UNION; write SELECT * FROM (…) around it', 'sql-syntax', location);
    if (body.kind === 'query' && isPlain && ctes.length === 0) return body;
    return { kind: 'query', ctes, body, order, ...limit };
  });

const readCtes = (reader: Reader): readonly Cte[] => {
  const ctes = readList(reader, () => readCte(reader));
  const isTwice = ctes.some(({ name }, index) =>
    ctes.slice(0, index).some((earlier) => reader.grammar.isSameName(earlier.name.text, name.text)),
  );
  if (ctes.length > 100 || isTwice) reader.refuse('two CTEs of one name, or more than a hundred', 'sql-name');
  return ctes;
};

/** RECURSIVE is a reserved word here: nothing bounds what it does. */
const readCte = (reader: Reader): Cte => {
  const name = readNewName(reader, 'the name of a CTE');
  reader.expectWords('AS');
  reader.expectSymbol('(');
  const query = readQuery(reader);
  reader.expectSymbol(')');
  return { name, query };
};

/** Names up to the closing parenthesis. */
export const readNames = (reader: Reader): readonly string[] => {
  const names = readList(reader, () => readNewName(reader, 'the name of a column').text);
  reader.expectSymbol(')');
  return names;
};

/** Which of two different operators comes first is not alike everywhere: parentheses say it. */
const readBody = (reader: Reader): Body => {
  const items = [readTerm(reader)];
  let first: string | null = null;
  for (let operator = takeSetOperator(reader); operator !== null; operator = takeSetOperator(reader)) {
    first ??= operator;
    if (operator !== first) reader.refuse('UNION, UNION ALL, EXCEPT or INTERSECT mixed without parentheses');
    items.push(readTerm(reader));
  }
  const [only] = items;
  if (only === undefined) return reader.refuseNext('SELECT');
  return first === null ? only : { kind: 'set', operator: first, items };
};

const takeSetOperator = (reader: Reader): string | null => {
  const operator = ['UNION', 'EXCEPT', 'INTERSECT'].find((word) => reader.takeWords(word));
  if (operator === undefined) return null;
  if (reader.takeWords('ALL')) return operator === 'UNION' ? 'UNION ALL' : reader.refuse(`${operator} ALL`);
  if (!reader.takeWords('DISTINCT') && !reader.has('default-distinct'))
    reader.refuse(`${operator} without DISTINCT${operator === 'UNION' ? ' or ALL' : ''}`);
  return `${operator} DISTINCT`;
};

const readTerm = (reader: Reader): Body => {
  if (reader.takeSymbol('(')) {
    const query = readQuery(reader);
    reader.expectSymbol(')');
    const isPlain = query.ctes.length === 0 && query.order.length === 0 && query.limit === null;
    return isPlain ? query.body : query;
  }
  reader.expectWords('SELECT');
  return readSelect(reader);
};

const readSelect = (reader: Reader): Select => {
  const isDistinct = reader.takeWords('DISTINCT');
  if (!isDistinct) reader.takeWords('ALL');
  const items = readList(reader, () => readItem(reader));
  const { location } = reader.peek();
  const from = reader.takeWords('FROM') ? readSources(reader) : [];
  // ClickHouse would read a table of its own.
  if (from.length === 0 && items.some(({ kind }) => kind === 'all'))
    reader.refuse('* without FROM', 'sql-syntax', location);
  const where = reader.takeWords('WHERE') ? readExpression(reader) : null;
  const group = reader.takeWords('GROUP BY') ? readList(reader, () => readKey(reader)) : [];
  const isRollup = group.length > 0 && reader.has('rollup') && reader.takeWords('WITH ROLLUP');
  const having = reader.takeWords('HAVING') ? readExpression(reader) : null;
  return { kind: 'select', isDistinct, items, from, where, group, isRollup, having };
};

const readItem = (reader: Reader): Item => {
  const { location } = reader.peek();
  const of = readAllOf(reader);
  if (of !== null) return { kind: 'all', of, location };
  const expression = readExpression(reader);
  return { kind: 'item', expression, alias: readItemAlias(reader), location };
};

const readItemAlias = (reader: Reader): Name | null => {
  const isText = reader.isWords('AS') && reader.peek(1).kind === 'text' && reader.has('text-alias');
  return isText ? readTextAlias(reader) : readAlias(reader);
};

/** `AS 'name'`, where that is a name. */
const readTextAlias = (reader: Reader): Name => {
  reader.next();
  const { text, location } = reader.next();
  if (!/^[\w .%()/#+-]{1,64}$/.test(text) || text.trim() !== text || /^gl_/i.test(text))
    reader.refuse('an alias as text with odd letters; write it in the quotes of names', 'sql-name', location);
  return assertNewName(reader, { text, location });
};

/** `*`, or `t.*`: the path before it. */
const readAllOf = (reader: Reader): readonly string[] | null => {
  if (reader.takeSymbol('*')) return [];
  const parts = [1, 3].find((dot) => reader.isSymbol('.', dot) && reader.isSymbol('*', dot + 1));
  if (parts === undefined || !isName(reader)) return null;
  const of = [readName(reader, 'a table').text];
  while (reader.takeSymbol('.') && !reader.isSymbol('*')) of.push(readName(reader, 'a table', true).text);
  reader.expectSymbol('*');
  return of;
};

/** With AS or without; words that may begin something else are an alias only with AS. */
export const readAlias = (reader: Reader): Name | null => {
  if (reader.takeWords('AS')) return readNewName(reader, 'an alias');
  const { kind, text } = reader.peek();
  if (!isName(reader) || (kind === 'word' && reader.grammar.suffixes.has(text.toUpperCase()))) return null;
  return readNewName(reader, 'an alias');
};

/** A lone number is a column by its place in the list; in parentheses it would be another thing. */
const readKey = (reader: Reader): Expression => {
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

/** `LIMIT 5 OFFSET 2`, or `LIMIT 2, 5`. */
const readLimit = (reader: Reader): Pick<Query, 'limit' | 'offset'> => {
  if (!reader.takeWords('LIMIT')) return { limit: null, offset: null };
  const first = readCount(reader);
  if (reader.takeSymbol(',')) return { limit: readCount(reader), offset: first };
  return { limit: first, offset: reader.takeWords('OFFSET') ? readCount(reader) : null };
};

/** The only statement of a text, with nothing behind it. */
export const readStatement = (reader: Reader): Query => {
  if (!startsQuery(reader) && !reader.isSymbol('(')) return reader.refuseNext('SELECT');
  const query = readQuery(reader);
  reader.takeSymbol(';');
  return reader.peek().kind === 'end' ? query : reader.refuseNext('its end');
};
