import type { Reason } from '../../../model/reasons.js';
import { nodesOf } from '../sql-tree.js';
import type { Grammar } from './grammar.js';
import type { Call, Column, Expression, Order, Query } from './tree.js';

/** Writes the parts of an expression whose meaning depends on the enclosing SELECT. */
export type ExpressionWriter = {
  readonly grammar: Grammar;
  readonly put: (text: string) => void;
  /** `isItem`: the column is an item of IN (…). */
  readonly column: (column: Column, isItem: boolean) => void;
  readonly isVariable: (path: readonly string[]) => boolean;
  /** Writes the SELECT; the caller writes the parentheses. */
  readonly query: (query: Query) => void;
  readonly refuse: (what: string, reason: Reason, location: number) => never;
  /** Learns of each call that is written. */
  readonly called?: (call: Call) => void;
};

type Kind = Expression['kind'];
type Of<K extends Kind> = Extract<Expression, { kind: K }>;

/** Names hold no quotes and no backslashes: the lexer refuses them. */
export const quoted = (name: string): string => `\`${name}\``;

/** Writes every compound expression in parentheses, so the database's operator precedence has no effect. */
export const writeExpression = <K extends Kind>(writer: ExpressionWriter, expression: Of<K>): void =>
  writers[expression.kind as K](writer, expression);

const writeAll = (writer: ExpressionWriter, expressions: readonly Expression[]): void => {
  expressions.forEach((expression, index) => {
    if (index > 0) writer.put(', ');
    writeExpression(writer, expression);
  });
};

/** Writes strings as they are, and expressions and queries by their writers. */
const writeParts = (writer: ExpressionWriter, ...parts: readonly (string | Expression | Query)[]): void => {
  for (const part of parts) {
    if (typeof part === 'string') writer.put(part);
    else if (part.kind === 'query') writer.query(part);
    else writeExpression(writer, part);
  }
};

const writers: { readonly [K in Kind]: (writer: ExpressionWriter, expression: Of<K>) => void } = {
  column: (writer, column) => writer.column(column, false),
  text: ({ put, grammar }, { value }) => put(grammar.writeText(value)),
  number: ({ put }, { digits }) => put(digits),
  word: ({ put }, { word }) => put(word),
  moment: ({ put }, { type, value }) => put(`${type} '${value}'`),
  row: (writer, { items }) => {
    writer.put('(');
    writeAll(writer, items);
    writer.put(')');
  },
  // The operand has its own parentheses, so `- -1` never becomes `--`, which begins a comment.
  prefix: (writer, { operator, of }) => writeParts(writer, operator === '-' ? '(-' : '(NOT ', of, ')'),
  chain: (writer, { first, rest }) => {
    writeParts(writer, '(', first);
    for (const { operator, operand } of rest) writeParts(writer, ` ${operator} `, operand);
    writer.put(')');
  },
  compare: (writer, { operator, left, right }) => writeParts(writer, '(', left, ` ${operator} `, right, ')'),
  is: (writer, { of, test }) => writeParts(writer, '(', of, ` IS ${test})`),
  between: (writer, { of, isNot, low, high }) =>
    writeParts(writer, '(', of, isNot ? ' NOT BETWEEN ' : ' BETWEEN ', low, ' AND ', high, ')'),
  like: (writer, { operator, of, pattern, escapedBy }) => {
    writeParts(writer, '(', of, ` ${operator} `, pattern);
    writer.put(escapedBy === null ? ')' : ` ESCAPE ${writer.grammar.writeText(escapedBy)})`);
  },
  in: (writer, { of, isNot, among }) => {
    writeParts(writer, '(', of, isNot ? ' NOT IN (' : ' IN (');
    if ('kind' in among) writer.query(among);
    else writeItems(writer, among);
    writer.put('))');
  },
  exists: (writer, { query }) => writeParts(writer, 'EXISTS (', query, ')'),
  subquery: (writer, { query }) => writeParts(writer, '(', query, ')'),
  case: (writer, { of, branches, otherwise }) => {
    writer.put('(CASE');
    if (of !== null) writeParts(writer, ' ', of);
    for (const { when, value } of branches) writeParts(writer, ' WHEN ', when, ' THEN ', value);
    if (otherwise !== null) writeParts(writer, ' ELSE ', otherwise);
    writer.put(' END)');
  },
  cast: (writer, { of, type }) => writeParts(writer, 'CAST(', of, ` AS ${type})`),
  extract: (writer, { unit, of }) => writeParts(writer, `EXTRACT(${unit} FROM `, of, ')'),
  interval: (writer, { value, unit }) => writeParts(writer, 'INTERVAL ', value, ` ${unit}`),
  collate: (writer, { of, collation }) => writeParts(writer, '(', of, ` COLLATE ${collation})`),
  trim: (writer, { side, what, of }) =>
    writeParts(writer, `TRIM(${side} `, ...(what === null ? [] : [what]), ' FROM ', of, ')'),
  call: (writer, call) => writeCall(writer, call),
};

/**
 * ClickHouse reads `x IN (accounts)` as the table `accounts`, outside of every leaf. Such a list may hold no columns.
 */
const writeItems = (writer: ExpressionWriter, items: readonly Expression[]): void => {
  if (writer.grammar.features.has('constant-lists')) {
    for (const { node } of nodesOf(items)) {
      if (node.kind === 'column' && !writer.isVariable(node.path as readonly string[]))
        writer.refuse('a column in the list of IN; compare with = and OR', 'sql-syntax', Number(node.location));
    }
  }
  items.forEach((item, index) => {
    if (index > 0) writer.put(', ');
    if (item.kind === 'column') writer.column(item, true);
    else writeExpression(writer, item);
  });
};

const writeCall = (writer: ExpressionWriter, call: Of<'call'>): void => {
  writer.called?.(call);
  const { put, grammar } = writer;
  const { levels, unit, args, isDistinct, order, separator, window } = call;
  put(`${call.name}(${levels.length === 0 ? '' : `${levels.join(', ')})(`}${unit === null ? '' : `${unit}, `}`);
  put(isDistinct ? 'DISTINCT ' : '');
  if (args === 'all') put('*');
  else writeAll(writer, args);
  writeOrder(writer, order);
  put(separator === null ? ')' : ` SEPARATOR ${grammar.writeText(separator)})`);
  if (window === null) return;
  put(' OVER (');
  if (window.partition.length > 0) {
    put('PARTITION BY ');
    writeAll(writer, window.partition);
  }
  writeOrder(writer, window.order);
  put(window.frame === null ? ')' : ` ${window.frame})`);
};

export const writeOrder = (writer: ExpressionWriter, order: readonly Order[]): void => {
  order.forEach(({ by, direction, nulls }, index) => {
    writer.put(index === 0 ? ' ORDER BY ' : ', ');
    writeExpression(writer, by);
    writer.put(` ${direction}${nulls === null ? '' : ` NULLS ${nulls}`}`);
  });
};

export const writeGroup = (writer: ExpressionWriter, group: readonly Expression[]): void => {
  if (group.length === 0) return;
  writer.put(' GROUP BY ');
  writeAll(writer, group);
};
