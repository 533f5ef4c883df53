import { refuseSql } from '../../parsing/refusals.js';
import type { TreeNode } from '../../parsing/sql-tree.js';
import { aggregateFunctions, scalarFunctions, tableFunctions, windowFunctions } from './functions.js';
import { namesOf } from './grammar.js';

export const textNode = (sval: string): TreeNode => ({ String: { sval } });

/** Resolves the name to the database's own function. `isInFrom`: one that makes rows. */
export const resolveFunction = (call: TreeNode, isInFrom = false): string => {
  const [name = '', ...schema] = namesOf(call.funcname).toReversed();
  const isBuiltIn = schema.length === 0 || (schema.length === 1 && schema[0] === 'pg_catalog');
  const known = isInFrom ? [tableFunctions] : [scalarFunctions, aggregateFunctions, windowFunctions];
  if (!isBuiltIn || !known.some((names) => names.has(name)))
    return refuseSql(`a function that is not allowed: ${name}`);
  call.funcname = [textNode('pg_catalog'), textNode(name)];
  return name;
};
