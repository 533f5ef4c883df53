import { nodesOf } from '../sql-tree.js';
import type { Grammar } from './grammar.js';
import type { Column, Expression, Order, Query } from './tree.js';

/** Where an expression is written: what its names mean is said there. */
export type Around = {
  readonly grammar: Grammar;
  readonly put: (text: string) => void;
  /** `isItem`: it is one item of IN (…). */
  readonly column: (column: Column, isItem: boolean) => void;
  readonly isVariable: (path: readonly string[]) => boolean;
  /** In parentheses that are there already. */
  readonly query: (query: Query) => void;
  readonly refuse: (what: string, reason: string, location: number) => never;
};

type Kind = Expression['kind'];
type Of<K extends Kind> = Extract<Expression, { kind: K }>;

/** The names of the text hold no quotes and no backslashes: the lexer refuses them. */
export const quoted = (name: string): string => `\`${name}\``;

/** Whatever has parts is in parentheses, so that no precedence of the database's has a say. */
export const writeExpression = <K extends Kind>(around: Around, expression: Of<K>): void =>
  writers[expression.kind as K](around, expression);

const writeAll = (around: Around, expressions: readonly Expression[]): void => {
  expressions.forEach((expression, index) => {
    if (index > 0) around.put(', ');
    writeExpression(around, expression);
  });
};

/** Texts are written as they are, expressions and queries by their writers. */
const writeParts = (around: Around, ...parts: readonly (string | Expression | Query)[]): void => {
  for (const part of parts) {
    if (typeof part === 'string') around.put(part);
    else if (part.kind === 'query') around.query(part);
    else writeExpression(around, part);
  }
};

const writers: { readonly [K in Kind]: (around: Around, expression: Of<K>) => void } = {
  column: (around, column) => around.column(column, false),
  text: ({ put, grammar }, { value }) => put(grammar.writeText(value)),
  number: ({ put }, { digits }) => put(digits),
  word: ({ put }, { word }) => put(word),
  moment: ({ put }, { type, value }) => put(`${type} '${value}'`),
  row: (around, { items }) => {
    around.put('(');
    writeAll(around, items);
    around.put(')');
  },
  // Two dashes in a row would begin a comment: the operand's own parentheses stand between them.
  prefix: (around, { operator, of }) => writeParts(around, operator === '-' ? '(-' : '(NOT ', of, ')'),
  chain: (around, { first, rest }) => {
    writeParts(around, '(', first);
    for (const { operator, operand } of rest) writeParts(around, ` ${operator} `, operand);
    around.put(')');
  },
  compare: (around, { operator, left, right }) => writeParts(around, '(', left, ` ${operator} `, right, ')'),
  is: (around, { of, test }) => writeParts(around, '(', of, ` IS ${test})`),
  between: (around, { of, isNot, low, high }) =>
    writeParts(around, '(', of, isNot ? ' NOT BETWEEN ' : ' BETWEEN ', low, ' AND ', high, ')'),
  like: (around, { operator, of, pattern, escapedBy }) => {
    writeParts(around, '(', of, ` ${operator} `, pattern);
    around.put(escapedBy === null ? ')' : ` ESCAPE ${around.grammar.writeText(escapedBy)})`);
  },
  in: (around, { of, isNot, among }) => {
    writeParts(around, '(', of, isNot ? ' NOT IN (' : ' IN (');
    if ('kind' in among) around.query(among);
    else writeItems(around, among);
    around.put('))');
  },
  exists: (around, { query }) => writeParts(around, 'EXISTS (', query, ')'),
  subquery: (around, { query }) => writeParts(around, '(', query, ')'),
  case: (around, { of, branches, otherwise }) => {
    around.put('(CASE');
    if (of !== null) writeParts(around, ' ', of);
    for (const { when, value } of branches) writeParts(around, ' WHEN ', when, ' THEN ', value);
    if (otherwise !== null) writeParts(around, ' ELSE ', otherwise);
    around.put(' END)');
  },
  cast: (around, { of, type }) => writeParts(around, 'CAST(', of, ` AS ${type})`),
  extract: (around, { unit, of }) => writeParts(around, `EXTRACT(${unit} FROM `, of, ')'),
  interval: (around, { value, unit }) => writeParts(around, 'INTERVAL ', value, ` ${unit}`),
  collate: (around, { of, collation }) => writeParts(around, '(', of, ` COLLATE ${collation})`),
  trim: (around, { side, what, of }) =>
    writeParts(around, `TRIM(${side} `, ...(what === null ? [] : [what]), ' FROM ', of, ')'),
  call: (around, call) => writeCall(around, call),
};

/** A lone name in a list may be read as a table's, past every leaf: `x IN (accounts)`. */
const writeItems = (around: Around, items: readonly Expression[]): void => {
  if (around.grammar.features.has('constant-lists')) {
    for (const { node } of nodesOf(items)) {
      if (node.kind === 'column' && !around.isVariable(node.path as readonly string[]))
        around.refuse('a column in the list of IN; compare with = and OR', 'sql-syntax', Number(node.location));
    }
  }
  items.forEach((item, index) => {
    if (index > 0) around.put(', ');
    if (item.kind === 'column') around.column(item, true);
    else writeExpression(around, item);
  });
};

const writeCall = (around: Around, call: Of<'call'>): void => {
  const { put, grammar } = around;
  const { levels, unit, args, isDistinct, order, separator, window } = call;
  put(`${call.name}(${levels.length === 0 ? '' : `${levels.join(', ')})(`}${unit === null ? '' : `${unit}, `}`);
  put(isDistinct ? 'DISTINCT ' : '');
  if (args === 'all') put('*');
  else writeAll(around, args);
  writeOrder(around, order);
  put(separator === null ? ')' : ` SEPARATOR ${grammar.writeText(separator)})`);
  if (window === null) return;
  put(' OVER (');
  if (window.partition.length > 0) {
    put('PARTITION BY ');
    writeAll(around, window.partition);
  }
  writeOrder(around, window.order);
  put(window.frame === null ? ')' : ` ${window.frame})`);
};

export const writeOrder = (around: Around, order: readonly Order[]): void => {
  order.forEach(({ by, direction, nulls }, index) => {
    around.put(index === 0 ? ' ORDER BY ' : ', ');
    writeExpression(around, by);
    around.put(` ${direction}${nulls === null ? '' : ` NULLS ${nulls}`}`);
  });
};

export const writeGroup = (around: Around, group: readonly Expression[]): void => {
  if (group.length === 0) return;
  around.put(' GROUP BY ');
  writeAll(around, group);
};
