import type { ExpressionHole, ParsedExpression, ParsedSelect, SqlParser, Summed } from '../sql-parser.js';
import { nodesOf } from '../sql-tree.js';
import { readExpression } from './expressions.js';
import type { Grammar } from './grammar.js';
import { refuseAt } from './lexer.js';
import { createQueryReader, readStatement } from './queries.js';
import type { Reader } from './reader.js';
import { createTemplate } from './template.js';
import type { Expression } from './tree.js';
import { type ExpressionWriter, writeExpression } from './write-expression.js';
import { summedBy, writeSelect } from './write-select.js';

/** Implements the port of SQL parsers with a grammar of this folder. */
export const createParser = (grammar: Grammar): SqlParser => ({
  expression: async (text) => parseExpression(text, grammar),
  select: async (text) => parseSelect(text, grammar),
  isSameName: grammar.isSameName,
});

const refuseIn =
  (text: string): ExpressionWriter['refuse'] =>
  (what, reason, location) =>
    refuseAt(what, text, location, reason);

const parseSelect = (text: string, grammar: Grammar): ParsedSelect => {
  const query = readStatement(createQueryReader(text, grammar));
  const { body } = query;
  const unfiltered = body.kind === 'select' ? { ...query, body: { ...body, where: null } } : query;
  const shown = writeSelect(unfiltered, grammar, refuseIn(text)).tables;
  return { ...writeSelect(query, grammar, refuseIn(text)), shown };
};

const parseExpression = (text: string, grammar: Grammar): ParsedExpression => {
  const reader = createQueryReader(text, grammar);
  const tree = readExpression(reader);
  if (reader.peek().kind !== 'end') reader.refuseNext('the end of the expression');
  const isAggregate = assertScalar(reader, tree);
  const sums: Summed[] = [];
  const { put, hole, parts } = createTemplate<ExpressionHole>(() => reader.refuse('too much', 'sql-too-long', 0));
  writeExpression(
    {
      grammar,
      put,
      refuse: refuseIn(text),
      isVariable: () => false,
      query: () => reader.refuse('a SELECT in an expression', 'sql-not-allowed', 0),
      column: ({ path }) => hole({ kind: 'column', path }),
      called: (call) => sums.push(...[summedBy(call, grammar)].filter((sum) => sum !== undefined)),
    },
    tree,
  );
  return { template: parts(), isAggregate, sums };
};

/**
 * Whether the expression aggregates. Refuses windows, nested aggregates, and columns outside the aggregates of an
 * aggregating expression.
 */
const assertScalar = (reader: Reader, tree: Expression): boolean => {
  let columns = 0;
  let aggregates = 0;
  let within = 0;
  for (const { node } of nodesOf(tree)) {
    if (node.kind === 'query') reader.refuse('a SELECT in an expression', 'sql-not-allowed', 0);
    if (node.kind === 'column') columns += 1;
    if (node.kind !== 'call') continue;
    if (node.window !== null) reader.refuse('a window in an expression', 'sql-not-allowed', 0);
    if (node.isAggregate !== true) continue;
    aggregates += 1;
    for (const inner of nodesOf([node.args, node.order])) {
      if (inner.node.kind === 'column') within += 1;
      if (inner.node.isAggregate === true) reader.refuse('an aggregate within an aggregate', 'sql-aggregate', 0);
    }
  }
  if (aggregates > 0 && within !== columns)
    reader.refuse('a column outside of the aggregates of an expression that aggregates', 'sql-aggregate', 0);
  return aggregates > 0;
};
