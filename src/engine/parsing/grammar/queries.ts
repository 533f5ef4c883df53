/** Reads a whole SELECT: CTEs, set operators, the clauses of a SELECT and the tables of FROM. */
import { readExpression, readKey, readOrder } from './expressions.js';
import type { Grammar } from './grammar.js';
import {
  assertNewName,
  createReader,
  isName,
  type Reader,
  readCount,
  readList,
  readName,
  readNewName,
  readPath,
  startsQuery,
} from './reader.js';
import type { Body, Cte, Item, Joined, Name, Query, Select, Source } from './tree.js';

/** A token reader whose expressions may hold a SELECT. */
export const createQueryReader = (text: string, grammar: Grammar): Reader => createReader(text, grammar, readQuery);

/** Reads a SELECT with its CTEs, ORDER BY and LIMIT. */
const readQuery = (reader: Reader): Query =>
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

/** WITH RECURSIVE is refused (RECURSIVE is reserved), because nothing bounds its run time. */
const readCte = (reader: Reader): Cte => {
  const name = readNewName(reader, 'the name of a CTE');
  reader.expectWords('AS');
  reader.expectSymbol('(');
  const query = readQuery(reader);
  reader.expectSymbol(')');
  return { name, query };
};

/** Column names up to the closing parenthesis. */
const readNames = (reader: Reader): readonly string[] => {
  const names = readList(reader, () => readNewName(reader, 'the name of a column').text);
  reader.expectSymbol(')');
  return names;
};

/** Databases disagree about the precedence of UNION, EXCEPT and INTERSECT, so mixing them needs parentheses. */
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
  // ClickHouse would read its table `system.one`.
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

/** `AS 'name'`, where the database reads text there as a name. */
const readTextAlias = (reader: Reader): Name => {
  reader.next();
  const { text, location } = reader.next();
  if (!/^[\w .%()/#+-]{1,64}$/.test(text) || text.trim() !== text || /^gl_/i.test(text))
    reader.refuse('an alias as text with special characters; write it as a quoted name', 'sql-name', location);
  return assertNewName(reader, { text, location });
};

/** The path before `*`: empty for `*`, `[t]` for `t.*`. Null where neither follows. */
const readAllOf = (reader: Reader): readonly string[] | null => {
  if (reader.takeSymbol('*')) return [];
  const parts = [1, 3].find((dot) => reader.isSymbol('.', dot) && reader.isSymbol('*', dot + 1));
  if (parts === undefined || !isName(reader)) return null;
  const of = [readName(reader, 'a table').text];
  while (reader.takeSymbol('.') && !reader.isSymbol('*')) of.push(readName(reader, 'a table', true).text);
  reader.expectSymbol('*');
  return of;
};

/** An alias, with AS or without. A word that can begin the next clause is an alias only after AS. */
const readAlias = (reader: Reader): Name | null => {
  if (reader.takeWords('AS')) return readNewName(reader, 'an alias');
  const { kind, text } = reader.peek();
  if (!isName(reader) || (kind === 'word' && reader.grammar.suffixes.has(text.toUpperCase()))) return null;
  return readNewName(reader, 'an alias');
};

/** `LIMIT 5 OFFSET 2`, or `LIMIT 2, 5`. */
const readLimit = (reader: Reader): Pick<Query, 'limit' | 'offset'> => {
  if (!reader.takeWords('LIMIT')) return { limit: null, offset: null };
  const first = readCount(reader);
  if (reader.takeSymbol(',')) return { limit: readCount(reader), offset: first };
  return { limit: first, offset: reader.takeWords('OFFSET') ? readCount(reader) : null };
};

/** Reads the only statement of the text. Refuses anything behind it. */
export const readStatement = (reader: Reader): Query => {
  if (!startsQuery(reader) && !reader.isSymbol('(')) return reader.refuseNext('SELECT');
  const query = readQuery(reader);
  reader.takeSymbol(';');
  return reader.peek().kind === 'end' ? query : reader.refuseNext('its end');
};

/** Limits the cost of name look-ups, which compare each name with every table. */
const greatestCount = 60;

/** FROM: tables, CTEs and derived tables, joined from left to right. */
const readSources = (reader: Reader): readonly Joined[] => {
  const sources: Joined[] = [{ join: '', source: readSource(reader), on: null, using: [] }];
  for (let join = takeJoin(reader); join !== null; join = takeJoin(reader)) {
    const source = readSource(reader);
    const isFree = join === ',' || join === 'CROSS JOIN';
    sources.push({ join, source, ...(isFree ? { on: null, using: [] } : readMatch(reader)) });
  }
  if (sources.length > greatestCount) reader.refuse(`more than ${greatestCount} tables in one FROM`, 'sql-too-long');
  return sources;
};

const takeJoin = (reader: Reader): string | null => {
  if (reader.takeSymbol(',')) return ',';
  if (reader.takeWords('CROSS JOIN')) return 'CROSS JOIN';
  if (reader.takeWords('JOIN') || reader.takeWords('INNER JOIN')) return 'INNER JOIN';
  const side = ['LEFT', 'RIGHT', 'FULL'].find((word) => reader.isWords(word));
  if (side === undefined) return null;
  if (!reader.grammar.joins.has(`${side} JOIN`)) reader.refuse(`${side} JOIN, which this database lacks,`);
  reader.next();
  reader.takeWords('OUTER');
  reader.expectWords('JOIN');
  return `${side} JOIN`;
};

const readMatch = (reader: Reader): Pick<Joined, 'on' | 'using'> => {
  if (reader.takeWords('ON')) return { on: readExpression(reader), using: [] };
  if (!reader.takeWords('USING')) return reader.refuseNext('ON or USING');
  reader.expectSymbol('(');
  return { on: null, using: readNames(reader) };
};

const readSource = (reader: Reader): Source => {
  const { location } = reader.peek();
  if (reader.isSymbol('(')) {
    reader.next();
    if (!startsQuery(reader) && !reader.isSymbol('(')) return reader.refuseNext('SELECT');
    const of = readQuery(reader);
    reader.expectSymbol(')');
    return { of, alias: readAlias(reader), location };
  }
  const path = readPath(reader, 'a table');
  if (path.length > 2) reader.refuse('a table of more than two parts', 'sql-name', location);
  if (reader.isSymbol('(')) reader.refuse('a table function', 'sql-function', location);
  assertOwn(reader, path, location);
  return { of: { kind: 'name', path }, alias: readAlias(reader), location };
};

const assertOwn = (reader: Reader, path: readonly string[], location: number): void => {
  const isSystem = path.length > 1 && reader.grammar.systemSchemas.has((path[0] ?? '').toUpperCase());
  if (isSystem) reader.refuse("a table of the server's own", 'sql-table', location);
};
