/** Columns of one expression become holes; what only a statement could hold is refused. */
import type { Markers } from '../../parsing/markers.js';
import { refuseSql } from '../../parsing/refusals.js';
import type { ExpressionHole } from '../../parsing/sql-parser.js';
import type { TreeNode } from '../../parsing/sql-tree.js';
import { resolveFunction, textNode } from './calls.js';
import { aggregateFunctions } from './functions.js';
import { namesOf } from './grammar.js';

const isNode = (value: unknown): value is TreeNode => typeof value === 'object' && value !== null;

export type ExpressionFacts = { isAggregate: boolean; hasBareColumn: boolean };

export const rewriteExpression = (
  value: unknown,
  markers: Markers<ExpressionHole>,
  facts: ExpressionFacts,
  isWithin = false,
): void => {
  if (Array.isArray(value)) {
    for (const item of value) rewriteExpression(item, markers, facts, isWithin);
    return;
  }
  if (!isNode(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'SubLink' || name === 'WindowDef' || name === 'over')
      refuseSql('a subquery or a window in an expression');
    if (name === 'ColumnRef' && isNode(inner)) {
      const path = namesOf(inner.fields);
      if (path.some((part) => part === '')) refuseSql('a * in an expression');
      facts.hasBareColumn ||= !isWithin;
      inner.fields = [textNode(markers.mark({ kind: 'column', path }))];
      continue;
    }
    const isAggregate = name === 'FuncCall' && isNode(inner) && aggregateFunctions.has(resolveFunction(inner));
    if (isAggregate && isWithin) refuseSql('an aggregate within an aggregate');
    facts.isAggregate ||= isAggregate;
    rewriteExpression(inner, markers, facts, isWithin || isAggregate);
  }
};
